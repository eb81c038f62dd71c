"""The characters of a PDF page as pdfium sees them: which are visible, where, and how large."""

import math
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Any

import pypdfium2.raw as raw  # the C interface with its own names for C types

from services.search.text.fragments import Fragment, FragmentBuilder, Frame, PageContent

# A page of a book has some 5,000 characters; more than a large poster has is no reading matter.
MOST_CHARACTERS = 200_000
# Smaller type than this, in points, is not meant for readers.
SMALLEST_SIZE = 1.0
# A picture that covers this share of the page is a scan.
SCAN_SHARE = 0.5
# Text that leans more than this many degrees off the upright directions is a watermark.
MOST_LEAN = 8.0
INVISIBLE_MODES = frozenset({raw.FPDF_TEXTRENDERMODE_INVISIBLE, raw.FPDF_TEXTRENDERMODE_CLIP})
# pdfium gives these in place of a hyphen at the end of a line.
HYPHENS = frozenset({0x2, 0xFFFE, 0xAD})
LINE_ENDS = frozenset({0xA, 0xD})
SPACES = frozenset({0x9, 0x20, 0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000})
# Bullets of the Symbol and Wingdings fonts, the only private codes that have one known meaning.
KNOWN_PRIVATE = {0xF0A7: "•", 0xF0B7: "•", 0xF076: "•", 0xF0D8: "•"}
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Style:
    size: float
    bold: bool
    quarter_turns: int | None
    """Turned counter-clockwise so many times by 90 degrees; None for other angles."""
    invisible: bool


NO_STYLE = _Style(size=0.0, bold=False, quarter_turns=None, invisible=True)


def read_page(page: Any) -> PageContent:
    """The visible characters of a `pypdfium2.PdfPage` as fragments in the order of the file."""
    text_page = page.get_textpage()
    try:
        return _PageReader(page, text_page).read()
    finally:
        text_page.close()


class _PageReader:
    """One pass over the characters of a page."""

    def __init__(self, page: Any, text_page: Any) -> None:
        self._page = page
        self._raw = text_page.raw
        self._count = text_page.count_chars()
        self._crop: Box = page.get_cropbox()
        self._styles: dict[int | None, _Style] = {}
        self._pictures: list[Box] | None = None
        self._builders: dict[int, FragmentBuilder] = {}
        self._sizes = {0: 0, 1: 0, 2: 0, 3: 0}
        self._characters = 0
        self._unmapped = 0

    def read(self) -> PageContent:
        box, x, y = raw.FS_RECTF(), raw.c_double(), raw.c_double()
        by_box, by_x, by_y = raw.byref(box), raw.byref(x), raw.byref(y)
        for index in range(min(self._count, MOST_CHARACTERS)):
            code = raw.FPDFText_GetUnicode(self._raw, index)
            if code in SPACES:
                for builder in self._builders.values():
                    builder.space()
                continue
            if code in LINE_ENDS:
                for builder in self._builders.values():
                    builder.line_end()
                continue
            raw.FPDFText_GetLooseCharBox(self._raw, index, by_box)
            raw.FPDFText_GetCharOrigin(self._raw, index, by_x, by_y)
            self._take(index, code, (box.left, box.bottom, box.right, box.top), (x.value, y.value))
        return self._content()

    def _take(self, index: int, code: int, box: Box, origin: tuple[float, float]) -> None:
        style = self._style(index)
        if style.quarter_turns is None or style.size < SMALLEST_SIZE or not self._on_page(box):
            return
        if style.invisible and not self._over_picture(box):
            return
        self._characters += 1
        char = _readable(code)
        if raw.FPDFText_HasUnicodeMapError(self._raw, index) == 1 or not char:
            self._unmapped += 1
            return
        turns = style.quarter_turns
        self._sizes[turns] += 1
        builder = self._builders.get(turns)
        if builder is None:
            builder = self._builders[turns] = FragmentBuilder()
        x0, x1, y = _upright(box, origin, turns)
        for letter in char:
            builder.add(letter, x0, x1, y, style.size, style.bold)

    def _content(self) -> PageContent:
        """The text in the page's main direction; notes along the margin are no part of it."""
        turns = max(self._sizes, key=lambda key: self._sizes[key])
        fragments: list[Fragment] = []
        if (builder := self._builders.get(turns)) is not None:
            fragments = builder.finish()
        left, bottom, right, top = self._crop
        corners = [_turned(point, turns) for point in ((left, bottom), (right, top))]
        (x0, x1), (y0, y1) = (sorted(axis) for axis in zip(*corners, strict=True))
        return PageContent(
            frame=Frame(x0=x0, y0=y0, x1=x1, y1=y1),
            fragments=tuple(fragments),
            characters=self._characters,
            unmapped=self._unmapped,
            picture=self._is_scan(),
            cut=self._count > MOST_CHARACTERS,
        )

    def _style(self, index: int) -> _Style:
        text_object = raw.FPDFText_GetTextObject(self._raw, index)
        key = raw.cast(text_object, raw.c_void_p).value
        style = self._styles.get(key)
        if style is None:
            style = self._styles[key] = self._read_style(index, text_object) if key else NO_STYLE
        return style

    def _read_style(self, index: int, text_object: Any) -> _Style:
        matrix, flags = raw.FS_MATRIX(), raw.c_int()
        raw.FPDFText_GetMatrix(self._raw, index, raw.byref(matrix))
        size = raw.FPDFText_GetFontSize(self._raw, index) * math.hypot(matrix.c, matrix.d)
        angle = math.degrees(math.atan2(matrix.b, matrix.a))
        lean = abs(angle - 90 * round(angle / 90))
        colour = [raw.c_uint() for _ in range(4)]
        painted = raw.FPDFText_GetFillColor(self._raw, index, *map(raw.byref, colour))
        mode = raw.FPDFTextObj_GetTextRenderMode(text_object)
        name = raw.create_string_buffer(128)
        raw.FPDFText_GetFontInfo(self._raw, index, name, len(name), raw.byref(flags))
        return _Style(
            size=round(abs(size), 1),
            bold=raw.FPDFText_GetFontWeight(self._raw, index) >= 600 or _is_bold_name(name.value),
            quarter_turns=None if lean > MOST_LEAN else round(angle / 90) % 4,
            invisible=mode in INVISIBLE_MODES or bool(painted and colour[3].value == 0),
        )

    def _on_page(self, box: Box) -> bool:
        left, bottom, right, top = self._crop
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        return left <= x <= right and bottom <= y <= top

    def _over_picture(self, box: Box) -> bool:
        """Whether unseen text is the text layer of a scan, and not text hidden from the reader."""
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        return any(
            left <= x <= right and bottom <= y <= top
            for left, bottom, right, top in self._picture_boxes()
        )

    def _is_scan(self) -> bool:
        if self._characters > 200 and self._pictures is None:
            return False  # a page of visible text; looking through its objects would be for nothing
        left, bottom, right, top = self._crop
        area = sum(
            max(0.0, min(right, box[2]) - max(left, box[0]))
            * max(0.0, min(top, box[3]) - max(bottom, box[1]))
            for box in self._picture_boxes()
        )
        return area >= SCAN_SHARE * (right - left) * (top - bottom)

    def _picture_boxes(self) -> list[Box]:
        if self._pictures is None:
            images = self._page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)
            self._pictures = [image.get_bounds() for image in images]
        return self._pictures


@cache
def _readable(code: int) -> str:
    """The character of a code, without ligatures and presentation forms; empty if it has none."""
    if code in HYPHENS:
        return "-"
    if code in KNOWN_PRIVATE:
        return KNOWN_PRIVATE[code]
    if code > 0x10FFFF:
        return ""
    char = chr(code)
    if unicodedata.category(char) in ("Cc", "Cs", "Co", "Cn") or code == 0xFFFD:
        return ""
    if 0xFB00 <= code <= 0xFDFF or 0xFE70 <= code <= 0xFEFC:
        return unicodedata.normalize("NFKC", char)
    return char


def _turned(point: tuple[float, float], turns: int) -> tuple[float, float]:
    """The point after turning the paper so that its text is upright."""
    x, y = point
    return ((x, y), (y, -x), (-x, -y), (-y, x))[turns]


def _upright(box: Box, origin: tuple[float, float], turns: int) -> tuple[float, float, float]:
    """Left and right edge and base line of a character in the direction of its text."""
    if turns == 0:
        return box[0], box[2], origin[1]
    left, right = sorted(
        _turned(corner, turns)[0] for corner in ((box[0], box[1]), (box[2], box[3]))
    )
    return left, right, _turned(origin, turns)[1]


def _is_bold_name(name: bytes) -> bool:
    lowered = name.decode("ascii", "ignore").lower()
    return any(mark in lowered for mark in ("bold", "black", "heavy", "cmbx", "-medi", "sfbx"))
