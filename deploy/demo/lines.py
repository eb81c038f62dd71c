"""Breaks runs of text into printed lines, justified or not."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from deploy.demo.fonts import Family, Run, is_japanese, runs_of
from deploy.demo.hyphenation import break_points
from deploy.demo.markup import Span

_HYPHEN = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """Runs that stand together, after a space or (Japanese, broken words) without one."""

    runs: tuple[Run, ...]
    spaced: bool = True

    @property
    def width(self) -> float:
        """The printed width in points."""
        return sum(run.width for run in self.runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A printed line; `space` is the width of each of its gaps."""

    words: tuple[Word, ...]
    space: float
    is_last: bool = False

    @property
    def gaps(self) -> int:
        """How many word spaces the line has."""
        return sum(word.spaced for word in self.words[1:])

    @property
    def width(self) -> float:
        """The printed width in points."""
        return sum(word.width for word in self.words) + self.gaps * self.space

    def stretched(self, width: float) -> "Line":
        """Return the line filled to a width, unless it ends its paragraph."""
        if self.is_last or not self.gaps:
            return self
        return replace(self, space=self.space + (width - self.width) / self.gaps)


def words_of(spans: Iterable[Span], family: Family, size: float) -> list[Word]:
    """Cut spans into words."""
    words: list[Word] = []
    pending: list[Run] = []
    spaced = True
    for run in (run for span in spans for run in runs_of(span, family, size)):
        for text, ends_word, needs_space in _pieces(run.text):
            if text:
                pending.append(replace(run, text=text))
            if ends_word and pending:
                words.append(Word(runs=tuple(pending), spaced=spaced))
                pending = []
            if ends_word:
                spaced = needs_space
    if pending:
        words.append(Word(runs=tuple(pending), spaced=spaced))
    return words


def _pieces(text: str) -> Iterator[tuple[str, bool, bool]]:
    """Yield (text, whether a word ends after it, whether a space follows)."""
    piece = ""
    for character in text:
        if character == " ":
            yield piece, True, True
            piece = ""
        elif is_japanese(character):
            yield piece + character, True, False
            piece = ""
        else:
            piece += character
    if piece:
        yield piece, False, True


def break_lines(
    words: list[Word], widths: tuple[float, float], space: float, *, hyphenate: bool
) -> list[Line]:
    """Fill lines of a width (the first line has its own), breaking words only where asked to."""
    lines: list[Line] = []
    current: list[Word] = []
    used = 0.0
    queue = list(reversed(words))
    while queue:
        word = queue.pop()
        width = widths[1] if lines else widths[0]
        gap = space if current and word.spaced else 0.0
        if current and used + gap + word.width > width:
            parts = _split(word, width - used - gap) if hyphenate else None
            if parts:
                current.append(parts[0])
                queue.append(parts[1])
            else:
                queue.append(word)
            lines.append(Line(words=tuple(current), space=space))
            current, used = [], 0.0
            continue
        current.append(word)
        used += gap + word.width
    if current:
        lines.append(Line(words=tuple(current), space=space, is_last=True))
    return lines


def _split(word: Word, room: float) -> tuple[Word, Word] | None:
    """Divide a word of one run so that its head with a hyphen fits the room."""
    if len(word.runs) != 1:
        return None
    run = word.runs[0]
    core = run.text.rstrip(".,;:)")
    for offset in reversed(break_points(core)):
        head = replace(run, text=run.text[:offset] + _HYPHEN)
        if head.width <= room:
            tail = replace(run, text=run.text[offset:])
            return Word(runs=(head,), spaced=word.spaced), Word(runs=(tail,), spaced=False)
    return None
