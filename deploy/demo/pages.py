"""Fills pages column by column with strips, and tells where every marked sentence came to stand."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from deploy.demo.content import ContentError
from deploy.demo.strips import Strip, Text

Rectangle = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The size of a page and its margins, in points."""

    width: float = 454.0
    height: float = 652.0
    side: float = 40.0
    top: float = 56.0
    bottom: float = 46.0
    gutter: float = 15.0

    def column_width(self, columns: int) -> float:
        """Return the width of each of a number of equal columns."""
        return (self.width - 2 * self.side - self.gutter * (columns - 1)) / columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A strip on its page; `x` and `y` are its top left corner in PDF coordinates."""

    page: int
    x: float
    y: float
    strip: Strip


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkPlace:
    """Where a part of a marked sentence is printed, and how much text stands before it."""

    page: int
    rectangle: Rectangle
    offset: int


class Flow:
    """The pen that fills pages: it knows the page, the column and the height that is left."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._columns = 1
        self._column = 0
        self._page = -1
        self._start = 0.0
        self._y = 0.0
        self._waiting: list[Strip] = []
        self.placed: list[Placed] = []

    @property
    def page_count(self) -> int:
        """How many pages were begun."""
        return self._page + 1

    def begin_page(self) -> None:
        """Go to the top of a new page."""
        self._page += 1
        self._column = 0
        self._start = self._y = self._sheet.height - self._sheet.top

    def begin_columns(self, columns: int) -> None:
        """Divide what is left of the page into columns; later pages have as many."""
        self._columns = columns
        self._column = 0
        self._start = self._y

    def add(self, strips: Iterable[Strip]) -> None:
        """Place strips one below the other, in the next column when one is full."""
        for chunk in _chunks(strips):
            if chunk[0].floating and (self._waiting or not self._has_room(chunk)):
                self._waiting.append(chunk[0])
                continue
            while not self._has_room(chunk):
                self._advance()
            self._place(chunk)

    def finish(self) -> None:
        """Place the floating strips that still wait for a column."""
        while self._waiting:
            self._advance()

    def _advance(self) -> None:
        """Go to the next column, which begins with the floating strips that waited for it."""
        if self._y == self._start:
            raise ContentError("a strip is higher than an empty column")
        if self._column + 1 < self._columns:
            self._column += 1
            self._y = self._start
        else:
            self.begin_page()
        while self._waiting and self._has_room(self._waiting[:1]):
            self._place([self._waiting.pop(0)])

    def _has_room(self, chunk: Sequence[Strip]) -> bool:
        height = sum(strip.space + strip.height for strip in chunk)
        return self._y - height >= self._sheet.bottom

    def _place(self, chunk: Sequence[Strip]) -> None:
        for strip in chunk:
            self._y -= strip.space if self._y < self._start else 0.0
            self.placed.append(Placed(page=self._page, x=self._x(), y=self._y, strip=strip))
            self._y -= strip.height

    def _x(self) -> float:
        step = self._sheet.column_width(self._columns) + self._sheet.gutter
        return self._sheet.side + self._column * step


def _chunks(strips: Iterable[Strip]) -> Iterator[list[Strip]]:
    chunk: list[Strip] = []
    for strip in strips:
        chunk.append(strip)
        if not strip.glued:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def find_marks(placed: Sequence[Placed]) -> dict[str, list[MarkPlace]]:
    """Return the printed places of all marks, one for each line that they touch."""
    marks: dict[str, list[MarkPlace]] = {}
    offsets: dict[int, int] = {}
    for one in placed:
        for text in (item for item in one.strip.items if isinstance(item, Text)):
            offset = offsets.get(one.page, 0)
            for mark, rectangle in _marked_rectangles(one, text).items():
                place = MarkPlace(page=one.page, rectangle=rectangle, offset=offset)
                marks.setdefault(mark, []).append(place)
            offsets[one.page] = offset + _length(text)
    return marks


def _length(text: Text) -> int:
    letters = sum(len(run.text) for word in text.line.words for run in word.runs)
    return letters + text.line.gaps + 1


def _marked_rectangles(one: Placed, text: Text) -> dict[str, Rectangle]:
    found: dict[str, Rectangle] = {}
    x = one.x + text.across
    baseline = one.y - text.down
    low, high = round(baseline - 0.22 * text.size, 2), round(baseline + 0.74 * text.size, 2)
    for number, word in enumerate(text.line.words):
        x += text.line.space if number and word.spaced else 0.0
        for run in word.runs:
            if run.mark is not None:
                left = found[run.mark][0] if run.mark in found else round(x, 2)
                found[run.mark] = (left, low, round(x + run.width, 2), high)
            x += run.width
    return found
