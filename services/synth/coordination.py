"""The small words that join the members of a question, by language."""

# Words that set two things against each other.
COMPARING: dict[str, frozenset[str]] = {
    "all": frozenset({"vs", "vs.", "versus", "contra"}),
    "en": frozenset({"or"}),
    "de": frozenset({"oder"}),
    "fr": frozenset({"ou"}),
    "es": frozenset({"o", "u"}),
    "it": frozenset({"o", "oppure"}),
    "pt": frozenset({"ou"}),
    "nl": frozenset({"of"}),
    "ru": frozenset({"или"}),
    "ar": frozenset({"أو", "أم", "مقابل"}),
    "ko": frozenset({"또는", "혹은", "대"}),
}

# Words that put things side by side.
LISTING: dict[str, frozenset[str]] = {
    "en": frozenset({"and"}),
    "de": frozenset({"und", "sowie"}),
    "fr": frozenset({"et"}),
    "es": frozenset({"y", "e"}),
    "it": frozenset({"e", "ed"}),
    "pt": frozenset({"e"}),
    "nl": frozenset({"en"}),
    "ru": frozenset({"и"}),
    "ar": frozenset({"و"}),
    "ko": frozenset({"및", "그리고"}),
}

# Stands for a phrase that compares with what was named before, not always just before.
COMPARED = "⇄"

# Phrases of several words that work like one of the words above.
MULTIWORD: dict[str, dict[str, str]] = {
    "en": {
        "compared (?:with|to)": COMPARED,
        "in comparison (?:with|to)": COMPARED,
        "compare (?:with|to)": COMPARED,
        "rather than": "versus",
        "as opposed to": "versus",
        "as well as": "and",
        "relative to": COMPARED,
    },
    "de": {
        "im vergleich (?:zu|zum|zur|mit)": COMPARED,
        "verglichen mit": COMPARED,
        "im gegensatz zu": COMPARED,
    },
    "fr": {
        "par rapport (?:à|au|aux)": COMPARED,
        "comparée?s? (?:à|au|aux|avec)": COMPARED,
        "ainsi que": "et",
        "plutôt que": "versus",
    },
    "es": {
        "en comparación con": COMPARED,
        "comparad[oa]s? con": COMPARED,
        "frente a": COMPARED,
        "así como": "y",
    },
    "it": {"rispetto (?:a|al|alla|ai|alle)": COMPARED, "in confronto a": COMPARED},
    "pt": {
        "em comparação (?:com|a)": COMPARED,
        "comparad[oa]s? (?:com|a)": COMPARED,
        "em relação a": COMPARED,
        "bem como": "e",
    },
    "nl": {
        "in vergelijking met": COMPARED,
        "vergeleken met": COMPARED,
        "ten opzichte van": COMPARED,
    },
    "ru": {"по сравнению (?:с|со)": COMPARED, "в отличие от": COMPARED},
    "ar": {"مقارنة (?:مع|ب)": COMPARED},
}

# Before a pair, these ask for what lies between its members, unless a difference is asked for.
BETWEEN: dict[str, frozenset[str]] = {
    "en": frozenset({"between"}),
    "de": frozenset({"zwischen"}),
    "fr": frozenset({"entre"}),
    "es": frozenset({"entre"}),
    "it": frozenset({"tra", "fra"}),
    "pt": frozenset({"entre"}),
    "nl": frozenset({"tussen"}),
    "ru": frozenset({"между"}),
    "ar": frozenset({"بين"}),
}

# Words that take a pair apart again.
DIFFERING: dict[str, frozenset[str]] = {
    "en": frozenset({"difference", "differences", "differ", "compare", "comparison", "contrast"}),
    "de": frozenset({"unterschied", "unterschiede", "vergleich", "unterscheiden"}),
    "fr": frozenset({"différence", "différences", "comparaison", "comparer"}),
    "es": frozenset({"diferencia", "diferencias", "comparación", "comparar"}),
    "it": frozenset({"differenza", "differenze", "confronto", "confrontare"}),
    "pt": frozenset({"diferença", "diferenças", "comparação", "comparar"}),
    "nl": frozenset({"verschil", "verschillen", "vergelijking", "vergelijken"}),
    "ru": frozenset({"различие", "различия", "разница", "сравнение", "сравнить"}),
    "ar": frozenset({"الفرق", "فرق", "اختلاف", "مقارنة"}),
}

# Words that make a pair one thing to look for.
RELATING: dict[str, frozenset[str]] = {
    "en": frozenset(
        {"relationship", "relation", "correlation", "association", "interaction", "link"}
    ),
    "de": frozenset({"zusammenhang", "beziehung", "korrelation", "wechselwirkung"}),
    "fr": frozenset({"relation", "lien", "corrélation", "interaction"}),
    "es": frozenset({"relación", "correlación", "interacción", "asociación"}),
    "it": frozenset({"relazione", "correlazione", "interazione", "associazione"}),
    "pt": frozenset({"relação", "correlação", "interação", "associação"}),
    "nl": frozenset({"verband", "relatie", "correlatie", "interactie"}),
    "ru": frozenset({"связь", "взаимосвязь", "корреляция"}),
    "ar": frozenset({"العلاقة", "علاقة"}),
}

# Words that begin a second question inside a sentence.
QUESTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": (
            "what which how why when where who whose does do did is are was were can "
            "could should has have will would whether"
        ),
        "de": (
            "was welche welcher welches welchen wie warum wieso wann wo wer wem gibt "
            "ist sind hat haben kann können"
        ),
        "fr": "quel quelle quels quelles comment pourquoi quand où qui que est-ce",
        "es": "qué cuál cuáles cómo cuándo dónde quién cuánto cuántos",
        "it": "quale quali come perché quando dove chi quanto quanti cosa",
        "pt": "qual quais como quando onde quem quanto quantos porque",
        "nl": "wat welke hoe waarom wanneer waar wie hoeveel",
        "ru": "что какой какая какие каков какова как почему когда где кто сколько",
        "ar": "ما ماذا كيف لماذا متى أين هل كم",
    }.items()
}
