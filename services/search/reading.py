"""Reading a document in order: a section, pages, or the surroundings of a passage."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.search.errors import InvalidPages, UnknownDocument, UnknownPassage, UnknownSection
from services.search.index import Index
from services.search.index_rows import (
    IndexedDocument,
    IndexedPage,
    IndexedPassage,
    IndexedSection,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPassages:
    """Passages of one document in reading order."""

    document: IndexedDocument
    passages: tuple[IndexedPassage, ...]
    truncated: bool


class DocumentReader:
    """Reads committed documents."""

    def __init__(self, index: Index) -> None:
        self._index = index

    async def document(self, document_id: str) -> IndexedDocument:
        """The visible document with this id; raises UnknownDocument."""
        document = (await self._index.documents()).by_id.get(document_id)
        if document is None:
            raise UnknownDocument(
                f"No document {document_id!r} is in the index.", document_id=document_id
            )
        return document

    async def sections(self, document: IndexedDocument) -> tuple[IndexedSection, ...]:
        """The sections of a document, in reading order."""
        return await self._index.sections(document)

    async def read_section(
        self, document: IndexedDocument, section_id: str, max_words: int
    ) -> ReadPassages:
        """A section with the sections inside it; raises UnknownSection."""
        inside = sections_inside(await self._index.sections(document), section_id)
        if not inside:
            raise UnknownSection(
                f"Document {document.document_id!r} has no section {section_id!r}.",
                section_id=section_id,
            )
        passages = await self._index.passages_of(document)
        return cut(document, [one for one in passages if one.section_id in inside], max_words)

    async def read_pages(
        self, document: IndexedDocument, first: int, last: int, max_words: int
    ) -> ReadPassages:
        """The passages that stand, wholly or in part, on these pages; raises InvalidPages."""
        if not 0 <= first <= last or first >= max(document.page_count, 1):
            raise InvalidPages(
                f"Pages {first} to {last} are not pages of {document.document_id!r}: physical "
                f"pages count from 0 and it has {document.page_count}."
            )
        passages = await self._index.passages_of(document)
        chosen = [
            one for one in passages if any(first <= span.page_index <= last for span in one.spans)
        ]
        return cut(document, chosen, max_words)

    async def read_around(
        self, passage_id: str, document_id: str, *, before: int, after: int, max_words: int
    ) -> ReadPassages:
        """A passage and its neighbours; raises UnknownPassage, UnknownDocument."""
        documents = await self._index.documents()
        passage = (await self._index.passages([passage_id], documents)).get(passage_id)
        if document_id:
            await self.document(document_id)
        if passage is None or document_id not in ("", passage.document_id):
            where = f" in document {document_id!r}" if document_id else ""
            raise UnknownPassage(f"No passage {passage_id!r} is{where} in the index.")
        document = documents.by_id[passage.document_id]
        passages = await self._index.passages_of(document)
        low, high = passage.ordinal - before, passage.ordinal + after
        return cut(document, [one for one in passages if low <= one.ordinal <= high], max_words)

    async def read(self, document: IndexedDocument, max_words: int) -> ReadPassages:
        """A document from its beginning."""
        return cut(document, await self._index.passages_of(document), max_words)

    async def pages(self, document: IndexedDocument) -> list[IndexedPage]:
        """The text of a document page by page; one page with index -1 for a text without pages."""
        return await self._index.pages_of(document)


def sections_inside(sections: Sequence[IndexedSection], section_id: str) -> frozenset[str]:
    """The ids of a section and of the deeper ones that follow it; empty when it is unknown."""
    start = next((n for n, one in enumerate(sections) if one.section_id == section_id), None)
    if start is None:
        return frozenset()
    inside = [section_id]
    for section in sections[start + 1 :]:
        if section.level <= sections[start].level:
            break
        inside.append(section.section_id)
    return frozenset(inside)


def cut(
    document: IndexedDocument, passages: Sequence[IndexedPassage], max_words: int
) -> ReadPassages:
    """The first passages, up to and with the one that reaches so many words."""
    kept = []
    words = 0
    for passage in passages:
        if words >= max_words:
            break
        kept.append(passage)
        words += passage.words
    return ReadPassages(
        document=document, passages=tuple(kept), truncated=len(kept) < len(passages)
    )
