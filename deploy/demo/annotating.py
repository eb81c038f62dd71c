"""Turns a reader's mark on a sentence into an annotation where the sentence was printed."""

from deploy.demo.content import Annotation
from deploy.demo.database import AnnotationRow
from deploy.demo.pages import MarkPlace, Rectangle
from deploy.demo.typeset import Printed

_NOTE_ICON = 22.0


def annotation_row(printed: Printed, annotation: Annotation) -> AnnotationRow:
    """Return the annotation's columns; one that spans pages covers what is on the first."""
    places = printed.marks[annotation.mark]
    first = places[0]
    on_page = [one.rectangle for one in places if one.page == first.page]
    is_note = annotation.kind == "note"
    return AnnotationRow(
        kind=annotation.kind,
        text=None if is_note else printed.paper.marks[annotation.mark],
        comment=annotation.comment,
        color=annotation.color,
        page_index=first.page,
        page_label=printed.labels[first.page],
        sort_index=_sort_index(first, printed.page_height),
        rectangles=[_icon_beside(first.rectangle)] if is_note else on_page,
    )


def _sort_index(place: MarkPlace, page_height: float) -> str:
    top = round(page_height - place.rectangle[3])
    return f"{place.page:05d}|{place.offset:06d}|{top:05d}"


def _icon_beside(rectangle: Rectangle) -> Rectangle:
    left, top = max(rectangle[0] - _NOTE_ICON, 2.0), rectangle[3]
    return left, round(top - _NOTE_ICON, 2), round(left + _NOTE_ICON, 2), top
