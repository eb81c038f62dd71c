"""A passage of the library as the wire tells it: its text, its pages, where it opens."""

from zocrates.corpus.v1 import passage_pb2 as corpus


def evidence_of(passage: corpus.Passage) -> dict[str, object]:
    """A passage with its document."""
    document = passage.document
    kind = corpus.DocumentKind.Name(document.kind).removeprefix("DOCUMENT_KIND_").lower()
    reading = corpus.ReadingState.Name(document.reading_state)
    return {
        **text_of(passage),
        "document_id": document.document_id,
        "library": document.item.library,
        "item_key": document.item.key,
        "attachment_key": document.attachment_key,
        "title": document.title,
        "creators": list(document.creators),
        "year": document.year,
        "kind": kind,
        "reading_state": reading.removeprefix("READING_STATE_").lower(),
        "reading_reason": document.reading_reason,
        "open_uri": _open_uri(passage),
        "select_uri": f"zotero://select/{_zotero_path(document)}/items/{document.item.key}",
    }


def text_of(passage: corpus.Passage) -> dict[str, object]:
    """A passage without its document."""
    return {
        "passage_id": passage.passage_id,
        "section_path": list(passage.section_path),
        "text": passage.text,
        "page_spans": [
            {
                "start": span.start,
                "end": span.end,
                "page_index": span.page_index,
                "page_label": span.page_label,
            }
            for span in passage.page_spans
        ],
    }


def _zotero_path(document: corpus.Document) -> str:
    library = document.item.library
    return library if library.startswith("groups/") else "library"


def _open_uri(passage: corpus.Passage) -> str | None:
    """The address that opens the passage's first page in Zotero, which counts pages from 1."""
    document = passage.document
    if not (document.attachment_key and passage.page_spans):
        return None
    page = passage.page_spans[0].page_index + 1
    return f"zotero://open-pdf/{_zotero_path(document)}/items/{document.attachment_key}?page={page}"
