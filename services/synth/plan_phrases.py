"""What the planner without a model says, and the words by which it understands a revision."""

from dataclasses import dataclass

from services.synth.languages import FALLBACK


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPhrases:
    """The sentences of a plan's review in one language; braces are filled in."""

    opening: str
    """Stands above the steps."""
    asks: str
    """Asks for more than the few words that were said: {topic}."""
    no_such_step: str
    """Answers the wish to leave out what is in no step: {things}."""
    nothing_left: str
    """Answers the wish to leave out every step."""
    no_room: str
    """Says what a full plan of {count} steps leaves out: {steps}."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionWords:
    """Words that tell what a sentence about a plan wants, in one language."""

    add: tuple[str, ...]
    remove: tuple[str, ...]
    only: tuple[str, ...]
    replace: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    """Stand between what is replaced and what comes in its place."""
    step: tuple[str, ...]
    """What a person calls a step, or says beside its number."""
    polite: tuple[str, ...]
    """What only makes a wish a polite one."""
    agree: tuple[str, ...]
    """What a person says who wants nothing changed."""


PHRASES: dict[str, PlanPhrases] = {
    "en": PlanPhrases(
        opening="I would look in your library for:",
        asks="What about “{topic}” do you want to know? Say it in a sentence of your own.",
        no_such_step="No step is about {things}. Name the number of the step to leave out.",
        nothing_left="Then nothing would be left to search for. What should be searched instead?",
        no_room="A plan has room for {count} steps; not taken in: {steps}",
    ),
    "de": PlanPhrases(
        opening="Ich würde in Ihrer Bibliothek suchen nach:",
        asks="Was möchten Sie über „{topic}“ wissen? Sagen Sie es in einem ganzen Satz.",
        no_such_step="Kein Schritt handelt von {things}. Nennen Sie die Nummer des Schritts.",
        nothing_left="Dann bliebe nichts zu suchen. Wonach soll stattdessen gesucht werden?",
        no_room="Ein Plan fasst {count} Schritte; nicht aufgenommen: {steps}",
    ),
    "fr": PlanPhrases(
        opening="Je chercherais dans votre bibliothèque :",
        asks="Que voulez-vous savoir sur « {topic} » ? Dites-le en une phrase.",
        no_such_step="Aucune étape ne porte sur {things}. Donnez le numéro de l'étape à retirer.",
        nothing_left="Il ne resterait rien à chercher. Que faut-il chercher à la place ?",
        no_room="Un plan compte au plus {count} étapes ; non reprises : {steps}",
    ),
    "es": PlanPhrases(
        opening="Buscaría en su biblioteca:",
        asks="¿Qué quiere saber sobre «{topic}»? Dígalo en una frase.",
        no_such_step="Ningún paso trata de {things}. Indique el número del paso que sobra.",
        nothing_left="Entonces no quedaría nada que buscar. ¿Qué se debe buscar en su lugar?",
        no_room="Un plan tiene como máximo {count} pasos; quedan fuera: {steps}",
    ),
    "it": PlanPhrases(
        opening="Cercherei nella sua biblioteca:",
        asks="Che cosa vuole sapere su «{topic}»? Lo dica in una frase.",
        no_such_step="Nessun passo riguarda {things}. Indichi il numero del passo da togliere.",
        nothing_left="Allora non resterebbe nulla da cercare. Che cosa si deve cercare invece?",
        no_room="Un piano ha al massimo {count} passi; non inclusi: {steps}",
    ),
    "pt": PlanPhrases(
        opening="Eu procuraria na sua biblioteca:",
        asks="O que deseja saber sobre “{topic}”? Diga-o numa frase.",
        no_such_step="Nenhum passo trata de {things}. Indique o número do passo a retirar.",
        nothing_left="Então não sobraria nada para procurar. O que se deve procurar em vez disso?",
        no_room="Um plano tem no máximo {count} passos; ficaram de fora: {steps}",
    ),
    "nl": PlanPhrases(
        opening="Ik zou in uw bibliotheek zoeken naar:",
        asks="Wat wilt u over “{topic}” weten? Zeg het in een zin.",
        no_such_step="Geen stap gaat over {things}. Noem het nummer van de stap die weg moet.",
        nothing_left="Dan bleef er niets te zoeken over. Waarnaar moet er dan worden gezocht?",
        no_room="Een plan heeft plaats voor {count} stappen; niet opgenomen: {steps}",
    ),
    "ru": PlanPhrases(
        opening="В вашей библиотеке я бы искал:",
        asks="Что вы хотите узнать о «{topic}»? Скажите это одним предложением.",
        no_such_step="Ни один шаг не касается {things}. Назовите номер лишнего шага.",
        nothing_left="Тогда искать было бы нечего. Что искать вместо этого?",
        no_room="В плане не больше {count} шагов; не вошли: {steps}",
    ),
    "zh": PlanPhrases(
        opening="我将在您的文献库中查找：",
        asks="关于“{topic}”，您想了解什么？请用一句话说明。",
        no_such_step="没有任何步骤涉及{things}。请说明要删去的步骤编号。",
        nothing_left="这样就没有可查找的内容了。应改为查找什么？",
        no_room="一个计划最多 {count} 个步骤；未采纳：{steps}",
    ),
    "ja": PlanPhrases(
        opening="ライブラリで次のことを調べます：",
        asks="「{topic}」について何を知りたいですか。一文で教えてください。",
        no_such_step="{things}に関する項目はありません。外す項目の番号を教えてください。",
        nothing_left="それでは調べるものがなくなります。代わりに何を調べますか。",
        no_room="計画に入る項目は {count} 個までです。入らなかったもの：{steps}",
    ),
    "ko": PlanPhrases(
        opening="라이브러리에서 다음을 찾겠습니다:",
        asks="“{topic}”에 대해 무엇을 알고 싶으신가요? 한 문장으로 말씀해 주세요.",
        no_such_step="{things}에 관한 단계가 없습니다. 뺄 단계의 번호를 알려 주세요.",
        nothing_left="그러면 찾을 것이 남지 않습니다. 대신 무엇을 찾을까요?",
        no_room="계획에는 {count}단계까지 들어갑니다. 넣지 않은 것: {steps}",
    ),
    "ar": PlanPhrases(
        opening="سأبحث في مكتبتك عن:",
        asks="ماذا تريد أن تعرف عن «{topic}»؟ قل ذلك في جملة.",
        no_such_step="لا توجد خطوة عن {things}. اذكر رقم الخطوة المطلوب حذفها.",
        nothing_left="عندئذ لن يبقى شيء للبحث عنه. عمّ نبحث بدلا من ذلك؟",
        no_room="تتسع الخطة إلى {count} خطوات؛ لم تدخل: {steps}",
    ),
}

WORDS: dict[str, RevisionWords] = {
    "en": RevisionWords(
        add=("add", "also", "include", "additionally", "as well", "too", "plus", "cover"),
        remove=(
            *("remove", "drop", "delete", "skip", "without", "leave out", "exclude", "ignore"),
            *("omit", "take out", "cut", "not interested in", "don't need", "do not need", "no"),
        ),
        only=("only", "just", "focus on", "concentrate on", "restrict to", "limit to", "keep"),
        replace=("replace", "swap", "change", "exchange"),
        by=("with", "by", "for", "to"),
        step=("step", "steps", "point", "points", "item", "items", "number", "part"),
        polite=("please",),
        agree=("looks", "good", "fine", "go", "ahead", "ok", "okay", "great", "perfect", "yes"),
    ),
    "de": RevisionWords(
        add=("auch", "zusätzlich", "ergänze", "ergänzen", "füge", "hinzu", "außerdem", "dazu"),
        remove=(
            *("ohne", "entferne", "entfernen", "streiche", "streichen", "lösche", "löschen"),
            *("weglassen", "weg", "lass", "nicht", "kein", "keine", "keinen", "verzichte"),
        ),
        only=("nur", "ausschließlich", "beschränke", "konzentriere", "lediglich", "behalte"),
        replace=("ersetze", "ersetzen", "tausche", "ändere"),
        by=("durch", "gegen", "in"),
        step=("schritt", "schritte", "punkt", "punkte", "nummer", "teil", "auf", "aus"),
        polite=("bitte",),
        agree=("gut", "passt", "so", "ja", "okay", "ok", "einverstanden", "prima", "weiter"),
    ),
    "fr": RevisionWords(
        add=("ajoute", "ajouter", "ajoutez", "aussi", "également", "inclure", "inclus"),
        remove=(
            *("sans", "enlève", "enlever", "enlevez", "retire", "retirer", "retirez", "supprime"),
            *("supprimer", "supprimez", "pas", "exclure", "exclus", "laisse tomber"),
        ),
        only=("seulement", "uniquement", "concentre", "concentrez", "limite", "garde"),
        replace=("remplace", "remplacer", "remplacez", "change"),
        by=("par", "avec", "en"),
        step=("étape", "étapes", "point", "points", "numéro", "partie", "sur"),
        polite=("s'il vous plaît", "s'il te plaît"),
        agree=("bien", "bon", "oui", "accord", "parfait", "va", "ok", "continue", "continuez"),
    ),
    "es": RevisionWords(
        add=("añade", "añadir", "agrega", "agregar", "también", "incluye", "incluir", "además"),
        remove=(
            *("sin", "quita", "quitar", "elimina", "eliminar", "borra", "excluye", "omite"),
            *("no", "suprime", "deja fuera"),
        ),
        only=("solo", "sólo", "solamente", "únicamente", "céntrate en", "limita", "conserva"),
        replace=("reemplaza", "sustituye", "cambia"),
        by=("por", "con"),
        step=("paso", "pasos", "punto", "puntos", "número", "parte"),
        polite=("por favor",),
        agree=("bien", "bueno", "sí", "vale", "perfecto", "adelante", "ok", "acuerdo", "está"),
    ),
    "it": RevisionWords(
        add=("aggiungi", "aggiungere", "anche", "includi", "includere", "inoltre"),
        remove=(
            *("senza", "togli", "togliere", "rimuovi", "elimina", "escludi", "ometti", "non"),
            *("lascia fuori", "tralascia"),
        ),
        only=("solo", "soltanto", "solamente", "concentrati su", "limita", "tieni"),
        replace=("sostituisci", "cambia"),
        by=("con", "in"),
        step=("passo", "passi", "punto", "punti", "numero", "parte"),
        polite=("per favore",),
        agree=("bene", "va", "sì", "perfetto", "ok", "avanti", "accordo"),
    ),
    "pt": RevisionWords(
        add=("adiciona", "adicione", "acrescente", "também", "inclui", "inclua", "além"),
        remove=(
            *("sem", "remove", "remova", "tira", "tire", "elimina", "elimine", "exclui", "não"),
            *("exclua", "omite", "deixa fora"),
        ),
        only=("só", "apenas", "somente", "foca em", "foque em", "limite", "mantenha"),
        replace=("substitui", "substitua", "troca", "troque", "muda", "mude"),
        by=("por", "com"),
        step=("passo", "passos", "ponto", "pontos", "número", "parte"),
        polite=("por favor",),
        agree=("bem", "bom", "sim", "perfeito", "ok", "certo", "continue", "está"),
    ),
    "nl": RevisionWords(
        add=("ook", "voeg", "toe", "toevoegen", "bovendien", "neem", "mee"),
        remove=(
            *("zonder", "verwijder", "schrap", "laat", "weg", "weglaten", "niet", "geen"),
            *("sla", "over"),
        ),
        only=("alleen", "enkel", "slechts", "beperk", "concentreer", "houd"),
        replace=("vervang", "verander", "wijzig"),
        by=("door", "met", "in"),
        step=("stap", "stappen", "punt", "punten", "nummer", "deel"),
        polite=("graag", "alstublieft"),
        agree=("goed", "prima", "ja", "ok", "oké", "akkoord", "verder", "perfect"),
    ),
    "ru": RevisionWords(
        add=("добавь", "добавьте", "добавить", "также", "включи", "включите", "ещё", "еще"),
        remove=(
            *("без", "убери", "уберите", "удали", "удалите", "исключи", "исключите", "не"),
            *("вычеркни", "пропусти", "пропустите"),
        ),
        only=("только", "лишь", "исключительно", "сосредоточься на", "ограничься", "оставь"),
        replace=("замени", "замените", "поменяй"),
        by=("на",),
        step=("шаг", "шага", "шаги", "шагов", "пункт", "пункты", "номер", "часть"),
        polite=("пожалуйста",),
        agree=("хорошо", "да", "отлично", "согласен", "согласна", "ладно", "дальше"),
    ),
    "zh": RevisionWords(
        add=("增加", "添加", "加上", "还要", "也要", "补充", "包括"),
        remove=("删除", "删去", "去掉", "不要", "排除", "移除", "不需要", "略去"),
        only=("只要", "仅", "只", "专注于", "集中于", "限于"),
        step=("步骤", "第", "步", "点", "项", "号"),
        polite=("请",),
        agree=("好的", "可以", "同意", "没问题", "很好", "继续"),
    ),
    "ja": RevisionWords(
        add=("追加", "加えて", "加える", "含めて", "も調べて", "さらに"),
        remove=("削除", "除いて", "除外", "外して", "不要", "なしで", "省いて"),
        only=("だけ", "のみ", "限定", "絞って", "集中"),
        step=("項目", "ステップ", "番目", "番"),
        polite=("してください", "ください", "して", "を", "も"),
        agree=("良い", "いいです", "了解", "大丈夫", "結構", "進めて"),
    ),
    "ko": RevisionWords(
        add=("추가", "포함", "또한", "더해"),
        remove=("삭제", "제외", "빼", "없이", "제거"),
        only=("만", "집중", "한정", "오직"),
        step=("단계", "번", "항목"),
        polite=("해 주세요", "해주세요", "주세요", "를", "을", "도"),
        agree=("좋아요", "좋습니다", "네", "괜찮아요", "진행"),
    ),
    "ar": RevisionWords(
        add=("أضف", "إضافة", "أيضا", "أيضاً", "كذلك", "اشمل"),
        remove=("بدون", "احذف", "حذف", "أزل", "استبعد", "دون", "لا"),
        only=("فقط", "ركز على", "اقتصر على"),
        step=("خطوة", "الخطوة", "نقطة", "النقطة", "رقم"),
        polite=("من فضلك",),
        agree=("حسنا", "حسناً", "نعم", "جيد", "موافق", "تابع"),
    ),
}


def plan_phrases_for(language: str) -> PlanPhrases:
    """The phrases of the language, English for one that has none."""
    return PHRASES.get(language, PHRASES[FALLBACK])
