"""Between the wire and the values of search, both ways."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from services.chassis.errors import InvalidRequest
from services.search.engine import ScoredPassage, SearchResult
from services.search.index_rows import (
    IndexedDocument,
    IndexedPage,
    IndexedPassage,
    IndexedSection,
    Kind,
    Reading,
)
from services.search.library.progress import Progress
from services.search.library_state import Unfinished
from services.search.listing import Choices, Count, DocumentPage
from services.search.quotes import Leaf, MatchKind, QuoteMatch
from services.search.reading import ReadPassages
from services.search.scope import Scope
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.search.v1 import search_pb2 as pb

KINDS = {
    Kind.PDF: corpus.DOCUMENT_KIND_PDF,
    Kind.WEB_PAGE: corpus.DOCUMENT_KIND_WEB_PAGE,
    Kind.EPUB: corpus.DOCUMENT_KIND_EPUB,
    Kind.TEXT: corpus.DOCUMENT_KIND_TEXT,
    Kind.ABSTRACT: corpus.DOCUMENT_KIND_ABSTRACT,
    Kind.NOTE: corpus.DOCUMENT_KIND_NOTE,
    Kind.ANNOTATION: corpus.DOCUMENT_KIND_ANNOTATION,
    Kind.OTHER: corpus.DOCUMENT_KIND_UNSPECIFIED,
}
READINGS = {
    reading: corpus.ReadingState.Value(f"READING_STATE_{reading.name}") for reading in Reading
}
MATCHES = {kind: pb.QuoteMatchKind.Value(f"QUOTE_MATCH_KIND_{kind.name}") for kind in MatchKind}


def scope_of(scope: corpus.Scope) -> Scope:
    """The scope of a request: absent choices restrict nothing, empty ones let nothing through."""
    return Scope(
        libraries=_selection(scope.libraries) if scope.HasField("libraries") else None,
        collections=_selection(scope.collections) if scope.HasField("collections") else None,
        tags=_selection(scope.tags) if scope.HasField("tags") else None,
        year_from=scope.year_from if scope.HasField("year_from") else None,
        year_to=scope.year_to if scope.HasField("year_to") else None,
        items=(
            frozenset((item.library, item.key) for item in scope.items.items)
            if scope.HasField("items")
            else None
        ),
        prefer_marked=scope.prefer_marked,
        searches=_selection(scope.saved_searches) if scope.HasField("saved_searches") else None,
    )


def bounded(name: str, value: int, *, default: int = 0, most: int) -> int:
    """A number of a request, 0 meaning the default; raises InvalidRequest."""
    if not 0 <= value <= most:
        raise InvalidRequest(
            f"Field {name!r} is {value}; it must be 0 to {most}; 0 means {default}."
        )
    return value or default


def leaves_of_passages(passages: Iterable[corpus.Passage]) -> list[Leaf]:
    """Passages of a request as text to search a quote in."""
    return [Leaf(text=passage.text) for passage in passages]


def leaves_of_pages(pages: Iterable[IndexedPage]) -> list[Leaf]:
    """Pages as text to search a quote in."""
    return [
        Leaf(text=page.text, page_index=page.page_index, page_label=page.page_label)
        for page in pages
    ]


def document_to_proto(document: IndexedDocument) -> corpus.Document:
    """A document without its text."""
    return corpus.Document(
        document_id=document.document_id,
        item=corpus.ItemRef(library=document.library, key=document.item_key),
        attachment_key=document.attachment_key,
        title=document.title,
        creators=document.creators,
        year=document.year,
        citation_key=document.citation_key,
        kind=KINDS[document.kind],
        reading_state=READINGS[document.reading],
        reading_reason=document.reading_reason,
        page_count=document.page_count,
    )


def passage_to_proto(passage: IndexedPassage, document: IndexedDocument) -> corpus.Passage:
    """A passage with its document."""
    return corpus.Passage(
        passage_id=passage.passage_id,
        document=document_to_proto(document),
        section_path=passage.section_path,
        text=passage.text,
        page_spans=[
            corpus.PageSpan(
                start=span.start,
                end=span.end,
                page_index=span.page_index,
                page_label=span.page_label,
            )
            for span in passage.spans
        ],
        ordinal=passage.ordinal,
    )


def hit_to_proto(hit: ScoredPassage) -> pb.Hit:
    """A passage with the reasons it was found."""
    return pb.Hit(
        passage=passage_to_proto(hit.passage, hit.document),
        score=hit.score,
        bm25_rank=hit.bm25_rank,
        vector_rank=hit.vector_rank,
        similarity=hit.similarity,
    )


def search_to_proto(result: SearchResult) -> pb.SearchCorpusResponse:
    """The reply to a search."""
    return pb.SearchCorpusResponse(
        hits=[hit_to_proto(hit) for hit in result.hits],
        documents_in_scope=result.documents_in_scope,
        vectors=pb.VectorCoverage(done=result.vectors_done, total=result.vectors_total),
        degraded=result.degraded,
    )


def toc_to_proto(
    document: IndexedDocument, sections: Sequence[IndexedSection], pages: Sequence[IndexedPage]
) -> pb.GetDocumentTocResponse:
    """A document's sections with the labels of their pages."""
    labels = {page.page_index: page.page_label for page in pages}
    return pb.GetDocumentTocResponse(
        document=document_to_proto(document),
        entries=[
            pb.TocEntry(
                section_id=section.section_id,
                title=section.title,
                level=section.level,
                first_page_index=section.first_page_index,
                last_page_index=section.last_page_index,
                first_page_label=labels.get(section.first_page_index, ""),
                last_page_label=labels.get(section.last_page_index, ""),
                words=section.words,
            )
            for section in sections
        ],
    )


def read_to_proto(read: ReadPassages) -> pb.ReadDocumentResponse:
    """Passages in reading order."""
    return pb.ReadDocumentResponse(
        document=document_to_proto(read.document),
        passages=[passage_to_proto(passage, read.document) for passage in read.passages],
        truncated=read.truncated,
    )


def page_match_to_proto(match: QuoteMatch, leaf: Leaf, document_id: str) -> pb.QuoteMatch:
    """A match on a page of a document."""
    return pb.QuoteMatch(
        document_id=document_id,
        kind=MATCHES[match.kind],
        page_index=leaf.page_index,
        page_label=leaf.page_label,
        start=match.start,
        end=match.end,
        text=match.text,
        score=match.score,
    )


def passage_match_to_proto(match: QuoteMatch, passage: corpus.Passage) -> pb.QuoteMatch:
    """A match in a passage of the request, on the page that the passage's spans give."""
    on = next((span for span in passage.page_spans if span.start <= match.start < span.end), None)
    return pb.QuoteMatch(
        document_id=passage.document.document_id,
        passage_id=passage.passage_id,
        kind=MATCHES[match.kind],
        page_index=on.page_index if on else -1,
        page_label=on.page_label if on else "",
        start=match.start,
        end=match.end,
        text=match.text,
        score=match.score,
    )


def progress_to_proto(progress: Progress) -> pb.SyncProgress:
    """A report of a sync."""
    return pb.SyncProgress(
        phase=pb.SyncPhase.Value(f"SYNC_PHASE_{progress.phase.name}"),
        done=progress.done,
        total=progress.total,
        current=progress.current,
        error=progress.error,
    )


def unfinished_to_proto(unfinished: Unfinished) -> pb.SyncProgress:
    """A sync that was cut short."""
    return pb.SyncProgress(
        phase=pb.SYNC_PHASE_TEXT,
        done=unfinished.done,
        total=unfinished.total,
        current=unfinished.current,
    )


def choices_to_proto(found: Choices) -> pb.ListCollectionsResponse:
    """What a scope can name."""
    return pb.ListCollectionsResponse(
        libraries=[
            pb.LibraryEntry(library=name, title=title, count=count_to_proto(count))
            for name, title, count in found.libraries
        ],
        collections=[
            pb.CollectionEntry(
                collection=one.path,
                name=one.name,
                parent=one.parent,
                count=count_to_proto(count),
            )
            for one, count in found.collections
        ],
        saved_searches=[
            pb.SavedSearchEntry(
                saved_search=one.path,
                name=one.name,
                count=count_to_proto(count),
                unsupported=one.unsupported,
            )
            for one, count in found.searches
        ],
        tags=[
            pb.TagEntry(library=library, tag=tag, automatic=automatic, count=count_to_proto(count))
            for library, tag, automatic, count in found.tags
        ],
    )


def count_to_proto(count: Count) -> pb.ScopeCount:
    """How much a part of the library holds."""
    return pb.ScopeCount(items=count.items, documents=count.documents)


def document_page_to_proto(
    page: DocumentPage, aliases: Mapping[str, str]
) -> pb.ListDocumentsResponse:
    """A page of documents, each with the keys that it also goes by."""
    others: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path, kept in sorted(aliases.items()):
        library, _, key = path.rpartition("/")
        others[library, kept].append(key)
    return pb.ListDocumentsResponse(
        documents=[
            pb.DocumentEntry(document=document_to_proto(one), alias_keys=others.get(one.item, ()))
            for one in page.documents
        ],
        count=count_to_proto(page.count),
        next_cursor=page.next_cursor,
    )


def skips_to_proto(documents: Iterable[IndexedDocument]) -> list[pb.Skip]:
    """The documents that gave no text, or not all of it, by their titles."""
    return [
        pb.Skip(
            item=corpus.ItemRef(library=document.library, key=document.item_key),
            attachment_key=document.attachment_key,
            title=document.title,
            reason=pb.SkipReason.Value(f"SKIP_REASON_{document.skip.upper()}"),
            detail=document.reading_reason,
        )
        for document in sorted(documents, key=lambda one: (one.title, one.document_id))
        if document.skip
    ]


def selection_of(request: pb.ListCollectionsRequest) -> frozenset[str] | None:
    """The libraries of a request; None when it names none."""
    return _selection(request.libraries) if request.HasField("libraries") else None


def _selection(selection: corpus.Selection) -> frozenset[str]:
    return frozenset(selection.values)
