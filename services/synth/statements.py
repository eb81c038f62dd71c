"""Which stretches of a text are statements that can be quoted, as far as their looks tell."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from services.chassis.words import count_words, cut_at_sentence, sentences
from services.synth.languages import UNSPACED
from services.synth.stop_words import STOP_WORDS

MIN_WORDS = 4
MAX_WORDS = 80
# Above these shares a stretch is a row of a table, or a line of names and titles.
MAX_NUMBER_SHARE, MAX_CAPITAL_SHARE = 0.4, 0.6
# German gives all nouns a capital.
MAX_NOUN_SHARE = 0.85
# A sentence of this many words has some small words among them; a row of labels has not.
FEW_WORDS, LEAST_SMALL_SHARE = 6, 0.1

_ENDS = re.compile(r"[.!…。！۔｡][\"'”’»)\]」』]*\s*$")
_ASKS = ("?", "？", "؟")
_UNSPACED_LETTER = re.compile(f"[{UNSPACED}]")
_BULLET = re.compile(r"[•‣▪◦–—-]\s+")
_CAPTION = re.compile(
    r"\b(?:fig(?:ure|ura)?|tab(?:le|elle|leau|la|ela)?|abb(?:ildung)?|afbeelding|tabel|рис(?:унок)?|"
    r"таблица|chart|graph|scheme|box)\.? ?[A-Z]?\d+[.:]|[图圖表図]\s?\d+",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"^\W*[A-ZÀ-Þ][\w'’-]+,? (?:[A-Z]\.?[ ,]*)+.*\(?(?:19|20)\d\d[a-z]?\)?[.,:;]|"
    r"\b\d{1,4}(?: ?\(\d+\))?[,:] ?(?:pp?\. ?)?\d+ ?[-–] ?\d+\.?$"
)
_NAMES_AND_YEAR = re.compile(r"^\W*[A-ZÀ-Þ][\w'’-]+, (?:[A-Z]\.).*\((?:19|20)\d\d[a-z]?\)\.$")
# What stands in the head and foot of papers and pages.
_IMPRINT = re.compile(
    r"\b10\.\d{4,9}/|\bISSN\b|\bISBN\b|©|@\w|\ball rights reserved\b|"
    r"\binvented for demonstration\b|\bdownloaded from\b|\blicensed under\b|"
    r"^\s*(?:keywords?|key words|schlüsselwörter|schlagwörter|mots[- ]clés|palabras clave|"
    r"parole chiave|palavras-chave|trefwoorden|ключевые слова|关键词|關鍵詞|キーワード|주제어)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A range of the text that can be quoted, and the place of its sentence among all."""

    start: int
    end: int
    ordinal: int


def statements(text: str, language: str, *, is_prose: bool) -> Iterator[Statement]:
    """The sentences that state something, a very long one cut to its start.

    `is_prose` says that the text was typed and not laid out on pages: then what lacks a full stop
    is a sentence all the same.
    """
    is_label = False
    for ordinal, (start, end) in enumerate(sentences(text)):
        stretch = text[start:end]
        was_announced, is_label = is_label, _announces_a_label(stretch)
        if (
            was_announced
            or not (is_prose or _ENDS.search(stretch))
            or not says_something(stretch, language)
        ):
            continue
        if count_words(stretch) > MAX_WORDS:
            end = start + len(cut_at_sentence(stretch, MAX_WORDS))
        if (bullet := _BULLET.match(stretch)) is not None:
            start += bullet.end()
        yield Statement(start, end, ordinal)


def says_something(text: str, language: str) -> bool:
    """Whether the stretch is a statement: no question, row, caption, reference or imprint."""
    if count_words(text) < MIN_WORDS or text.rstrip().endswith(_ASKS):
        return False
    if _IMPRINT.search(text) or _CAPTION.match(text.lstrip()) or _REFERENCE.search(text):
        return False
    tokens = text.split()
    numbers = sum(any(letter.isdigit() for letter in token) for token in tokens)
    if numbers > MAX_NUMBER_SHARE * len(tokens) and len(tokens) > MIN_WORDS:
        return False
    most = MAX_NOUN_SHARE if language == "de" else MAX_CAPITAL_SHARE
    return (
        _capital_share(tokens) <= most
        and _has_small_words(text, language)
        and not _is_caption_mark(text)
    )


def _is_caption_mark(text: str) -> bool:
    """Whether the stretch ends as "Young 41 Old 13 Figure 1.", before the caption itself."""
    marks = list(_CAPTION.finditer(text))
    return bool(marks) and marks[-1].end() == len(text.rstrip())


def _announces_a_label(text: str) -> bool:
    """Whether a caption or the title of a reference follows, and no statement."""
    return _is_caption_mark(text) or _NAMES_AND_YEAR.search(text) is not None


def _has_small_words(text: str, language: str) -> bool:
    words = [word.lower() for word in re.findall(r"[^\W\d_]+", text)]
    if _UNSPACED_LETTER.search(text) or len(words) < FEW_WORDS:
        return bool(words)
    small = sum(word in STOP_WORDS[language] for word in words)
    return small >= LEAST_SMALL_SHARE * len(words)


def _capital_share(tokens: list[str]) -> float:
    """The share of the longer words that begin with a capital; 0 of too few to tell."""
    longer = [token for token in tokens if len(token) > 3 and token[0].isalpha()]
    if len(longer) < MIN_WORDS:
        return 0.0
    return sum(token[0].isupper() for token in longer) / len(longer)
