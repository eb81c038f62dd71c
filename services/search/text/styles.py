"""How the text objects of a PDF page are set: size, direction, font, and if they can be seen."""

import math
from dataclasses import dataclass, field
from typing import Any

import pypdfium2.raw as raw

from services.search.text.visibility import Box, Covers, is_cut_off, is_on_layer, is_pale

# Smaller type than this, in points or as a share of the page, is not meant for readers.
SMALLEST_SIZE = 2.0
SMALLEST_SHARE = 1 / 400
# Text that leans more than this many degrees off the upright directions is a watermark.
MOST_LEAN = 8.0
INVISIBLE_MODES = frozenset({raw.FPDF_TEXTRENDERMODE_INVISIBLE, raw.FPDF_TEXTRENDERMODE_CLIP})
BOLD_WEIGHT = 600
BOLD_NAMES = ("bold", "black", "heavy", "cmbx", "-medi", "sfbx")


@dataclass(slots=True, kw_only=True)
class Font:
    """A font, and what is known of its characters so far."""

    bold: bool
    is_embedded: bool = True
    letters: dict[str, str] = field(default_factory=dict)
    """What each character is in plain text; empty for those without a meaning."""
    plain: set[str] = field(default_factory=set)
    """Those that simply stand beside one another."""

    @property
    def is_drawn(self) -> bool:
        """Whether pictures of the page show it: another may stand in for Latin letters only."""
        return self.is_embedded or all(map(str.isascii, self.letters.values()))


@dataclass(slots=True, kw_only=True)
class Style:
    """What the characters of one text object have in common."""

    size: float
    quarter_turns: int
    """Turned counter-clockwise so many times by 90 degrees."""
    is_kept: bool
    """Whether its characters can be seen if they are on the page."""
    is_unseen: bool = False
    """Whether it is drawn so that nobody sees it: kept only as the text layer of a scan."""
    font: Font
    text_object: Any = None
    is_pale: bool = False
    boxes: list[Box] | None = None
    """Where its letters are, if it may be that nobody can see them."""
    bottom: float = math.inf
    """The lower edge of the last character, and the base line that goes with it."""
    y: float = 0.0


NO_STYLE = Style(size=0.0, quarter_turns=0, is_kept=False, font=Font(bold=False))


class Styles:
    """The styles of the text objects of a page, by their addresses."""

    def __init__(self, page: Any, text_page: Any) -> None:
        """`text_page` is pdfium's handle."""
        self._page = page
        self._raw = text_page
        self._styles: dict[int | None, Style] = {}
        self._fonts: dict[int | None, Font] = {}
        self._covers = Covers(page)
        left, bottom, right, top = page.get_cropbox()
        self._smallest = min(SMALLEST_SIZE, max(right - left, top - bottom) * SMALLEST_SHARE)

    def of(self, index: int, address: int | None) -> Style:
        """The style of the object, which the character at the index belongs to."""
        style = self._styles.get(address)
        if style is None:
            style = self._read(index, address) if address else NO_STYLE
            self._styles[address] = style
        return style

    def suspects(self, *, is_pale: bool) -> dict[int, Style]:
        """The objects with letters that may be that nobody sees, for their colour or otherwise."""
        return {
            address: style
            for address, style in self._styles.items()
            if address
            and style.boxes
            and style.is_pale is is_pale
            and not style.is_unseen
            and style.font.is_drawn
        }

    def _read(self, index: int, address: int) -> Style:
        text_object = raw.FPDFText_GetTextObject(self._raw, index)
        matrix, parts = raw.FS_MATRIX(), [raw.c_uint() for _ in range(4)]
        raw.FPDFText_GetMatrix(self._raw, index, raw.byref(matrix))
        size = abs(raw.FPDFText_GetFontSize(self._raw, index)) * math.hypot(matrix.c, matrix.d)
        angle = math.degrees(math.atan2(matrix.b, matrix.a))
        turns = round(angle / 90)
        painted = raw.FPDFText_GetFillColor(self._raw, index, *map(raw.byref, parts))
        colour = [part.value for part in parts]
        mode = raw.FPDFTextObj_GetTextRenderMode(text_object)
        font = raw.FPDFTextObj_GetFont(text_object)
        style = Style(
            size=round(size, 1),
            quarter_turns=turns % 4,
            is_kept=abs(angle - 90 * turns) <= MOST_LEAN and size >= self._smallest,
            is_unseen=mode in INVISIBLE_MODES or bool(painted and colour[3] == 0),
            font=self._font(index, font),
            text_object=text_object,
        )
        if (
            self._covers.may_hide(address, text_object)
            or is_on_layer(text_object)
            or is_cut_off(text_object)
        ):
            style.boxes = []
        elif painted and is_pale(colour):
            style.is_pale, style.boxes = True, []
        return style

    def _font(self, index: int, handle: Any) -> Font:
        address = raw.cast(handle, raw.c_void_p).value
        font = self._fonts.get(address)
        if font is None:
            name, flags = raw.create_string_buffer(128), raw.c_int()
            raw.FPDFText_GetFontInfo(self._raw, index, name, len(name), raw.byref(flags))
            weight = raw.FPDFText_GetFontWeight(self._raw, index)
            font = self._fonts[address] = Font(
                bold=weight >= BOLD_WEIGHT or _is_bold_name(name.value),
                is_embedded=raw.FPDFFont_GetIsEmbedded(handle) == 1,
            )
        return font


def _is_bold_name(name: bytes) -> bool:
    lowered = name.decode("ascii", "ignore").lower()
    return any(mark in lowered for mark in BOLD_NAMES)
