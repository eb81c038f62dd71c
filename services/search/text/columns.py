"""Reading order: which fragments of a page belong to which column, and the lines they form."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from services.search.text.fragments import MOSTLY, Fragment, reads_right_to_left

# A fragment at least this many times its size wide is running text, not a cell or a label.
PROSE_WIDTH = 9.0
# So many lines of running text on either side make two columns.
FEWEST_LINES = 3
DEEPEST = 3
SAME_EDGE = 3.0
# Gutters of pages whose middles differ by less, in points, are the same.
ALIKE_GUTTERS = 15.0
# A row of so many short pieces is a row of a table.
FEWEST_CELLS = 3
# A gap of so many times the size in a line separates cells of a table.
CELL_GAP = 1.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of one column."""

    text: str
    x0: float
    x1: float
    y: float
    size: float
    bold: bool
    cells: int = 1
    """Parts with wide gaps between them; a row of a table has several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Lines from top to bottom that stand over one another."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gutter:
    """The white stripe between two columns."""

    left: float
    right: float

    @property
    def centre(self) -> float:
        """Its middle."""
        return (self.left + self.right) / 2


def reading_order(fragments: Sequence[Fragment], usual: Gutter | None = None) -> tuple[Column, ...]:
    """The columns of a page in reading order; text over the full width is a column of its own.

    `usual` is the gutter of the document's other pages, for a page with too few lines to show it.
    """
    rtl = reads_right_to_left("".join(fragment.text for fragment in fragments))
    regions = _regions(tuple(fragments), usual, rtl=rtl, depth=0)
    return tuple(Column(lines=lines) for region in regions if (lines := _lines(region, rtl)))


def usual_gutter(pages: Sequence[Sequence[Fragment]]) -> Gutter | None:
    """The gutter that most pages of a document in two columns share; None without such."""
    found = [gutter for page in pages if (gutter := find_gutter(page)) is not None]
    if 2 * len(found) < len(pages):
        return None
    middle = sorted(found, key=lambda gutter: gutter.centre)[len(found) // 2] if found else None
    alike = [g for g in found if middle and abs(g.centre - middle.centre) < ALIKE_GUTTERS]
    return middle if 2 * len(alike) > len(found) else None


def _regions(
    fragments: tuple[Fragment, ...], usual: Gutter | None, *, rtl: bool, depth: int
) -> list[tuple[Fragment, ...]]:
    gutter = find_gutter(fragments) if depth < DEEPEST else None
    if gutter is None and usual is not None and _has_both_sides(fragments, usual):
        gutter = usual
    if gutter is None:
        return [fragments] if fragments else []
    found: list[tuple[Fragment, ...]] = []
    for spanning, band in _bands(fragments, gutter):
        if spanning:
            found.append(band)
            continue
        left = tuple(piece for piece in band if piece.centre < gutter.centre)
        right = tuple(piece for piece in band if piece.centre >= gutter.centre)
        for side in (right, left) if rtl else (left, right):
            found.extend(_regions(side, None, rtl=rtl, depth=depth + 1))
    return found


def _has_both_sides(fragments: Sequence[Fragment], gutter: Gutter) -> bool:
    """Whether there is running text on both sides of where other pages have their gutter."""
    prose = [piece for piece in fragments if _is_prose(piece)]
    return any(piece.x1 < gutter.centre for piece in prose) and any(
        piece.x0 > gutter.centre for piece in prose
    )


def find_gutter(fragments: Sequence[Fragment]) -> Gutter | None:
    """The white stripe with most lines of running text on both sides, if there are enough."""
    prose = [piece for piece in fragments if _is_prose(piece)]
    best: tuple[int, Gutter] | None = None
    for edge in sorted({round(piece.x0) for piece in prose}):
        right = [piece for piece in prose if piece.x0 >= edge - SAME_EDGE]
        left = [piece for piece in prose if piece.x1 <= edge - SAME_EDGE]
        if min(len(left), len(right)) < FEWEST_LINES:
            continue
        if not _beside(left, right):
            continue
        score = min(len(left), len(right))
        gutter = Gutter(left=max(piece.x1 for piece in left), right=edge)
        if best is None or score > best[0]:
            best = score, gutter
    return best[1] if best else None


def _beside(left: Sequence[Fragment], right: Sequence[Fragment]) -> bool:
    """Whether the two stand side by side and not one below the other."""
    return min(left, key=_y).y < max(right, key=_y).y and min(right, key=_y).y < max(left, key=_y).y


def _y(fragment: Fragment) -> float:
    return fragment.y


def _bands(
    fragments: Sequence[Fragment], gutter: Gutter
) -> list[tuple[bool, tuple[Fragment, ...]]]:
    """From top to bottom: stretches of full-width rows, and of rows in two columns."""
    rows = _rows(fragments)
    kinds = [_spans(row, gutter) for row in rows]
    _take_last_lines(rows, kinds, gutter)
    _take_table_rows(rows, kinds, gutter)
    feet = _foot(rows, kinds, gutter)
    bands: list[tuple[bool, list[Fragment]]] = []
    for index, (row, spanning) in enumerate(zip(rows, kinds, strict=True)):
        if not bands or bands[-1][0] != spanning or index == feet:
            bands.append((spanning, []))
        bands[-1][1].extend(row)
    return [(spanning, tuple(band)) for spanning, band in bands]


def _rows(fragments: Sequence[Fragment]) -> list[list[Fragment]]:
    """Fragments of one height together, from top to bottom."""
    rows: list[list[Fragment]] = []
    for piece in sorted(fragments, key=lambda piece: (-piece.y, piece.x0)):
        if rows and rows[-1][0].y - piece.y < 0.45 * min(piece.size, rows[-1][0].size):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return rows


def _spans(row: Sequence[Fragment], gutter: Gutter) -> bool:
    """Whether the row runs over the gutter: a piece crosses it, and no column has a line there."""
    crossing = [piece for piece in row if piece.x0 < gutter.centre < piece.x1]
    if not crossing:
        return False
    return not any(
        _is_prose(piece)
        and piece not in crossing
        and any(max(piece.x0, other.x0) < min(piece.x1, other.x1) for other in crossing)
        for piece in row
    )


def _take_last_lines(rows: list[list[Fragment]], kinds: list[bool], gutter: Gutter) -> None:
    """Mark the short last line of a full-width paragraph as full-width too."""
    for index in range(1, len(rows)):
        row, above = rows[index], rows[index - 1]
        if kinds[index] or not kinds[index - 1] or len(row) != 1:
            continue
        piece = row[0]
        pitch = above[0].y - piece.y
        below = piece.y - rows[index + 1][0].y if index + 1 < len(rows) else 2 * pitch
        kinds[index] = (
            abs(piece.size - above[0].size) < 0.5
            and pitch < 1.6 * piece.size
            and below > 1.25 * pitch
            and abs(piece.x0 - min(other.x0 for other in above)) < piece.size
            and piece.x1 < gutter.right
        )


def _take_table_rows(rows: list[list[Fragment]], kinds: list[bool], gutter: Gutter) -> None:
    """Mark rows of cells that go on beyond the gutter: a table over the full width."""
    cells = [
        len(row) >= FEWEST_CELLS
        and not any(_is_prose(piece) for piece in row)
        and min(piece.centre for piece in row) < gutter.centre
        and max(piece.centre for piece in row) > gutter.centre
        for row in rows
    ]
    for index, is_cells in enumerate(cells):
        beside = (index > 0 and cells[index - 1]) or (index + 1 < len(rows) and cells[index + 1])
        if is_cells and beside:
            kinds[index] = True


def _foot(rows: list[list[Fragment]], kinds: list[bool], gutter: Gutter) -> int | None:
    """Where smaller type begins in both columns at one height: notes or a list below the text.

    Read as part of the columns, the left foot would come between the left and the right column.
    """
    sizes = [max(piece.size for piece in row) for row in rows]
    for index in range(len(rows) - 1, 1, -1):
        if kinds[index]:
            return None
        if sizes[index - 1] <= 1.06 * sizes[index]:
            continue
        gap = min(piece.y for piece in rows[index - 1]) - max(piece.y for piece in rows[index])
        sides = {piece.centre < gutter.centre for row in rows[index:] for piece in row}
        below = max(sizes[index:])
        is_apart = gap > 1.5 * below and sizes[index - 1] > 1.06 * below
        return index if is_apart and len(sides) == 2 else None
    return None


def _is_prose(piece: Fragment) -> bool:
    return piece.x1 - piece.x0 >= PROSE_WIDTH * piece.size


def _lines(fragments: Sequence[Fragment], rtl: bool) -> tuple[Line, ...]:
    rows = _rows(fragments)
    _attach_initials(rows)
    return tuple(_line(row, rtl) for row in rows)


def _attach_initials(rows: list[list[Fragment]]) -> None:
    """Put a large initial before the first of the lines that it stands beside."""
    if len(rows) < FEWEST_LINES:
        return
    usual = median(piece.size for row in rows for piece in row)
    for row in list(rows):
        piece = row[0]
        if len(piece.text) > 2 or piece.size < 1.9 * usual or not piece.text.isalpha():
            continue
        beside = [
            other
            for other in rows
            if other is not row and piece.y - 1 <= other[0].y <= piece.y + piece.size
        ]
        if beside and beside[0][0].x0 >= piece.x1 - usual:
            rest = row[1:]
            first = beside[0][0]
            beside[0][0] = Fragment(
                text=piece.text + first.text,
                x0=piece.x0,
                x1=first.x1,
                y=first.y,
                size=first.size,
                bold=first.bold,
            )
            if rest:
                row[:] = rest
            else:
                rows.remove(row)


def _line(row: Sequence[Fragment], rtl: bool) -> Line:
    pieces = sorted(row, key=lambda piece: -piece.x1 if rtl else piece.x0)
    text, cells = pieces[0].text, 1
    for before, piece in pairwise(pieces):
        gap = before.x0 - piece.x1 if rtl else piece.x0 - before.x1
        size = max(before.size, piece.size)
        text += (" " if gap > 0.12 * size else "") + piece.text
        cells += gap > CELL_GAP * size
    longest = max(pieces, key=lambda piece: len(piece.text))
    return Line(
        text=text,
        x0=min(piece.x0 for piece in pieces),
        x1=max(piece.x1 for piece in pieces),
        y=longest.y,
        size=longest.size,
        bold=sum(len(piece.text) for piece in pieces if piece.bold) >= MOSTLY * len(text),
        cells=cells,
    )
