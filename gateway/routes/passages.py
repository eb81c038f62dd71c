"""A passage with its surroundings: as a run recorded it, else from the index."""

from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Query

from gateway import wire
from gateway.auth import Caller
from gateway.errors import GatewayError
from gateway.evidence import evidence_of, text_of
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
    return _with_neighbours(passage, around, origin)


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


def _with_neighbours(
    passage: corpus.Passage, around: Iterable[corpus.Passage], origin: str
) -> wire.Passage:
    beside = [one for one in around if one.passage_id != passage.passage_id]
    return wire.Passage.model_validate(
        {
            **evidence_of(passage),
            "origin": origin,
            "before": [text_of(one) for one in beside if one.ordinal < passage.ordinal],
            "after": [text_of(one) for one in beside if one.ordinal > passage.ordinal],
        }
    )
