"""From the lines of columns to paragraphs: where each begins and ends, and what it is."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from services.search.text.columns import Column, Line
from services.search.text.document_text import BlockKind
from services.search.text.fragments import reads_right_to_left
from services.search.text.heading_names import NUMBER, is_known

INDENT = 0.8
# Lines farther apart than so many usual distances belong to different paragraphs.
APART = 1.35
LOOSE = 2.0
# Notes stand in the lowest third of a page.
FOOT_SHARE = 0.35
LONGEST_HEADING = 160
HEADING_SIZE = 1.1
NOTE_SIZE = 0.93
CAPTION = re.compile(
    r"(?:fig(?:ure|\.)?|table|tab\.|scheme|algorithm|listing|box|chart|plate|abb(?:ildung|\.)|tabelle|tableau"
    r"|рис(?:унок|\.)|табл(?:ица|\.)|图|表|図|圖)\s*(?:[A-Z]?[.-]?\d+(?:\.\d+)*[a-z]?|[IVX]+\b)"
    # What follows the number tells a caption from a sentence such as "Table 2 shows".
    r"(?:\s*[.:|)–—]|\s*$|\s+(?-i:[^\Wa-zа-я]))",
    re.IGNORECASE,
)
BULLET = re.compile(r"(?:[•▪◦‣●○■–—*]\s|\[\d{1,3}\]\s|\(?\d{1,2}[.)]\s|\([a-z]\)\s)")
ENDS = tuple(".!?:;。！？：؟۔")
CLOSING = "\"'”’»)]」』）*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Lines that belong together."""

    kind: BlockKind
    lines: tuple[Line, ...]
    column: int
    """The column of the page, in reading order."""

    @property
    def size(self) -> float:
        """The type size of most of its text."""
        return usual_size(self.lines)

    @property
    def is_open(self) -> bool:
        """Whether the text seems to go on elsewhere."""
        return not ends_sentence(self.lines[-1].text)


def ends_sentence(text: str) -> bool:
    """Whether the text ends as a sentence does."""
    return text.rstrip(CLOSING).endswith(ENDS)


def usual_size(lines: Sequence[Line]) -> float:
    """The type size that most characters have."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def paragraphs_of(columns: Sequence[Column], body_size: float) -> tuple[Paragraph, ...]:
    """The paragraphs of a page in reading order; halves that a figure divides are joined."""
    found: list[Paragraph] = []
    heights = [line.y for column in columns for line in column.lines]
    foot = min(heights) + FOOT_SHARE * (max(heights) - min(heights)) if heights else 0.0
    for index, column in enumerate(columns):
        groups = _split(column.lines)
        kinds = [_kind(group, body_size) for group in groups]
        _mark_notes(groups, kinds, body_size, foot)
        found.extend(
            Paragraph(kind=kind, lines=tuple(group), column=index)
            for group, kind in zip(groups, kinds, strict=True)
        )
    return tuple(_joined(found))


def _split(lines: Sequence[Line]) -> list[list[Line]]:
    if not lines:
        return []
    shape = _Shape.of(lines)
    groups = [[lines[0]]]
    for line in lines[1:]:
        if shape.begins(line, groups[-1]):
            groups.append([line])
        else:
            groups[-1].append(line)
    return groups


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """The edges and the usual distance of a column's lines, seen from where lines start."""

    start: float
    end: float
    pitch: float
    rtl: bool

    @classmethod
    def of(cls, lines: Sequence[Line]) -> "_Shape":
        rtl = reads_right_to_left("".join(line.text for line in lines))
        start = min(-line.x1 if rtl else line.x0 for line in lines)
        end = max(-line.x0 if rtl else line.x1 for line in lines)
        size = usual_size(lines)
        steps = [
            above.y - line.y
            for above, line in pairwise(lines)
            if abs(above.size - line.size) < 0.5 and above.y - line.y < 3 * size
        ]
        return cls(start=start, end=end, pitch=median(steps) if steps else 1.25 * size, rtl=rtl)

    def begins(self, line: Line, group: Sequence[Line]) -> bool:
        """Whether the line begins a paragraph after the lines of the group."""
        above = group[-1]
        usual = max(self.pitch, 1.05 * min(above.size, line.size))
        is_open = not (ends_sentence(above.text) or self._is_short(above)) and goes_on(line.text)
        # Formulas in a line push it down, so the middle of a sentence may stand farther apart.
        if above.y - line.y > (LOOSE if is_open else APART) * usual:
            return True
        if abs(above.size - line.size) > 0.08 * max(above.size, line.size):
            return True
        if all(other.bold for other in group) != line.bold and (line.bold or len(group) <= 3):
            return True
        if (len(group) == 1 and self._is_name(above)) or self._is_name(line):
            return True
        if above.cells > 1 or line.cells > 1:
            return above.cells == 1 and ends_sentence(above.text)
        if self._is_centred(above) and self._is_centred(line):
            return False
        return self._begins_by_edge(line, group)

    def _begins_by_edge(self, line: Line, group: Sequence[Line]) -> bool:
        above = group[-1]
        step = self._start(line) - self._start(above)
        closed = ends_sentence(above.text) or self._is_short(above)
        if step > INDENT * line.size:
            return closed
        if step < -INDENT * line.size and len(group) > 1:
            return True
        if BULLET.match(line.text) and (closed or BULLET.match(group[0].text) is not None):
            return True
        return self._is_short(above) and ends_sentence(above.text)

    def _is_name(self, line: Line) -> bool:
        """Whether the line is a section's name that is set like the text."""
        return self._is_short(line) and is_known(line.text)

    def _start(self, line: Line) -> float:
        return -line.x1 if self.rtl else line.x0

    def _end(self, line: Line) -> float:
        return -line.x0 if self.rtl else line.x1

    def _is_short(self, line: Line) -> bool:
        return self.end - self._end(line) > 0.15 * (self.end - self.start)

    def _is_centred(self, line: Line) -> bool:
        left, right = self._start(line) - self.start, self.end - self._end(line)
        return left > 2 * line.size and abs(left - right) < 2 * line.size


def _kind(group: Sequence[Line], body_size: float) -> BlockKind:
    text = " ".join(line.text for line in group)
    rows = sum(line.cells > 1 for line in group)
    if CAPTION.match(text):
        return BlockKind.CAPTION
    is_row = group[0].cells >= 3 or (group[0].cells == 2 and not NUMBER.match(text))
    if 2 * rows >= len(group) and (len(group) > 1 or is_row):
        return BlockKind.TABLE
    bold = all(line.bold for line in group)
    if is_heading(text, len(group), usual_size(group) / body_size, bold):
        return BlockKind.HEADING
    return BlockKind.TEXT


def is_heading(text: str, lines: int, size: float, bold: bool) -> bool:
    """Whether a short paragraph stands out by its type; `size` is relative to the usual one."""
    if lines > 3 or len(text) > LONGEST_HEADING or not any(char.isalpha() for char in text):
        return False
    if text.endswith((",", ";")) or (text.endswith(".") and lines > 1):
        return False
    capitals = text.isupper() and len(text) > 3
    return size >= HEADING_SIZE or bold or (capitals and size >= 0.85)


def _mark_notes(
    groups: Sequence[Sequence[Line]], kinds: list[BlockKind], body_size: float, foot: float
) -> None:
    """Small type at the foot of a column is notes."""
    for index in range(len(groups) - 1, -1, -1):
        is_small = usual_size(groups[index]) < NOTE_SIZE * body_size
        if not is_small or groups[index][0].y > foot or kinds[index] is not BlockKind.TEXT:
            break
        kinds[index] = BlockKind.NOTE


def _joined(paragraphs: Sequence[Paragraph]) -> list[Paragraph]:
    """Give a paragraph that was divided by a column's end or by a figure its other half."""
    pending = list(paragraphs)
    result: list[Paragraph] = []
    while pending:
        first = pending.pop(0)
        if first.kind is BlockKind.TEXT and first.is_open:
            other = _other_half(first, pending)
            if other is not None:
                second = pending.pop(other)
                pending.insert(
                    0, replace(first, lines=first.lines + second.lines, column=second.column)
                )
                continue
        result.append(first)
    return result


def _other_half(first: Paragraph, following: Sequence[Paragraph]) -> int | None:
    for index, paragraph in enumerate(following):
        if paragraph.kind is BlockKind.HEADING:
            return None
        if paragraph.kind is BlockKind.TEXT:
            is_elsewhere = index > 0 or paragraph.column != first.column
            same_type = abs(paragraph.size - first.size) < 0.08 * first.size
            return (
                index if is_elsewhere and same_type and goes_on(paragraph.lines[0].text) else None
            )
    return None


def goes_on(text: str) -> bool:
    """Whether the text can be the middle of a sentence: it does not begin with a capital letter."""
    letter = next((char for char in text if char.isalnum() or char in '([“"'), "")
    return not letter.isupper() and not BULLET.match(text)
