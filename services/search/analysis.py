"""Words of a text as BM25 sees them, chosen by script and, for Latin letters, by language.

The index stores what this module makes of a text and compares it letter by letter, so that the
rules are these and no library's: scripts without spaces become pairs of characters, English words
are stemmed in English texts only, Russian, Arabic and some others by the rules of their script,
and all else stays whole.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache

import snowballstemmer

from services.chassis.words import CJK

# Raise when the same text gives other terms: an index with another number is analysed anew.
ANALYSIS_VERSION = 1

# Written without spaces, or with words that endings grow on: Han, Kana, Hangul, Thai, Lao,
# Burmese, Khmer.
PAIRED = (
    rf"{CJK}\u3005\u3007\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
)
# Vowel signs of Indic scripts are no letters to `\w`; their full stops are none either way.
LETTER = rf"(?:(?![{PAIRED}_\u0964\u0965])[\w\u0900-\u0dff])"
TOKEN = re.compile(rf"(?P<paired>[{PAIRED}]+)|(?P<word>{LETTER}++(?:['’]{LETTER}++)*+)")
# `IL-6` is also asked for as `IL6`: letters and digits around a hyphen make a term of their own.
COMPOUND = re.compile(
    rf"(?<!{LETTER})(?:(?:(?!\d){LETTER})+[-‐‑]\d{LETTER}*|\d+[-‐‑](?:(?!\d){LETTER})+)(?!{LETTER})"
)

# A word of letters and digits is a name, of a gene or a model, and says more than others as rare.
NAME = re.compile(r"(?=\D*\d)(?=\d*[^\W\d_])")
NAME_WEIGHT = 2

# Accents are dropped, except where they make another letter, as in Cyrillic й; stress marks always.
ACCENTS = re.compile(
    r"(?<![\u0400-\u04ff])[\u0300-\u036f]+|[\u0300\u0301]"
    r"|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]"  # Hebrew points
    r"|[\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]"  # Arabic vowels and stretching
    r"|[\u00ad\u200b-\u200f\u2060\ufeff]"
)

# The stemmer of the language that a script is mostly written in.
SCRIPTS = (
    (re.compile(r"[\u0400-\u04ff]"), "russian"),
    (re.compile(r"[\u0600-\u06ff]"), "arabic"),
    (re.compile(r"[\u0370-\u03ff]{3}"), "greek"),
    (re.compile(r"[\u0900-\u097f]"), "hindi"),
    (re.compile(r"[\u0530-\u058f]"), "armenian"),
    (re.compile(r"[\u0b80-\u0bff]"), "tamil"),
)
LATIN = re.compile(r"[a-zæœøðþđłı]")

_ENGLISH = """
a about also an and any are as at be been being between both but by can could did do does for from
had has have how if in into is it its may might more most no not of on or other our out over should
so some such than that the their them then there these they this those through to under us was we
were what when where whether which while who whom whose why will with would you your
"""
ENGLISH = frozenset(_ENGLISH.split())
# Frequent words of other languages in Latin letters that are no English words.
_FOREIGN = """
al auf aus avec av aux az bei bir com como con cu czy da das dans datos degli dei del dell della
delle dem den der des det di die dla du ein eine einer eines el em en entre es est et fra fran fur
het i ihre ile im je jest jak karya la las le leur lo los ma mit na nach nel nella nie nicht nos o
och og os ou para par pas per pod por pour que qui sa se si sind sich sont sous su sur til um und
une unter van ve vom von voor w wird y yang z zu zum zur
"""
FOREIGN = frozenset(_FOREIGN.split())


def terms(*fields: str) -> list[list[str]]:
    """The terms of each field of a text of the library, in order."""
    folded = [_folded(field) for field in fields]
    # A title alone is often too short to tell its language.
    stem = _stem if is_english("\n".join(folded)) else _by_script
    return [_terms(field, stem) for field in folded]


def query_terms(query: str) -> list[str]:
    """The terms of a query, repeated as often as they count."""
    folded = _folded(query)
    words = list(_tokens(folded))
    english = is_english(folded)
    # Words that say nothing are asked for only when there are no others.
    telling = [one for one in words if one[0] or not (english and one[1] in ENGLISH)]
    found: list[str] = []
    for paired, word in telling or words:
        if paired:
            found += _pairs(word) or [word]
            continue
        # A short query seldom shows its language, and texts of both kinds may hold the word.
        forms = list(
            dict.fromkeys((_by_script(word), _stem(word)) if english else [_by_script(word)])
        )
        found += forms * (NAME_WEIGHT if NAME.match(word) else 1)
    return found + _compounds(folded) * NAME_WEIGHT


def _terms(folded: str, stem: Callable[[str], str]) -> list[str]:
    found: list[str] = []
    for paired, word in _tokens(folded):
        found += [*word, *_pairs(word)] if paired else [stem(word)]
    return found + _compounds(folded)


def is_english(folded: str) -> bool:
    """Whether a text in Latin letters is English rather than another language."""
    words = [word for paired, word in _tokens(folded) if not paired]
    return sum(word in ENGLISH for word in words) >= sum(word in FOREIGN for word in words)


def is_mostly_latin(text: str) -> bool:
    """Whether half of the letters or more are Latin."""
    letters = [character for character in _folded(text) if character.isalpha()]
    return 2 * sum(bool(LATIN.match(letter)) for letter in letters) >= len(letters)


def _folded(text: str) -> str:
    """The text without the differences that a searcher does not mean."""
    open_ = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", ACCENTS.sub("", open_))


def _tokens(folded: str) -> Iterator[tuple[bool, str]]:
    """Words, and whether each is a stretch of a script without spaces."""
    for match in TOKEN.finditer(folded):
        yield match.lastgroup == "paired", match.group()


def _pairs(stretch: str) -> list[str]:
    return [stretch[at : at + 2] for at in range(len(stretch) - 1)]


def _compounds(folded: str) -> list[str]:
    return [re.sub(r"[-‐‑]", "", match.group()) for match in COMPOUND.finditer(folded)]


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    """The stem of a word of an English text."""
    return _stemmer("english")(word) if LATIN.search(word) else _by_script(word)


@lru_cache(maxsize=100_000)
def _by_script(word: str) -> str:
    """The stem where the script tells the language, else the word."""
    for script, language in SCRIPTS:
        if script.search(word):
            return _stemmer(language)(word)
    return word


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    stem: Callable[[str], str] = snowballstemmer.stemmer(language).stemWord
    return stem
