"""Sections from the outline that the file itself has, where it fits the text."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from services.search.text.document_text import BlockKind, OutlineEntry
from services.search.text.heading_names import comparable, is_known, is_reference_list
from services.search.text.parts import Mark, Part

# An outline is taken when this share of its titles is found on the pages it names.
OUTLINE_SHARE = 0.5
# Its title and the printed one may differ by a sign that one of them cannot show.
ALIKE = 0.8
# A title that runs into its paragraph is looked for at the paragraph's beginning.
BEGINNING = 300


def outline_marks(
    outline: Sequence[OutlineEntry], parts: Sequence[Part], headings: Sequence[Mark]
) -> list[Mark]:
    """The outline's sections at the places of their titles; empty if it does not fit the text."""
    finder = _TitleFinder(parts)
    marks: list[Mark] = []
    found = 0
    for entry in outline:
        mark = finder.find(entry)
        found += mark is not None
        if mark is None:
            mark = finder.page_start(entry)
        if mark is not None:
            marks.append(mark)
    if len(marks) < 2 or found < OUTLINE_SHARE * len(outline):
        return []
    marks = _without_document_title(marks)
    return sorted([*marks, *_left_out(marks, parts, headings)], key=lambda mark: mark.part)


class _TitleFinder:
    """Looks for titles in the order of the text, never before the last one found."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts
        self._by_page: dict[int, list[int]] = defaultdict(list)
        for index, part in enumerate(parts):
            self._by_page[part.page].append(index)
        self._names = [comparable(part.text[:BEGINNING]) for part in parts]
        self._earliest = 0

    def find(self, entry: OutlineEntry) -> Mark | None:
        """The paragraph that is the title or begins with it, on its page or the one after."""
        wanted = comparable(entry.title)
        if not wanted:
            return None
        near = list(self._from(entry.page_index, entry.page_index + 1))
        heading = next((index for index in near if self._names[index] == wanted), None)
        running_in = next((index for index in near if self._names[index].startswith(wanted)), None)
        if heading is None and running_in is None:
            heading = next((index for index in near if self._is_alike(index, wanted)), None)
        if heading is not None:
            self._earliest = heading + 1
            title = " ".join(self._parts[heading].text.split())
            return Mark(part=heading, title=title, level=entry.level)
        return self._unprinted(entry, running_in)

    def page_start(self, entry: OutlineEntry) -> Mark | None:
        """The first paragraph of the page that the entry names, or of the next one with text."""
        last = self._parts[-1].page if self._parts else -1
        return self._unprinted(entry, next(self._from(entry.page_index, last), None))

    def _unprinted(self, entry: OutlineEntry, index: int | None) -> Mark | None:
        if index is None:
            return None
        self._earliest = index
        return Mark(part=index, title=entry.title, level=entry.level, is_heading=False)

    def _from(self, first_page: int, last_page: int) -> Iterator[int]:
        for page in range(first_page, last_page + 1):
            yield from (index for index in self._by_page[page] if index >= self._earliest)

    def _is_alike(self, index: int, wanted: str) -> bool:
        if self._parts[index].kind is not BlockKind.HEADING:
            return False
        return SequenceMatcher(None, self._names[index], wanted).ratio() >= ALIKE


def _left_out(marks: Sequence[Mark], parts: Sequence[Part], headings: Sequence[Mark]) -> list[Mark]:
    """Headings with well-known names that outlines often lack: abstract, reference list."""
    taken = {mark.part for mark in marks}
    smallest = min((parts[mark.part].size for mark in marks if mark.is_heading), default=0.0)
    return [
        mark
        for mark in headings
        if mark.part not in taken
        and is_known(mark.title)
        and (
            not mark.is_heading
            or parts[mark.part].size >= smallest
            or is_reference_list(mark.title)
        )
    ]


def _without_document_title(marks: list[Mark]) -> list[Mark]:
    """Lift everything by a level if all of it is below one entry, the document's title."""
    if sum(mark.level == 1 for mark in marks) != 1 or marks[0].level != 1:
        return marks
    return [replace(mark, level=mark.level - 1) for mark in marks[1:]]
