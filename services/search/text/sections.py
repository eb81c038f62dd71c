"""A document's sections, from its outline or else from its headings, without reference lists."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.search.text.document_text import BlockKind, PagedText
from services.search.text.heading_names import is_reference_list
from services.search.text.headings import headings
from services.search.text.outline import outline_marks
from services.search.text.parts import Mark, Part, parts_of, told_marks

FRONT_MATTER = "Front matter"
FULL_TEXT = "Full text"
CAPTIONS = "Figures and tables"
REFERENCE_ENTRY = re.compile(r"\s*(?:\[\w{1,12}\]|\(?\d{1,3}[.)])\s.*(?:19|20)\d\d", re.DOTALL)
FEWEST_ENTRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A section and its own paragraphs."""

    title: str
    level: int
    page: int
    """Where its heading is."""
    parts: tuple[Part, ...]


def divide(paged: PagedText) -> tuple[Stretch, ...]:
    """The sections in reading order; reference lists are left out."""
    parts = parts_of(paged.pages)
    if not (marks := told_marks(parts)) and not paged.is_without_pages:
        found = headings(parts)
        marks = outline_marks(paged.outline, parts, found) or found
    ends = (
        _reference_tail(parts) if not any(is_reference_list(m.title) for m in marks) else len(parts)
    )
    return _stretches(parts[:ends], [mark for mark in marks if mark.part < ends])


def _reference_tail(parts: Sequence[Part]) -> int:
    """Where a reference list without a heading begins at the end of the text; else the end."""
    begin = len(parts)
    misses = 0
    for index in range(len(parts) - 1, len(parts) // 2, -1):
        if REFERENCE_ENTRY.match(parts[index].text):
            begin, misses = index, 0
        elif (misses := misses + 1) > 2:
            break
    entries = sum(REFERENCE_ENTRY.match(part.text) is not None for part in parts[begin:])
    return begin if entries >= FEWEST_ENTRIES else len(parts)


def _stretches(parts: Sequence[Part], marks: Sequence[Mark]) -> tuple[Stretch, ...]:
    stretches: list[Stretch] = []
    first = marks[0].part if marks else len(parts)
    if first:
        title = FRONT_MATTER if marks else FULL_TEXT
        stretches.append(
            Stretch(title=title, level=1, page=parts[0].page, parts=tuple(parts[:first]))
        )
    ends = [*(mark.part for mark in marks[1:]), len(parts)]
    for mark, end in zip(marks, ends, strict=False):
        if is_reference_list(mark.title):
            stretches.extend(_captions(mark, parts[mark.part : end]))
            continue
        begin = mark.part + 1 if mark.is_heading else mark.part
        stretches.append(
            Stretch(
                title=mark.title,
                level=mark.level,
                page=parts[mark.part].page,
                parts=tuple(parts[begin:end]),
            )
        )
    return tuple(stretches)


def _captions(mark: Mark, parts: Sequence[Part]) -> list[Stretch]:
    """The captions that stand among or after the references, as in manuscripts."""
    captions = tuple(part for part in parts if part.kind is BlockKind.CAPTION)
    if not captions:
        return []
    return [Stretch(title=CAPTIONS, level=mark.level, page=captions[0].page, parts=captions)]
