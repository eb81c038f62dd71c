"""A person's answer to a checkpoint, and the checkpoint with what it is about."""

import uuid

from fastapi import APIRouter

from gateway import control, wire
from gateway.auth import Caller
from gateway.convert import checkpoint
from gateway.cursor import after
from gateway.errors import GatewayError
from gateway.evidence import evidence_of
from gateway.feed import RunKey
from gateway.follow import Watch
from gateway.routes.context import CalledBy, IdempotencyKey, InContext
from gateway.streaming import EventStream
from services.chassis.spans import tell_session
from zocrates.events.v1 import event_pb2 as events
from zocrates.orchestrator.v1 import chat_pb2 as pb

router = APIRouter(tags=["chat"])

OFFERED = {
    "extend_budget": events.DECISION_ACTION_EXTEND_BUDGET,
    "synthesize": events.DECISION_ACTION_SYNTHESIZE,
    "feedback": events.DECISION_ACTION_FEEDBACK,
    "approve": events.DECISION_ACTION_APPROVE,
    "reject": events.DECISION_ACTION_REJECT,
}


@router.post("/chat/resume", response_class=EventStream, status_code=200)
async def resume(
    body: control.ResumeRequest,
    context: InContext,
    caller: CalledBy,
    idempotency_key: IdempotencyKey = None,
) -> EventStream:
    """Decide at a checkpoint and stream the same run's events from `checkpoint_answered` on."""
    # A call that the channel repeats after a lost reply must not be a conflict with itself.
    key = idempotency_key or f"gateway-{uuid.uuid4().hex}"
    decided = await context.orchestrator.decide(decide_request(body, key), owner=caller.owner)
    tell_session(decided.session_id)
    run = RunKey(session_id=decided.session_id, run_id=decided.run_id)
    position = after(decided.after_sequence)
    watch = Watch(owner=caller.owner, run=run, position=position, pauses_end=True)
    return context.stream(context.follower.follow(watch))


@router.get("/sessions/{session_id}/runs/{invocation_id}/checkpoint")
async def read_checkpoint(
    session_id: wire.Id, invocation_id: wire.Id, context: InContext, caller: CalledBy
) -> control.Checkpoint:
    """Read the checkpoint that a run waits at, with the evidence that it has."""
    reply = await context.orchestrator.get_checkpoint(
        session_id=session_id, run_id=invocation_id, owner=caller.owner
    )
    return control.Checkpoint.model_validate(
        {
            **checkpoint(reply.checkpoint),
            "invocation_id": invocation_id,
            "snapshot": _snapshot(reply.snapshot, caller),
        }
    )


def decide_request(body: control.ResumeRequest, key: str) -> pb.DecideRequest:
    """The request to decide; raises GatewayError for what no checkpoint offers."""
    response = body.response
    if (action := OFFERED.get(response.action)) is None:
        raise GatewayError(
            "ACTION_NOT_OFFERED",
            f"No checkpoint offers {response.action!r}; there are {', '.join(map(repr, OFFERED))}.",
            detail={"action": response.action, "offered": ", ".join(OFFERED)},
        )
    if response.message and response.action != "feedback":
        raise GatewayError(
            "INVALID_REQUEST",
            "The field 'response.message' is for feedback on a plan; "
            "steer a search by 'response.guidance'.",
            detail={"field": "response.message"},
        )
    return pb.DecideRequest(
        session_id=body.session_id,
        run_id=body.invocation_id,
        interrupt_id=body.interrupt_id,
        action=action,
        guidance=response.guidance or "",
        message=response.message or "",
        expected_version=body.expected_version,
        idempotency_key=key,
    )


def _snapshot(snapshot: pb.Snapshot, caller: Caller) -> dict[str, object]:
    ceilings = snapshot.ceilings
    return {
        "covered_summary": snapshot.covered_summary,
        "gaps": list(snapshot.gaps),
        "extension_count": snapshot.extension_count,
        "call_count": snapshot.call_count,
        "word_count": snapshot.word_count,
        "extension_requested": snapshot.extension_requested,
        "completed_extensions": list(snapshot.completed_extensions),
        "ceilings": {
            "calls": ceilings.calls,
            "words": ceilings.words,
            "passages": ceilings.passages,
        },
        "seen_passage_ids": list(snapshot.seen_passage_ids),
        "seen_assets": list(snapshot.seen_assets),
        # A key may have lost a library since the run searched it.
        "evidence": [
            evidence_of(passage)
            for passage in snapshot.evidence
            if caller.may_read(passage.document.item.library)
        ],
    }
