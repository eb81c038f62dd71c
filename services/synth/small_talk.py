"""Greetings, thanks and questions about the product itself, as people type them."""

GREETINGS: dict[str, frozenset[str]] = {
    "en": frozenset(
        {"hi", "hello", "hey", "hi there", "hello there", "good morning", "good afternoon"}
        | {"good evening", "how are you", "bye", "goodbye", "test", "greetings"}
    ),
    "de": frozenset(
        {"hallo", "guten tag", "guten morgen", "guten abend", "moin", "servus", "grüß gott"}
        | {"wie geht es dir", "wie geht's", "tschüss", "auf wiedersehen"}
    ),
    "fr": frozenset({"bonjour", "salut", "bonsoir", "coucou", "ça va", "au revoir"}),
    "es": frozenset({"hola", "buenos días", "buenas tardes", "buenas noches", "qué tal", "adiós"}),
    "it": frozenset({"ciao", "buongiorno", "buonasera", "salve", "come stai", "arrivederci"}),
    "pt": frozenset({"olá", "oi", "bom dia", "boa tarde", "boa noite", "tudo bem"}),
    "nl": frozenset({"hoi", "goedemorgen", "goedemiddag", "goedenavond", "dag", "tot ziens"}),
    "ru": frozenset({"привет", "здравствуйте", "добрый день", "доброе утро", "добрый вечер"}),
    "zh": frozenset({"你好", "您好", "早上好", "嗨", "大家好", "再见"}),
    "ja": frozenset({"こんにちは", "こんばんは", "おはよう", "おはようございます", "はじめまして"}),
    "ko": frozenset({"안녕", "안녕하세요", "안녕하십니까", "반갑습니다"}),
    "ar": frozenset({"مرحبا", "مرحباً", "السلام عليكم", "أهلا", "أهلاً", "صباح الخير"}),
}

THANKS: dict[str, frozenset[str]] = {
    "en": frozenset({"thanks", "thank you", "thx", "cheers", "ok", "okay", "great", "perfect"}),
    "de": frozenset({"danke", "danke schön", "vielen dank", "dankeschön", "alles klar"}),
    "fr": frozenset({"merci", "merci beaucoup", "d'accord", "parfait"}),
    "es": frozenset({"gracias", "muchas gracias", "vale", "perfecto"}),
    "it": frozenset({"grazie", "grazie mille", "va bene", "perfetto"}),
    "pt": frozenset({"obrigado", "obrigada", "muito obrigado", "muito obrigada"}),
    "nl": frozenset({"dank je", "dank u", "dankjewel", "bedankt"}),
    "ru": frozenset({"спасибо", "большое спасибо", "благодарю", "хорошо"}),
    "zh": frozenset({"谢谢", "多谢", "谢谢你", "謝謝", "好的"}),
    "ja": frozenset({"ありがとう", "ありがとうございます", "どうも"}),
    "ko": frozenset({"감사합니다", "고마워", "고맙습니다", "고마워요"}),
    "ar": frozenset({"شكرا", "شكراً", "شكرا جزيلا", "شكراً جزيلاً"}),
}

# Words that may stand beside a greeting or thanks without making a question of it.
POLITE = frozenset(
    {"very", "much", "so", "a", "lot", "again", "all", "there", "everyone", "zocrates", "you"}
    | {"team", "and", "that's", "it", "for", "now", "your", "help", "the", "sehr", "und", "auch"}
    | {"alle", "à", "tous", "y", "muy", "e", "en", "ook", "да", "очень"}
)

ABOUT = frozenset(
    {
        *("help", "what can you do", "what do you do", "who are you", "what are you"),
        *("what is zocrates", "how do you work", "how does this work", "what is this"),
        *("hilfe", "was kannst du", "wer bist du", "was bist du", "wie funktioniert das"),
        *("aide", "que peux tu faire", "que sais tu faire", "qui es tu", "qui êtes vous"),
        *("ayuda", "qué puedes hacer", "quién eres", "cómo funciona esto"),
        *("aiuto", "cosa puoi fare", "chi sei", "cosa sai fare", "come funziona"),
        *("ajuda", "o que você pode fazer", "quem é você", "como funciona"),
        *("wat kun je", "wat kan je", "wie ben je", "hoe werkt dit"),
        *("помощь", "что ты умеешь", "кто ты", "как это работает"),
        *("你能做什么", "你是谁", "帮助", "你会什么"),
        *("何ができますか", "あなたは誰ですか", "ヘルプ", "使い方"),
        *("무엇을 할 수 있나요", "누구세요", "도움말"),
        *("ماذا يمكنك أن تفعل", "من أنت", "مساعدة"),
    }
)
