"""The stretch of a text that comes nearest to a wording, word by word.

For a quote that is not there verbatim: a word was left out, misread or put in. Numbers are never
bridged, since a wording with another number says something else.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from services.chassis.words import WORD

# Places that are compared word by word; each costs quote length times itself.
PLACES = 3
# A word that stands so often in the text does not tell a place.
OFTEN = 200
# What comes so near needs no comparison with another place.
NEAR_ENOUGH = 0.95
# Words that are this much alike are the same word misread.
ALIKE = 0.7
SHORTEST_MISREAD = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A half-open range of the text, and how near it comes: 1 is the same words."""

    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    text: str
    start: int
    end: int

    @property
    def weight(self) -> int:
        return len(self.text)


def nearest(wanted: str, text: str, *, least: float) -> Near | None:
    """The best stretch whose score is at least `least`; both texts must be folded alike."""
    quote = _words(wanted)
    words = _words(text)
    if not quote or not words:
        return None
    total = sum(word.weight for word in quote)
    best: Near | None = None
    for first, last in _places(quote, words):
        window = words[first:last]
        cost, begin, end = _align(quote, window)
        score = 1 - cost / total
        if begin < end and score >= least and (best is None or score > best.score):
            best = Near(start=window[begin].start, end=window[end - 1].end, score=score)
        if best is not None and best.score >= NEAR_ENOUGH:
            break
    return best


def _words(text: str) -> list[_Word]:
    return [
        _Word(text=match.group(), start=match.start(), end=match.end())
        for match in WORD.finditer(text)
    ]


def _places(quote: Sequence[_Word], words: Sequence[_Word]) -> list[tuple[int, int]]:
    """Ranges of words in which the quote may stand, most promising first."""
    # Words that stand as far apart in the text as in the quote vote for the same shift.
    width = max(4, len(quote) // 8)
    votes: Counter[int] = Counter()
    positions = _positions(quote, words)
    for at, word in enumerate(quote):
        for position in positions.get(word.text, ()):
            votes[(position - at) // width] += word.weight
    pairs = Counter({shift: votes[shift] + votes[shift + 1] for shift in votes})
    return [
        (max(0, (shift - 1) * width), (shift + 3) * width + len(quote))
        for shift, _ in pairs.most_common(PLACES)
    ]


def _positions(quote: Sequence[_Word], words: Sequence[_Word]) -> Mapping[str, Sequence[int]]:
    """Where the words of the quote stand, those that stand nearly everywhere left out."""
    wanted = {word.text for word in quote}
    found: dict[str, list[int]] = defaultdict(list)
    for position, word in enumerate(words):
        if word.text in wanted:
            found[word.text].append(position)
    rare = {text: places for text, places in found.items() if len(places) <= OFTEN}
    return rare or found


def _align(quote: Sequence[_Word], window: Sequence[_Word]) -> tuple[float, int, int]:
    """The cheapest way to turn a stretch of the window into the quote: its cost and the stretch.

    One row of the table for each word of the quote; a cell holds the cost and where its stretch
    begins, which is free to be anywhere.
    """
    total = float(sum(word.weight for word in quote))
    row = [(0.0, begin) for begin in range(len(window) + 1)]
    for word in quote:
        missing = total if _is_number(word.text) else float(word.weight)
        cells = [(row[0][0] + missing, row[0][1])]
        for other, (diagonal, above) in zip(window, pairwise(row), strict=True):
            cells.append(
                min(
                    (diagonal[0] + _difference(word.text, other.text) * missing, diagonal[1]),
                    (above[0] + missing, above[1]),
                    (cells[-1][0] + other.weight, cells[-1][1]),
                )
            )
        row = cells
    end = min(range(len(row)), key=lambda at: (row[at][0], at - row[at][1]))
    return row[end][0], row[end][1], end


def _is_number(word: str) -> bool:
    return any(character.isdigit() for character in word)


@lru_cache(maxsize=20_000)
def _difference(word: str, other: str) -> float:
    """0 for the same word, 1 for another, in between for one that was misread."""
    if word == other:
        return 0
    if min(len(word), len(other)) < SHORTEST_MISREAD or _is_number(word) or _is_number(other):
        return 1
    matcher = SequenceMatcher(a=word, b=other, autojunk=False)
    if matcher.real_quick_ratio() < ALIKE or (ratio := matcher.ratio()) < ALIKE:
        return 1
    return 1 - ratio
