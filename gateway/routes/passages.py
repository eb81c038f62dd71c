"""A passage with its surroundings: as a run recorded it, else from the index."""

from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Query

from gateway import wire
from gateway.auth import Caller
from gateway.errors import GatewayError
from gateway.routes.context import CalledBy, Context, InContext
from zocrates.corpus.v1 import passage_pb2 as corpus

router = APIRouter(tags=["library"])

NEIGHBOURS = 1
# Reasons for which the index cannot show the surroundings of a passage that a run recorded.
WITHOUT_SURROUNDINGS = frozenset(
    {"UNKNOWN_PASSAGE", "UNKNOWN_DOCUMENT", "NOT_FOUND", "PEER_DOWN", "PEER_TIMEOUT"}
)

OfRun = Annotated[
    wire.Id | None, Query(description="The run whose evidence the passage is part of.")
]


@router.get("/passages/{passage_id}")
async def read_passage(
    passage_id: wire.PassageId,
    context: InContext,
    caller: CalledBy,
    invocation_id: OfRun = None,
) -> wire.Passage:
    """Read a passage with its pages and neighbours."""
    if invocation_id is None:
        around = await _surroundings(passage_id, context, caller)
        origin = "index"
        passage = next((one for one in around if one.passage_id == passage_id), None)
    else:
        evidence = await context.orchestrator.get_evidence(
            run_id=invocation_id, passage_id=passage_id, owner=caller.owner
        )
        passage, origin = evidence.passage, "run"
        around = await _surroundings_if_any(passage_id, context, caller)
    if passage is None or not caller.may_read(passage.document.item.library):
        # The same words for what is not there and for what is not the caller's to see.
        raise GatewayError("UNKNOWN_PASSAGE", f"There is no passage {passage_id!r}.")
    return _passage(passage, around, origin)


async def _surroundings(passage_id: str, context: Context, caller: Caller) -> list[corpus.Passage]:
    reply = await context.search.read_around(passage_id, each_side=NEIGHBOURS, owner=caller.owner)
    for passage in reply.passages:
        passage.document.CopyFrom(reply.document)
    return list(reply.passages)


async def _surroundings_if_any(
    passage_id: str, context: Context, caller: Caller
) -> list[corpus.Passage]:
    """The neighbours of a recorded passage; none when the index has moved on or is away."""
    try:
        return await _surroundings(passage_id, context, caller)
    except GatewayError as error:
        if error.code not in WITHOUT_SURROUNDINGS:
            raise
        return []


def _passage(
    passage: corpus.Passage, around: Iterable[corpus.Passage], origin: str
) -> wire.Passage:
    document = passage.document
    kind = corpus.DocumentKind.Name(document.kind).removeprefix("DOCUMENT_KIND_").lower()
    reading = corpus.ReadingState.Name(document.reading_state)
    beside = [one for one in around if one.passage_id != passage.passage_id]
    return wire.Passage.model_validate(
        {
            **_text(passage),
            "origin": origin,
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
            "before": [_text(one) for one in beside if one.ordinal < passage.ordinal],
            "after": [_text(one) for one in beside if one.ordinal > passage.ordinal],
        }
    )


def _text(passage: corpus.Passage) -> dict[str, object]:
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
