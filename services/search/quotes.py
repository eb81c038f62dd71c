"""Finding a quote in a text: letter by letter, else typesetting aside, else nearly.

Two texts are equal typesetting aside when they differ only in white space, kind of dash, hyphens at
line ends, soft hyphens, ligatures and other compatibility forms, kind of quotation mark, or case.
A sign before a number is no accident: `-0.5` never matches `0.5`.

Only who asks for it gets the stretch that comes nearest; its score says how near, and it is no
verbatim quote.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from services.chassis.words import CJK
from services.search.approximation import nearest
from services.search.errors import InvalidQuote

MAX_QUOTE_CHARACTERS = 5_000
MAX_MATCHES = 100
VERBATIM = 1.0
# Below it, what is found shares little with the quote but frequent words.
LEAST_SCORE = 0.6

IGNORED = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff\u202a-\u202e\u2066-\u2069]")
HYPHENS = frozenset("-\u2010\u2011\ufe63\uff0d")
DASHES = HYPHENS | frozenset("\u2012\u2013\u2014\u2015\u2212\ufe58")
QUOTATION_MARKS = dict.fromkeys("\"'`´‘’‚‛“”„‟‹›«»′″＇＂", "'")
# Most of a text, folded in one stroke; what follows the last character must not combine with it.
PLAIN = re.compile(r"[A-Za-z0-9.,;:()]+(?![^\x00-\x7f])")
CJK_CHARACTER = re.compile(f"[{CJK}]")


class MatchKind(Enum):
    """How a quote was found."""

    EXACT = "exact"
    NORMALISED = "normalised"
    FUZZY = "fuzzy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A stretch of text that positions are counted in: a page, or a passage."""

    text: str
    page_index: int = -1
    page_label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteMatch:
    """Where a quote stands; one that runs over a page's end is told on the page it begins on."""

    leaf: int
    """Position of the leaf in the sequence searched."""
    kind: MatchKind
    start: int
    end: int
    """Half-open range of code points of the leaf; ends with the leaf if the match runs over it."""
    text: str
    """Verbatim, also what stands on the next page."""
    score: float = VERBATIM
    """Share of the quote that stands there; 1 unless the match is fuzzy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """A text with the accidents of typesetting made equal, and where each character came from."""

    text: str
    origins: Sequence[int]
    """For each character the position of its source; one more at the end."""


def find_quote(
    quote: str, leaves: Sequence[Leaf], least_score: float = VERBATIM
) -> list[QuoteMatch]:
    """All matches in reading order, exact ones if there are any; raises InvalidQuote.

    If there are none, the one nearest stretch whose score is at least `least_score`.
    """
    wanted = valid_quote(quote)
    least = valid_least_score(least_score)
    # One text, so that a quote may run over the end of a page.
    whole = "\n".join(leaf.text for leaf in leaves)
    begins = list(_begins(leaves))
    ranges = list(_occurrences(wanted, whole))
    kind = MatchKind.EXACT
    if not ranges:
        kind = MatchKind.NORMALISED
        folded = fold(whole)
        searched = fold(wanted).text
        found = _occurrences(searched, folded.text)
        ranges = [_unfolded(folded, whole, start, end) for start, end in found]
        if not ranges and least < VERBATIM:
            near = nearest(searched, folded.text, least=least)
            if near is None:
                return []
            start, end = _unfolded(folded, whole, near.start, near.end)
            match = _match(leaves, begins, whole, MatchKind.FUZZY, start, end)
            return [replace(match, score=near.score)]
    return [_match(leaves, begins, whole, kind, start, end) for start, end in ranges[:MAX_MATCHES]]


def valid_quote(quote: str) -> str:
    """The quote without surrounding white space; raises InvalidQuote."""
    text = quote.strip()
    if len(text) > MAX_QUOTE_CHARACTERS:
        raise InvalidQuote(
            f"The quote has {len(text)} characters; at most {MAX_QUOTE_CHARACTERS} are looked for."
        )
    if not any(character.isalnum() for character in text):
        raise InvalidQuote("The quote is empty or has no letter or digit.")
    return text


def valid_least_score(score: float) -> float:
    """The score; raises InvalidQuote for one that would let anything through."""
    if not LEAST_SCORE <= score <= VERBATIM:
        raise InvalidQuote(f"least_score is {score}; it must be from {LEAST_SCORE} to {VERBATIM}.")
    return score


def fold(text: str) -> Folded:
    """Make the accidents of typesetting equal."""
    pieces: list[str] = []
    origins: list[int] = []
    for position, piece, plain in _pieces(text):
        pieces.append(piece)
        length = len(piece)
        origins.extend(range(position, position + length) if plain else [position] * length)
    origins.append(len(text))
    return Folded(text="".join(pieces), origins=origins)


def _pieces(text: str) -> Iterator[tuple[int, str, bool]]:
    """Folded pieces, the positions they come from, and whether each character has its own."""
    position = 0
    last = ""  # the last character given out
    while position < len(text):
        begin = position
        if run := PLAIN.match(text, position):
            position = run.end()
            last = text[position - 1]
            yield begin, run.group().lower(), True
            continue
        character = text[position]
        if IGNORED.match(character):
            position += 1
            continue
        if character in DASHES:
            position, piece = _fold_dash(text, position)
        elif character.isspace():
            position = _skip_space(text, position)
            piece = "" if _is_idle_space(last, text[position : position + 1]) else " "
        else:
            position += 1
            while position < len(text) and unicodedata.combining(text[position]):
                position += 1
            piece = _fold_letters(text[begin:position])
        if piece:
            last = piece[-1]
            yield begin, piece, False


def _is_idle_space(before: str, after: str) -> bool:
    """Whether white space says nothing: at the ends, around a dash, beside a script without it."""
    if not before or not after or before == "-" or after in DASHES:
        return True
    return bool(CJK_CHARACTER.match(before) or CJK_CHARACTER.match(after))


def _fold_letters(cluster: str) -> str:
    if cluster in QUOTATION_MARKS:
        return QUOTATION_MARKS[cluster]
    # Case folding can undo the composition, so the composition comes last.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", cluster).casefold())
    return "".join(QUOTATION_MARKS.get(one, one) for one in folded if not IGNORED.match(one))


def _fold_dash(text: str, position: int) -> tuple[int, str]:
    """The position after a dash and the white space that belongs to it, and what it becomes."""
    after = _skip_space(text, position + 1)
    before = text[position - 1 : position]
    # A hyphen inside a word may be one of the line's end: it vanishes, and the break with it.
    inside = text[position] in HYPHENS and before.isalpha() and text[after : after + 1].isalpha()
    if inside and (after == position + 1 or "\n" in text[position + 1 : after]):
        return after, ""
    return after, "-"


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and (text[position].isspace() or IGNORED.match(text[position])):
        position += 1
    return position


def _occurrences(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    """Ranges where `wanted` stands as whole words, none overlapping the one before."""
    position = 0
    while wanted and (start := text.find(wanted, position)) >= 0:
        end = start + len(wanted)
        if _splits_word(text, start) or _splits_word(text, end):
            position = start + 1
            continue
        yield start, end
        position = end


def _splits_word(text: str, position: int) -> bool:
    """Whether the position is inside a word; scripts without spaces have no inside."""
    if not 0 < position < len(text):
        return False
    before, after = text[position - 1], text[position]
    if CJK_CHARACTER.match(before) or CJK_CHARACTER.match(after):
        return False
    return before.isalnum() and after.isalnum()


def _unfolded(folded: Folded, whole: str, start: int, end: int) -> tuple[int, int]:
    """The range of the source that became this range."""
    first = folded.origins[start]
    last = folded.origins[end - 1]
    # The source of the last character ends where the next one's begins, without what vanished.
    stop = folded.origins[bisect_right(folded.origins, last, end, len(folded.origins) - 1)]
    while stop > last + 1 and (whole[stop - 1].isspace() or whole[stop - 1] in DASHES):
        stop -= 1
    return first, stop


def _begins(leaves: Sequence[Leaf]) -> Iterator[int]:
    position = 0
    for leaf in leaves:
        yield position
        position += len(leaf.text) + 1


def _match(
    leaves: Sequence[Leaf], begins: Sequence[int], whole: str, kind: MatchKind, start: int, end: int
) -> QuoteMatch:
    number = bisect_right(begins, start) - 1
    begin = begins[number]
    return QuoteMatch(
        leaf=number,
        kind=kind,
        start=start - begin,
        end=min(end - begin, len(leaves[number].text)),
        text=whole[start:end],
    )
