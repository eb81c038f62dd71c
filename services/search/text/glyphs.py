"""The characters of a PDF page as pdfium sees them: which are visible, where, and how large."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pypdfium2.raw as raw  # the C interface with its own names for C types

from services.search.text.characters import BREAK, LINE_ENDS, is_plain, readable
from services.search.text.fragments import Fragment, FragmentBuilder, Frame, PageContent, Word
from services.search.text.styles import Style, Styles
from services.search.text.visibility import Box, unseen

# A page of a book has some 5,000 characters; more than a large poster has is no reading matter.
MOST_CHARACTERS = 200_000
# A picture that covers this share of the page is a scan.
SCAN_SHARE = 0.5
# A picture that covers less of the page than this is no scan of text.
SMALLEST_SCAN = 0.1
# The direction that vertical writing is turned by: from top to bottom, lines from the right.
VERTICAL = 3


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
        self._styles = Styles(page, self._raw)
        self._rectangle = raw.FS_RECTF()
        self._by_rectangle = raw.byref(self._rectangle)
        self._pictures: list[Box] | None = None
        self._builders: dict[int, FragmentBuilder] = {}
        self._sizes = {0: 0, 1: 0, 2: 0, 3: 0}
        self._characters = 0
        self._unmapped = 0
        self._downward = 0
        self._is_vertical = False
        self._before: Box = (0.0, 0.0, 0.0, 0.0)

    def read(self) -> PageContent:
        """The page; words are taken whole where they can be, since every call costs."""
        codes = self._codes()
        self._take_words(codes)
        self._is_vertical = self._downward > self._characters // 2
        if self._hide_unseen() or self._is_vertical:
            self._builders.clear()
            self._sizes = {0: 0, 1: 0, 2: 0, 3: 0}
            self._characters = self._unmapped = 0
            self._take_words(codes)
        return self._content()

    def _hide_unseen(self) -> bool:
        """Mark the text that the page looks the same without; whether there is any."""
        is_any = False
        # Pale letters on a shape stand where it covers others, so they are judged apart.
        for is_pale in (False, True):
            suspects = self._styles.suspects(is_pale=is_pale)
            letters = {
                address: (style.text_object, style.size, style.boxes or ())
                for address, style in suspects.items()
            }
            for address in unseen(self._page, letters):
                suspects[address].is_unseen = is_any = True
        return is_any

    def _take_words(self, codes: str) -> None:
        start = 0
        for end in [*(match.start() for match in BREAK.finditer(codes)), len(codes)]:
            if start < end:
                self._take_word(codes, start, end)
            for builder in self._builders.values():
                # In vertical lines pdfium takes every step down for the end of one.
                if self._is_vertical or codes[end : end + 1] in LINE_ENDS:
                    builder.line_end()
                else:
                    builder.space()
            start = end + 1

    def _codes(self) -> str:
        """The characters of the page, each at its own index."""
        count = min(self._count, MOST_CHARACTERS)
        buffer = (raw.c_ushort * (count + 1))()
        given = raw.FPDFText_GetText(self._raw, 0, count, buffer) - 1
        text = bytes(buffer)[: 2 * max(given, 0)].decode("utf-16-le", "surrogatepass")
        if len(text) == count:
            return text
        # pdfium leaves control characters out, and those beyond 16 bits take two places.
        codes = (raw.FPDFText_GetUnicode(self._raw, index) for index in range(count))
        return "".join(chr(code) if code <= 0x10FFFF else "\ufffd" for code in codes)

    def _take_word(self, codes: str, start: int, end: int) -> None:
        """The characters between two breaks, those of each text object together."""
        object_of = text_object_of()
        while start < end:
            pointer, stop = object_of(self._raw, start), end
            if end - start > 1 and object_of(self._raw, end - 1) != pointer:
                stop = next(
                    index
                    for index in range(start + 1, end)
                    if object_of(self._raw, index) != pointer
                )
            style = self._styles.of(start, pointer)
            if style.is_kept and not self._take_whole(codes[start:stop], start, style):
                for index in range(start, stop):
                    self._take(index, codes[index], style, self._box(index))
            start = stop

    def _take_whole(self, word: str, start: int, style: Style) -> bool:
        """Take a word of one object that simply goes from left to right; whether it does."""
        if style.quarter_turns or self._is_vertical:
            return False
        if not style.font.plain.issuperset(word) and not self._learn(word, start, style):
            return False
        first = last = self._box(start)
        if len(word) > 1:
            last = self._box(start + len(word) - 1)
        is_level = first[1] == last[1] and first[0] <= last[0]
        if not (is_level and self._is_on_page(first) and self._is_on_page(last)):
            return False
        if style.is_unseen and not (self._over_picture(first) and self._over_picture(last)):
            return False
        glyphs = Word(
            text="".join([style.font.letters[char] for char in word]),
            first=first[::2],
            last=last[::2],
            index=start,
        )
        if style.boxes is not None:
            style.boxes.append((first[0], first[1], last[2], first[3]))
        builder = self._builder(0)
        y = self._base_line(start, style, first)
        if not builder.add_word(glyphs, y, style.size, style.font.bold):
            return False
        self._characters += len(word)
        self._sizes[0] += len(word)
        return True

    def _learn(self, word: str, start: int, style: Style) -> bool:
        """Look up the characters of a word that the font has not shown yet; whether all are plain.

        A code means the same throughout a font.
        """
        for offset, char in enumerate(word):
            if char not in style.font.letters:
                letter = style.font.letters[char] = self._letter(start + offset, char)
                if letter and all(map(is_plain, letter)):
                    style.font.plain.add(char)
        return style.font.plain.issuperset(word)

    def _take(self, index: int, char: str, style: Style, box: Box) -> None:
        if not self._is_on_page(box) or (style.is_unseen and not self._over_picture(box)):
            return
        if style.boxes is not None:
            style.boxes.append(box)
        self._characters += 1
        letters = style.font.letters.get(char)
        if letters is None:
            letters = style.font.letters[char] = self._letter(index, char)
        if not letters:
            self._unmapped += 1
            return
        turns = style.quarter_turns
        if self._is_vertical and not turns:
            # The same as a line turned clockwise: on along the sheet, the next one to the left.
            turns = VERTICAL
            x0, x1, y = -box[3], -box[1], (box[0] + box[2]) / 2
        elif turns:
            x0, x1, y = _upright(box, self._origin(index), turns)
        else:
            self._downward += self._is_below(box, style.size)
            x0, x1, y = box[0], box[2], self._base_line(index, style, box)
        self._sizes[turns] += 1
        for letter in letters:
            self._builder(turns).add(letter, x0, x1, y, style.size, style.font.bold)

    def _is_below(self, box: Box, size: float) -> bool:
        """Whether the character stands right below the one before it, as in vertical writing."""
        before, self._before = self._before, box
        step = before[3] - box[3]
        return 0.6 * size < step < 1.8 * size and abs(box[0] - before[0]) < 0.3 * size

    def _builder(self, turns: int) -> FragmentBuilder:
        builder = self._builders.get(turns)
        if builder is None:
            builder = self._builders[turns] = FragmentBuilder(lambda index: self._box(index)[::2])
        return builder

    def _letter(self, index: int, char: str) -> str:
        if raw.FPDFText_HasUnicodeMapError(self._raw, index) == 1:
            return ""
        return readable(ord(char))

    def _box(self, index: int) -> Box:
        box = self._rectangle
        raw.FPDFText_GetLooseCharBox(self._raw, index, self._by_rectangle)
        return box.left, box.bottom, box.right, box.top

    def _is_on_page(self, box: Box) -> bool:
        left, bottom, right, top = self._crop
        return left <= (box[0] + box[2]) / 2 <= right and bottom <= (box[1] + box[3]) / 2 <= top

    def _base_line(self, index: int, style: Style, box: Box) -> float:
        if box[1] != style.bottom:
            style.bottom, style.y = box[1], self._origin(index)[1]
        return style.y

    def _origin(self, index: int) -> tuple[float, float]:
        x, y = raw.c_double(), raw.c_double()
        raw.FPDFText_GetCharOrigin(self._raw, index, raw.byref(x), raw.byref(y))
        return x.value, y.value

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
        return sum(map(self._share, self._picture_boxes())) >= SCAN_SHARE

    def _share(self, box: Box) -> float:
        """How much of the page the box covers."""
        left, bottom, right, top = self._crop
        width = max(0.0, min(right, box[2]) - max(left, box[0]))
        height = max(0.0, min(top, box[3]) - max(bottom, box[1]))
        return width * height / max((right - left) * (top - bottom), 1.0)

    def _picture_boxes(self) -> list[Box]:
        """Where pictures are that may be scans; a mark of the publisher is none."""
        if self._pictures is None:
            images = self._page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)
            boxes = [image.get_bounds() for image in images]
            whole = sum(map(self._share, boxes)) >= SCAN_SHARE  # a scan may come in strips
            self._pictures = [box for box in boxes if whole or self._share(box) >= SMALLEST_SCAN]
        return self._pictures


@cache
def text_object_of() -> Callable[[Any, int], int | None]:
    """`FPDFText_GetTextObject` giving an address: a pointer object per character costs more."""
    prototype = raw.CFUNCTYPE(raw.c_void_p, raw.FPDF_TEXTPAGE, raw.c_int)
    address = raw.cast(raw.FPDFText_GetTextObject, raw.c_void_p).value or 0
    function: Callable[[Any, int], int | None] = prototype(address)
    return function


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
