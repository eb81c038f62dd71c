"""The words of a text that carry its topic, in a form in which inflected words meet."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from services.synth.generic_words import GENERIC_WORDS
from services.synth.languages import FALLBACK, UNSPACED
from services.synth.stop_words import STOP_WORDS

GENERIC_WEIGHT = 0.25
NAME_WEIGHT = 1.5

_TOKEN = re.compile(rf"[{UNSPACED}]+|\d+(?:[.,]\d+)*|[^\W\d_{UNSPACED}]+(?:\d+[^\W_{UNSPACED}]*)*")
_HIRAGANA = re.compile("[\u3040-\u309f]+")
_KATAKANA = re.compile("([\u30a0-\u30ff\uff66-\uff9f]{2,})")
_HANGUL = re.compile("[\uac00-\ud7af]+")
_PARTICLES = re.compile(
    "(에서는|에게는|으로는|에서|에게|으로|까지|부터|보다|은|는|이|가|을|를|의|에|로|와|과|도|만)$"
)
_ARABIC_PREFIX = re.compile("^(?:وال|بال|فال|كال|لل|ال)(?=.{3})")

_HALF_HOUR = re.compile(r"\bhalf[- ](?:an )?hours?\b|\bhalf-hourly\b", re.IGNORECASE)
# "A thirty-minute nap" and "a 30-minute nap" are one thing.
_NUMBER_WORDS = {
    **{"four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10"},
    **{"eleven": "11", "twelve": "12", "fifteen": "15", "sixteen": "16", "eighteen": "18"},
    **{"twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60"},
    **{"seventy": "70", "eighty": "80", "ninety": "90", "hundred": "100"},
}

_ENDINGS = {
    "en": ("ingly", "edly", "ing", "ed", "es", "ly", "s"),
    "de": ("innen", "ern", "em", "en", "er", "es", "e", "n", "s"),
    "fr": ("ements", "ement", "ées", "és", "ée", "es", "er", "ent", "s", "e", "x"),
    "es": ("amente", "mente", "os", "as", "es", "o", "a", "e", "s"),
    "it": ("amente", "mente", "i", "e", "o", "a"),
    "pt": ("amente", "mente", "os", "as", "es", "o", "a", "e", "s"),
    "nl": ("en", "e", "s"),
    "ru": (
        *("иями", "ями", "ами", "ого", "его", "ому", "ему", "ыми", "ими", "иях", "ях", "ах", "ия"),
        *("ий", "ие", "ии", "ию", "ой", "ый", "ые", "ых", "ым", "ом", "ем", "ей", "ов", "ев", "ам"),
        *("ям", "ую", "юю", "ая", "яя", "а", "я", "о", "е", "и", "ы", "у", "ю", "ь", "й"),
    ),
    "ar": ("ات", "ون", "ين", "ها", "ية", "ة"),
}


@dataclass(frozen=True, slots=True)
class Term:
    """A content word of a question: its stem, the word as it was written, and how much it says."""

    stem: str
    surface: str
    weight: float


class Vocabulary:
    """The stems of a text, open to questions about other stems."""

    def __init__(self, stems: Iterable[str]) -> None:
        self._stems = frozenset(stems)
        self._by_start: dict[str, list[str]] = {}
        for stem in self._stems:
            if len(stem) >= _SHARED_START:
                self._by_start.setdefault(stem[:_SHARED_START], []).append(stem)

    def __contains__(self, stem: object) -> bool:
        if stem in self._stems:
            return True
        if not isinstance(stem, str) or len(stem) < _SHARED_START or _has_digit(stem):
            return False
        return any(_akin(stem, other) for other in self._by_start.get(stem[:_SHARED_START], ()))


_SHARED_START = 5


def terms_of(text: str, language: str) -> list[Term]:
    """The distinct content words, in order of appearance."""
    found: dict[str, Term] = {}
    generic = _generic_stems(language)
    for surface, stem in _content(text, language):
        if stem in generic:
            weight = GENERIC_WEIGHT
        else:
            weight = NAME_WEIGHT if _is_name(surface, language) else 1.0
        found.setdefault(stem, Term(stem, surface, weight))
    return list(found.values())


def vocabulary_of(text: str, language: str) -> Vocabulary:
    """The stems of a text."""
    return Vocabulary(stem for _, stem in _content(text, language))


def stems_of(text: str, language: str) -> frozenset[str]:
    """The distinct stems of a text."""
    return frozenset(stem for _, stem in _content(text, language))


def _content(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Surface and stem of each content word."""
    stops = STOP_WORDS.get(language, STOP_WORDS[FALLBACK])
    even = unicodedata.normalize("NFKC", text)
    if language == FALLBACK:
        even = _HALF_HOUR.sub("30 minutes", even)
    for match in _TOKEN.finditer(even):
        token = match.group()
        if _is_unspaced(token):
            for piece in _pieces(token, language):
                yield piece, piece
            continue
        lower = token.lower()
        if lower in stops or (len(lower) == 1 and not lower.isdigit()):
            continue
        yield token, _stem(lower, language)


@lru_cache(maxsize=65_536)
def _stem(word: str, language: str) -> str:
    """The word without accents and without the commonest endings of the language."""
    if _has_digit(word):
        return word.replace(",", ".")
    if language == FALLBACK and word in _NUMBER_WORDS:
        return _NUMBER_WORDS[word]
    if language == "ar":
        word = _ARABIC_PREFIX.sub("", word)
    if language == FALLBACK and word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    shortest = 3 if language == FALLBACK else 4
    for ending in _ENDINGS.get(language, ()):
        if word.endswith(ending) and len(word) - len(ending) >= shortest:
            word = _without(word, ending, language)
            break
    return _fold(word)


def _without(word: str, ending: str, language: str) -> str:
    if language != FALLBACK:
        return word[: -len(ending)]
    if ending == "s" and word[-2] in "sui":
        return word
    if ending == "es" and not word.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        # "rates" is "rate" and not "rat"; a final e of longer words goes later.
        return word[:-1] if len(word) < 6 else word[:-2]
    stem = word[: -len(ending)]
    if ending in ("ing", "ed") and len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "ls":
        return stem[:-1]
    return stem


def _fold(word: str) -> str:
    """Latin, Greek and Cyrillic letters without accents, and a final e dropped."""
    plain = "".join(
        letter
        for letter in unicodedata.normalize("NFD", word)
        if not "\u0300" <= letter <= "\u036f"
    )
    return plain[:-1] if plain.endswith("e") and len(plain) > 4 else plain


def _akin(left: str, right: str) -> bool:
    """Whether two stems are forms of one word, judged by their common start."""
    shared = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        shared += 1
    tails = (len(left) - shared, len(right) - shared)
    if min(tails) == 0:
        return max(tails) <= 5
    return max(tails) <= 4 and shared >= 0.65 * max(len(left), len(right))


def _is_unspaced(token: str) -> bool:
    return re.match(f"[{UNSPACED}]", token) is not None


def _pieces(run: str, language: str) -> Iterator[str]:
    """What stands for words in a run of a script without spaces: mostly pairs of characters."""
    stops = STOP_WORDS.get(language, frozenset())
    if _HANGUL.match(run):
        word = _PARTICLES.sub("", run) if len(run) > 2 else run
        if run not in stops and word not in stops:
            yield from _pairs(word)
        return
    for part in _KATAKANA.split(_HIRAGANA.sub(" ", run)):
        if _KATAKANA.fullmatch(part):
            yield part
        else:
            for piece in without_stops(part, language).split():
                yield from _pairs(piece)


@lru_cache(maxsize=64)
def _stop_pattern(stops: frozenset[str]) -> re.Pattern[str]:
    ordered = sorted(stops, key=lambda word: (-len(word), word))
    return re.compile("|".join(map(re.escape, ordered)) or r"(?!)")


def without_stops(text: str, language: str) -> str:
    """The text with blanks, as many as it had characters, in the place of each small word.

    For scripts without spaces, where small words can only be found by their characters.
    """
    pattern = _stop_pattern(STOP_WORDS.get(language, frozenset()))
    return pattern.sub(lambda match: " " * len(match.group()), text)


def _pairs(text: str) -> Iterator[str]:
    if len(text) < 3:
        yield text
    else:
        yield from (text[at : at + 2] for at in range(len(text) - 1))


def _has_digit(word: str) -> bool:
    return any(letter.isdigit() for letter in word)


def _is_name(surface: str, language: str) -> bool:
    """Whether the spelling shows a name: capitals inside, or digits and letters together."""
    if any(letter.isupper() for letter in surface[1:]):
        return True
    mixed = _has_digit(surface) and not surface[0].isdigit()
    # German capitalises every noun, so a capital first letter says nothing there.
    return mixed or (language != "de" and surface[0].isupper() and len(surface) > 2)


@lru_cache(maxsize=32)
def _generic_stems(language: str) -> frozenset[str]:
    words = GENERIC_WORDS.get(language, GENERIC_WORDS[FALLBACK])
    return frozenset(stem for word in words for _, stem in _content(word, language))
