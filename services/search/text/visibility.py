"""Which text of a page nobody can see: it is there to be searched, or to be read by machines only.

Text is suspected for cheap reasons and judged by the picture of the page: if that looks the same
without the text, it is not seen, whether it is white on white, on a hidden layer, cut off, or under
something else.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pypdfium2.raw as raw

Box = tuple[float, float, float, float]
# A colour is nearly that of paper when none of its parts is darker, or when it is so transparent.
PALEST = 200
THINNEST = 60
# A page with more objects than this is a drawing; looking through them takes too long.
MOST_OBJECTS = 3_000
# A smaller filled shape, in points, is a rule or a dot and covers no text.
SMALLEST_COVER = (6.0, 4.0)
# The page is looked at in so many pixels to the point, and never in more pixels than this.
PIXELS_PER_POINT = 1.5
MOST_PIXELS = 4_000_000
# Type that is lower than so many pixels in that picture cannot be judged.
LOWEST_TYPE = 3.0
# Of 255: eyes do not tell apart what differs by less.
LEAST_CONTRAST = 20
LAYER_MARK = "OC"


def is_pale(colour: Sequence[int]) -> bool:
    """Whether text of this red, green, blue and opacity may vanish on paper."""
    return min(colour[:3]) >= PALEST or colour[3] < THINNEST


def is_on_layer(text_object: Any) -> bool:
    """Whether the object belongs to a layer that can be shown or not."""
    for index in range(raw.FPDFPageObj_CountMarks(text_object)):
        name, length = raw.create_string_buffer(8), raw.c_ulong()
        mark = raw.FPDFPageObj_GetMark(text_object, index)
        wide = raw.cast(name, raw.POINTER(raw.FPDF_WCHAR))
        found = raw.FPDFPageObjMark_GetName(mark, wide, len(name), raw.byref(length))
        if found and name.raw[: length.value].decode("utf-16-le").rstrip("\0") == LAYER_MARK:
            return True
    return False


def is_cut_off(text_object: Any) -> bool:
    """Whether the object stands wholly outside of what is shown of it."""
    clip = raw.FPDFPageObj_GetClipPath(text_object)
    paths = raw.FPDFClipPath_CountPaths(clip) if clip else 0
    if paths <= 0:
        return False
    bounds = bounds_of(text_object)
    return bounds is not None and any(
        not _overlap(bounds, _path_bounds(clip, index)) for index in range(paths)
    )


def _path_bounds(clip: Any, index: int) -> Box:
    x, y = raw.c_float(), raw.c_float()
    xs, ys = [], []
    for segment in range(raw.FPDFClipPath_CountPathSegments(clip, index)):
        raw.FPDFPathSegment_GetPoint(
            raw.FPDFClipPath_GetPathSegment(clip, index, segment), raw.byref(x), raw.byref(y)
        )
        xs.append(x.value)
        ys.append(y.value)
    return (min(xs), min(ys), max(xs), max(ys)) if xs else (0.0, 0.0, 0.0, 0.0)


def bounds_of(page_object: Any) -> Box | None:
    """The edges of an object, if it has any."""
    edges = [raw.c_float() for _ in range(4)]
    if not raw.FPDFPageObj_GetBounds(page_object, *map(raw.byref, edges)):
        return None
    left, bottom, right, top = (edge.value for edge in edges)
    return left, bottom, right, top


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


class Covers:
    """The filled shapes of a page, and which of its objects come before them."""

    def __init__(self, page: Any) -> None:
        self._places: dict[int, int] = {}
        self._covers: list[tuple[int, Box]] = []
        self.has_forms = False
        count = raw.FPDFPage_CountObjects(page)
        for place in range(count if count <= MOST_OBJECTS else 0):
            self._look_at(place, raw.FPDFPage_GetObject(page, place))

    def _look_at(self, place: int, page_object: Any) -> None:
        kind = raw.FPDFPageObj_GetType(page_object)
        if kind == raw.FPDF_PAGEOBJ_TEXT:
            address = raw.cast(page_object, raw.c_void_p).value
            if address:
                self._places[address] = place
        elif kind == raw.FPDF_PAGEOBJ_FORM:
            self.has_forms = True
        elif kind == raw.FPDF_PAGEOBJ_PATH and self._places and _is_filled(page_object):
            box = bounds_of(page_object)
            if box and all(box[i + 2] - box[i] >= SMALLEST_COVER[i] for i in (0, 1)):
                self._covers.append((place, box))

    def may_hide(self, address: int, text_object: Any) -> bool:
        """Whether the text was drawn before a shape at its place, or is inside another object."""
        place = self._places.get(address)
        if place is None:
            return self.has_forms
        later = [box for at, box in self._covers if at > place]
        bounds = bounds_of(text_object) if later else None
        return bounds is not None and any(_overlap(bounds, box) for box in later)


def _is_filled(path: Any) -> bool:
    fill, stroke = raw.c_int(), raw.c_int()
    drawn = raw.FPDFPath_GetDrawMode(path, raw.byref(fill), raw.byref(stroke))
    return bool(drawn) and fill.value != raw.FPDF_FILLMODE_NONE


def unseen(page: Any, suspects: Mapping[int, tuple[Any, float, Sequence[Box]]]) -> frozenset[int]:
    """Those of the text objects without which the page looks the same.

    By its address, each has its handle, its type size and the boxes of its letters.
    """
    width, height = page.get_size()
    scale = min(PIXELS_PER_POINT, (MOST_PIXELS / max(width * height, 1.0)) ** 0.5)
    judged = {
        address: boxes
        for address, (_, size, boxes) in suspects.items()
        if boxes and size * scale >= LOWEST_TYPE
    }
    if not judged:
        return frozenset()
    before = _Picture(page, scale)
    handles = [suspects[address][0] for address in judged]
    for handle in handles:
        raw.FPDFPageObj_SetIsActive(handle, False)
    try:
        after = _Picture(page, scale)
    finally:
        for handle in handles:
            raw.FPDFPageObj_SetIsActive(handle, True)
    return frozenset(
        address for address, boxes in judged.items() if not before.differs(after, boxes)
    )


class _Picture:
    """A page in shades of grey."""

    def __init__(self, page: Any, scale: float) -> None:
        left, _, _, top = page.get_cropbox()
        self._left, self._top, self._scale = left, top, scale
        bitmap = page.render(scale=scale, grayscale=True, rotation=-page.get_rotation() % 360)
        try:
            self._width, self._height = bitmap.width, bitmap.height
            self._stride = bitmap.stride
            self._pixels = bytes(bitmap.buffer)
        finally:
            bitmap.close()

    def differs(self, other: "_Picture", boxes: Iterable[Box]) -> bool:
        """Whether the two can be told apart in one of the boxes."""
        return any(
            mine != others
            and max(abs(one - two) for one, two in zip(mine, others, strict=True)) > LEAST_CONTRAST
            for box in boxes
            for mine, others in zip(self._rows(box), other._rows(box), strict=True)
        )

    def _rows(self, box: Box) -> Iterable[bytes]:
        x0 = max(0, int((box[0] - self._left) * self._scale) - 1)
        x1 = min(self._width, int((box[2] - self._left) * self._scale) + 2)
        y0 = max(0, int((self._top - box[3]) * self._scale) - 1)
        y1 = min(self._height, int((self._top - box[1]) * self._scale) + 2)
        for y in range(y0, y1):
            begin = y * self._stride
            yield self._pixels[begin + x0 : begin + max(x0, x1)]
