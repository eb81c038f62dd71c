"""Strips: horizontal bands of a column that hold what is printed, measured from their top left.

Strips that are glued to the next one are never parted from it by the end of a column.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reportlab.pdfbase import pdfmetrics

from deploy.demo.fonts import Family
from deploy.demo.lines import Line, break_lines, words_of
from deploy.demo.markup import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A line of text: `across` from the left edge, its baseline `down` from the top."""

    across: float
    down: float
    line: Line
    size: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """A line through points given as (across, down)."""

    points: tuple[tuple[float, float], ...]
    thickness: float = 0.5
    dashes: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shade:
    """A filled rectangle; grey 0 is black, 1 is white."""

    across: float
    down: float
    width: float
    height: float
    grey: float


Item = Text | Stroke | Shade


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """A band of a column; `space` is left free above it unless it begins the column.

    A floating strip lets the text after it fill the column when it does not fit itself.
    """

    height: float
    items: tuple[Item, ...] = ()
    space: float = 0.0
    glued: bool = False
    floating: bool = False
    outline: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How a paragraph is set."""

    family: Family
    size: float
    width: float
    leading: float = 1.24
    align: str = "justify"
    indent: float = 0.0
    hanging: float = 0.0
    margin: float = 0.0
    hyphenate: bool = False


def set_paragraph(
    spans: Sequence[Span], setting: Setting, *, space: float = 0.0, keep_whole: bool = False
) -> list[Strip]:
    """Set a paragraph as one strip a line, its first and last two lines glued together."""
    lines = _break(spans, setting)
    height = setting.size * setting.leading
    strips = []
    for number, line in enumerate(lines):
        item = _place(line, setting, is_first=number == 0)
        glued = number < len(lines) - 1 and (keep_whole or number in (0, len(lines) - 2))
        above = space if number == 0 else 0.0
        strips.append(Strip(height=height, items=(item,), space=above, glued=glued))
    return strips


def _break(spans: Sequence[Span], setting: Setting) -> list[Line]:
    words = words_of(spans, setting.family, setting.size)
    space = float(pdfmetrics.stringWidth(" ", setting.family.regular, setting.size))
    width = setting.width - 2 * setting.margin
    widths = (width - setting.indent, width - setting.hanging)
    return break_lines(words, widths, space, hyphenate=setting.hyphenate)


def _place(line: Line, setting: Setting, *, is_first: bool) -> Text:
    inset = setting.indent if is_first else setting.hanging
    room = setting.width - 2 * setting.margin - inset
    across = setting.margin + inset
    if setting.align == "justify":
        line = line.stretched(room)
    elif setting.align == "centre":
        across += (room - line.width) / 2
    elif setting.align == "right":
        across += room - line.width
    return Text(across=across, down=setting.size, line=line, size=setting.size)


def stack(strips: Sequence[Strip], *, space: float = 0.0, glued: bool = False) -> Strip:
    """Join strips into one that no column end can divide."""
    items: list[Item] = []
    depth = 0.0
    for number, strip in enumerate(strips):
        depth += strip.space if number else 0.0
        items.extend(moved(item, 0.0, depth) for item in strip.items)
        depth += strip.height
    return Strip(height=depth, items=tuple(items), space=space, glued=glued)


def moved(item: Item, across: float, down: float) -> Item:
    """Return the item shifted to the right and down."""
    if isinstance(item, Stroke):
        points = tuple((x + across, y + down) for x, y in item.points)
        return replace(item, points=points)
    return replace(item, across=item.across + across, down=item.down + down)
