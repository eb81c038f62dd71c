"""From a planned document and what was read of it to what the index holds."""

from collections.abc import Sequence
from dataclasses import replace

from services.search import index_schema as schema
from services.search.index_rows import (
    IndexedDocument,
    IndexedPage,
    IndexedPassage,
    IndexedSection,
    IndexedSpan,
    IndexedText,
    Reading,
)
from services.search.library.planned import Planned
from services.search.text.document_text import (
    PagedText,
    PassageText,
    Section,
    Span,
    StructuredText,
)

NO_PAGE = -1


def file_text(
    planned: Planned, fingerprint: str, paged: PagedText, structured: StructuredText
) -> IndexedText:
    """A file's text; read in part when the reader gave both pages and a reason."""
    reading = Reading.FULL
    if paged.unread is not None:
        reading = Reading.PARTIAL if structured.passages else Reading.UNREADABLE
    elif not structured.passages:
        # Nothing but a list of references, or blank pages.
        reading = Reading.UNREADABLE
    detail = paged.detail
    if reading is Reading.UNREADABLE and not detail:
        detail = "The file holds no text to search."
    document = _document(
        planned,
        fingerprint,
        structured,
        page_count=paged.page_count,
        reading=reading,
        reason=detail,
        skip=paged.unread.value if paged.unread else "",
    )
    pages = [
        IndexedPage(page_index=page.index, page_label=page.label, text=page.text)
        for page in paged.pages
    ]
    return _indexed(document, structured, pages)


def plain_text(planned: Planned, fingerprint: str, structured: StructuredText) -> IndexedText:
    """An abstract, a note or an annotation, which may be known to stand on a page."""
    place = planned.place
    if place is not None:
        structured = replace(
            structured,
            passages=tuple(_placed(planned, passage) for passage in structured.passages),
        )
    reading = Reading.FULL if structured.passages else Reading.UNREADABLE
    document = _document(
        planned, fingerprint, structured, page_count=0, reading=reading, reason=planned.detail
    )
    page = IndexedPage(
        page_index=place.page_index if place else NO_PAGE,
        page_label=place.page_label if place else "",
        text=planned.text,
    )
    return _indexed(document, structured, [page] if planned.text else [])


def unread_text(planned: Planned, fingerprint: str) -> IndexedText:
    """A document that cannot be read, kept with its reason."""
    nothing = StructuredText(sections=(), passages=())
    document = _document(
        planned,
        fingerprint,
        nothing,
        page_count=0,
        reading=Reading.UNREADABLE,
        reason=planned.detail,
        skip=planned.unread.value if planned.unread else "",
    )
    return _indexed(document, nothing, [])


def with_facts(planned: Planned, fingerprint: str, document: IndexedDocument) -> IndexedDocument:
    """The indexed document with the facts of the plan; its text and its generation stay."""
    return replace(
        document,
        fingerprint=fingerprint,
        library=planned.library,
        item_key=planned.item_key,
        attachment_key=planned.attachment_key,
        kind=planned.kind,
        title=planned.title,
        creators=planned.creators,
        year=planned.year,
        citation_key=planned.citation_key,
        tags=planned.tags,
        collections=planned.collections,
    )


def retitled(
    document: IndexedDocument,
    sections: Sequence[IndexedSection],
    passages: Sequence[IndexedPassage],
    pages: Sequence[IndexedPage],
) -> IndexedText:
    """The same text under the document's new title, as a new generation."""
    fresh = replace(document, generation=schema.new_generation())
    return IndexedText(
        document=fresh,
        sections=tuple(sections),
        passages=tuple(
            replace(
                passage,
                generation=fresh.generation,
                digest=schema.digest_of(fresh.title, passage.text),
            )
            for passage in passages
        ),
        pages=tuple(pages),
    )


def _document(
    planned: Planned,
    fingerprint: str,
    structured: StructuredText,
    *,
    page_count: int,
    reading: Reading,
    reason: str,
    skip: str = "",
) -> IndexedDocument:
    return IndexedDocument(
        document_id=planned.document_id,
        generation=schema.new_generation(),
        library=planned.library,
        item_key=planned.item_key,
        attachment_key=planned.attachment_key,
        kind=planned.kind,
        title=planned.title,
        creators=planned.creators,
        year=planned.year,
        citation_key=planned.citation_key,
        tags=planned.tags,
        collections=planned.collections,
        page_count=page_count,
        reading=reading,
        reading_reason=reason,
        skip=skip,
        fingerprint=fingerprint,
        passages=len(structured.passages),
        words=sum(passage.words for passage in structured.passages),
    )


def _indexed(
    document: IndexedDocument, structured: StructuredText, pages: Sequence[IndexedPage]
) -> IndexedText:
    return IndexedText(
        document=document,
        sections=tuple(_section(section) for section in structured.sections),
        passages=tuple(_passage(document, passage) for passage in structured.passages),
        pages=tuple(pages),
    )


def _section(section: Section) -> IndexedSection:
    return IndexedSection(
        section_id=section.section_id,
        title=section.title,
        level=section.level,
        path=section.path,
        first_page_index=section.first_page_index,
        last_page_index=section.last_page_index,
        words=section.words,
    )


def _passage(document: IndexedDocument, passage: PassageText) -> IndexedPassage:
    return IndexedPassage(
        passage_id=passage.passage_id,
        document_id=document.document_id,
        generation=document.generation,
        ordinal=passage.ordinal,
        section_id=passage.section_id,
        section_path=passage.section_path,
        text=passage.text,
        words=passage.words,
        spans=tuple(
            IndexedSpan(
                start=span.start,
                end=span.end,
                page_index=span.page_index,
                page_label=span.page_label,
                page_start=span.page_start,
            )
            for span in passage.spans
        ),
        digest=schema.digest_of(document.title, passage.text),
    )


def _placed(planned: Planned, passage: PassageText) -> PassageText:
    """The passage of an annotation with its page; where in the page's text is not known."""
    assert planned.place is not None
    start = max(planned.text.find(passage.text), 0)
    span = Span(
        start=0,
        end=len(passage.text),
        page_index=planned.place.page_index,
        page_label=planned.place.page_label,
        page_start=start,
    )
    return replace(passage, spans=(span,))
