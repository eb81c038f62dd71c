"""What the product says in Chinese, Japanese, Korean and Arabic."""

from services.synth.phrases import Phrases

EASTERN: dict[str, Phrases] = {
    "zh": Phrases(
        report_one="{who}指出：",
        report_many="{who}指出：",
        own_note="关于{title}的笔记：",
        two_authors="{first}和{second}",
        more_authors="{first}等",
        untitled="无题作品",
        gaps_heading="本文献库未涵盖",
        nothing_on="没有关于{things}的内容",
        nothing="本文献库没有回答这个问题。",
        uncited="这段文字中没有任何内容能与本文献库中的段落对应，请谨慎阅读。",
        nearest="最接近但未作回答的文献：",
        disagreement="来源{first}与{second}可能存在分歧，请对照原文。",
        honesty="此回答未使用语言模型：它逐字引用文献库，没有添加任何内容。",
        other_language="问题与找到的文献似乎使用不同的语言；请也用文献的语言提问。",
        greeting="您好！请提出问题，我会在您的文献库中查找答案。",
        thanks="不客气，欢迎继续提问。",
        about=(
            "我检索您的 Zotero 文献库，引用能回答问题的句子并注明页码，同时说明文献库没有涵盖的内"
            "容。整个过程不使用语言模型。请提出您的研究问题。"
        ),
        searching="正在检索文献库：{queries}",
        reading="继续阅读：{title}",
        concluding="正在评估检索结果",
        covered="已找到支持：{aspects}。",
        not_covered="检索结果不足以支持回答。",
        writing="正在从 {count} 个段落中选取句子",
        mending="正在重写 {count} 个没有段落支持的句子",
    ),
    "ja": Phrases(
        report_one="{who}は次のように述べている：",
        report_many="{who}は次のように述べている：",
        own_note="{title}についてのメモ：",
        two_authors="{first}・{second}",
        more_authors="{first} et al.",
        untitled="無題の文献",
        gaps_heading="このライブラリにないもの",
        nothing_on="{things}についての記述なし",
        nothing="このライブラリには質問への答えがありません。",
        uncited="この文章には、このライブラリの箇所に結び付けられる内容がありません。慎重にお読みください。",
        nearest="最も近いが答えにはならない文献：",
        disagreement="出典{first}と{second}は見解が異なる可能性があります。原文で比べてください。",
        honesty=(
            "この回答は言語モデルを使わずに作られました。ライブラリの文をそのまま引用し、何も加え"
            "ていません。"
        ),
        other_language=(
            "質問と見つかった文献の言語が異なるようです。文献の言語でも質問してください。"
        ),
        greeting="こんにちは。質問をいただければ、ライブラリから答えを探します。",
        thanks="どういたしまして。続けてご質問ください。",
        about=(
            "Zotero ライブラリの文献を検索し、質問に答える文をページとともに引用し、ライブラリに"
            "ないものをお伝えします。言語モデルは使いません。研究に関する質問をどうぞ。"
        ),
        searching="ライブラリを検索中：{queries}",
        reading="続きを読んでいます：{title}",
        concluding="見つかったものを検討しています",
        covered="裏付けが見つかったもの：{aspects}。",
        not_covered="見つかったものからは答えられません。",
        writing="{count} 個の箇所から文を選んでいます",
        mending="該当箇所に裏付けのない {count} 文を書き直しています",
    ),
    "ko": Phrases(
        report_one="{who}에 따르면:",
        report_many="{who}에 따르면:",
        own_note="{title}에 대한 메모:",
        two_authors="{first}·{second}",
        more_authors="{first} et al.",
        untitled="제목 없는 문헌",
        gaps_heading="이 라이브러리에 없는 내용",
        nothing_on="{things}에 관한 내용 없음",
        nothing="이 라이브러리에는 질문에 대한 답이 없습니다.",
        uncited=(
            "이 글의 어떤 내용도 이 라이브러리의 구절과 연결되지 않았습니다. "
            "주의해서 읽어 주십시오."
        ),
        nearest="가장 가깝지만 답이 되지 않는 문헌:",
        disagreement="출처 {first}와 {second}의 견해가 다를 수 있습니다. 원문을 비교해 보십시오.",
        honesty=(
            "이 답변은 언어 모델 없이 작성되었습니다. 라이브러리의 문장을 그대로 인용하며 아무것"
            "도 덧붙이지 않습니다."
        ),
        other_language=(
            "질문과 찾은 문헌의 언어가 다른 것 같습니다. 문헌의 언어로도 질문해 보십시오."
        ),
        greeting="안녕하세요! 질문을 하시면 라이브러리에서 답을 찾아보겠습니다.",
        thanks="천만에요. 언제든지 더 질문해 주세요.",
        about=(
            "Zotero 라이브러리의 문헌을 검색하여 질문에 답하는 문장을 쪽수와 함께 인용하고, 라이"
            "브러리에 없는 내용을 알려 드립니다. 언어 모델은 사용하지 않습니다. 연구 질문을 해 주"
            "세요."
        ),
        searching="라이브러리 검색 중: {queries}",
        reading="계속 읽는 중: {title}",
        concluding="찾은 내용을 검토하는 중",
        covered="근거를 찾은 내용: {aspects}.",
        not_covered="찾은 내용으로는 답할 수 없습니다.",
        writing="{count}개 구절에서 문장을 고르는 중",
        mending="구절이 뒷받침하지 않는 {count}개 문장을 다시 씁니다",
    ),
    "ar": Phrases(
        report_one="{who}:",
        report_many="{who}:",
        own_note="ملاحظة على {title}:",
        two_authors="{first}, {second}",
        more_authors="{first} وآخرون",
        untitled="عمل بلا عنوان",
        gaps_heading="غير موجود في هذه المكتبة",
        nothing_on="لا شيء عن {things}",
        nothing="هذه المكتبة لا تجيب عن السؤال.",
        uncited="لم يمكن ربط أي شيء في هذا النص بفقرة من هذه المكتبة؛ فاقرأه بحذر.",
        nearest="أقرب الأعمال، وهي لا تجيب عنه:",
        disagreement="قد يختلف المصدران {first} و{second}؛ قارن بينهما في الأصل.",
        honesty="كُتبت هذه الإجابة دون نموذج لغوي: فهي تقتبس من المكتبة حرفياً ولا تضيف شيئاً.",
        other_language=(
            "يبدو أن السؤال والأعمال التي عُثر عليها بلغتين مختلفتين؛ اطرح السؤال بلغة الأعمال أيضاً."
        ),
        greeting="مرحباً! اطرح سؤالاً وسأبحث عن الإجابة في مكتبتك.",
        thanks="على الرحب والسعة. اسأل متى شئت.",
        about=(
            "أبحث في أعمال مكتبتك في Zotero، وأقتبس مع رقم الصفحة الجمل التي تجيب عن سؤالك، "
            "وأذكر ما لا تغطيه المكتبة. يتم ذلك دون نموذج لغوي. اطرح عليّ سؤالاً بحثياً."
        ),
        searching="البحث في المكتبة: {queries}",
        reading="متابعة القراءة في: {title}",
        concluding="تقييم ما عُثر عليه",
        covered="وُجد ما يدعم: {aspects}.",
        not_covered="لا شيء مما عُثر عليه يدعم إجابة.",
        writing="اختيار جمل من {count} مقاطع",
        mending="إعادة كتابة {count} جمل لا تدعمها مقاطعها",
    ),
}
