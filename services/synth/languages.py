"""Which language a text is in: by its script, then by its commonest small words."""

import re
from collections import Counter
from collections.abc import Collection, Iterable

from services.chassis.words import CJK
from services.synth.stop_words import STOP_WORDS

FALLBACK = "en"
SAMPLED_CHARS = 4_000
LATIN = ("en", "de", "fr", "es", "it", "pt", "nl")

_KANA = re.compile("[\u3040-\u30ff\uff66-\uff9f]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_HANGUL = re.compile("[\uac00-\ud7af\u1100-\u11ff]")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_ARABIC = re.compile("[\u0600-\u06ff]")
_LATIN_LETTER = re.compile("[a-zA-Z\u00c0-\u024f]")
_LATIN_WORD = re.compile(r"[^\W\d_]+")

# Letters that settle between languages whose small words overlap.
_TELLING = {
    "de": "äöüß",
    "fr": "èêëîïôûùœç",
    "es": "ñ¿¡",
    "pt": "ãõ",
    "it": "ìò",
}

# Scripts that are written without spaces, so that pairs of characters stand for words.
UNSPACED = f"{CJK}\uac00-\ud7af\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"


def language_of(text: str) -> str:
    """The two-letter code of the language, English when nothing speaks for another."""
    return spoken_language(text) or FALLBACK


def spoken_language(text: str) -> str | None:
    """The two-letter code of the language; None when nothing in the text speaks for one."""
    script = _script_language(text)
    if script is not None:
        return script
    # Words in capitals are acronyms: "IL" is no Italian.
    words = Counter(
        word.lower() for word in _LATIN_WORD.findall(text) if word[1:].islower() or len(word) == 1
    )
    scores = {
        language: sum(count for word, count in words.items() if word in STOP_WORDS[language])
        + 1.5 * sum(text.lower().count(letter) > 0 for letter in _TELLING.get(language, ""))
        for language in LATIN
    }
    best = max(LATIN, key=lambda language: scores[language])
    if scores[best] > scores[FALLBACK]:
        return best
    return FALLBACK if scores[FALLBACK] else None


def is_across_languages(
    question: str, texts: Iterable[str], bridged: Collection[str] = frozenset()
) -> bool:
    """Whether the question is in another language than the texts, and no search bridges the two.

    A question of a few names speaks no language and is across nothing.
    """
    asked = spoken_language(question)
    written = spoken_language(" ".join(texts)[:SAMPLED_CHARS])
    if asked is None or written is None or asked == written:
        return False
    return not {asked, written} <= set(bridged)


def _script_language(text: str) -> str | None:
    """The language that the script alone decides, unless Latin letters outweigh it."""
    latin = len(_LATIN_LETTER.findall(text))
    kana, han = len(_KANA.findall(text)), len(_HAN.findall(text))
    counts = {
        # A character of these scripts says about as much as three letters.
        "ja": 3 * (kana + han) if kana * 10 > han else 0,
        "zh": 3 * han if kana * 10 <= han else 0,
        "ko": 3 * len(_HANGUL.findall(text)),
        "ru": len(_CYRILLIC.findall(text)),
        "ar": len(_ARABIC.findall(text)),
    }
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] > latin / 2 else None
