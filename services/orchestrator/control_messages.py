"""Decisions and checkpoints between the wire's messages and valid values."""

import re
from uuid import uuid4

from google.protobuf.json_format import ParseDict

from services.chassis.errors import InvalidRequest
from services.orchestrator.chat_messages import body_hash, refuse_nul, valid_id, valid_key
from services.orchestrator.checkpoint import MAX_GUIDANCE, Choice
from services.orchestrator.convert import passage_to_proto
from services.orchestrator.store.answers import Answer
from services.orchestrator.store.checkpoints import Pending
from services.orchestrator.store.request_keys import Request
from services.orchestrator.store.reviews import Feedback
from zocrates.events.v1 import event_pb2 as events_pb
from zocrates.orchestrator.v1 import chat_pb2 as pb

MAX_TITLE = 200
# Whoever answers these must say what they saw: the question may have changed meanwhile.
NEEDS_VERSION = (
    events_pb.DECISION_ACTION_FEEDBACK,
    events_pb.DECISION_ACTION_APPROVE,
    events_pb.DECISION_ACTION_REJECT,
)
INTERRUPT_ID = re.compile(r"[a-z][a-z0-9_]{0,99}")


def answer_from_proto(request: pb.DecideRequest, owner: str) -> Answer:
    """A decision as it is stored; raises InvalidRequest."""
    if not INTERRUPT_ID.fullmatch(request.interrupt_id):
        raise InvalidRequest(
            f"interrupt_id must be an id like 'interrupt_ext_1', it is "
            f"{request.interrupt_id[:80]!r}."
        )
    if request.action == events_pb.DECISION_ACTION_UNSPECIFIED:
        raise InvalidRequest("action is missing; say what is decided.")
    if request.action in NEEDS_VERSION and not request.HasField("expected_version"):
        raise InvalidRequest("expected_version is missing; name the version that was seen.")
    return Answer(
        owner=owner,
        session_id=valid_id(request.session_id, "session_id"),
        run_id=valid_id(request.run_id, "run_id"),
        interrupt_id=request.interrupt_id,
        choice=_choice(request.action),
        guidance=steering(request.guidance, "guidance"),
        expected_version=request.expected_version if request.HasField("expected_version") else None,
        idempotency_key=valid_key(request.idempotency_key),
        body_hash=body_hash(request),
    )


def _choice(action: events_pb.DecisionAction.ValueType) -> Choice | None:
    """None for an action that is newer than this code."""
    names = {value: name for name, value in events_pb.DecisionAction.items()}
    try:
        return Choice(names.get(action, "").removeprefix("DECISION_ACTION_"))
    except ValueError:
        return None


def steering(value: str, field: str) -> str:
    """Words of a person; raises InvalidRequest."""
    refuse_nul(value, field)
    words = value.strip()
    if len(words) > MAX_GUIDANCE:
        raise InvalidRequest(
            f"{field} has {len(words)} characters; the most it may have is {MAX_GUIDANCE}."
        )
    return words


def feedback_from_proto(request: pb.DecideRequest, answer: Answer) -> Feedback:
    """A comment on a plan that came as a decision; raises InvalidRequest."""
    refuse_nul(request.message, "message")
    return Feedback(
        owner=answer.owner,
        session_id=answer.session_id,
        run_id=answer.run_id,
        message=request.message,
        expected_version=answer.expected_version,
        token=uuid4().hex,
        request=Request(
            owner=answer.owner,
            route="Decide",
            key=answer.idempotency_key,
            body_hash=answer.body_hash,
        ),
    )


def valid_title(value: str) -> str:
    """A title on one line; raises InvalidRequest."""
    refuse_nul(value, "title")
    title = " ".join(value.split())
    if not 0 < len(title) <= MAX_TITLE:
        raise InvalidRequest(f"title must have 1 to {MAX_TITLE} characters, it has {len(title)}.")
    return title


def checkpoint_to_proto(pending: Pending) -> pb.GetCheckpointResponse:
    """The question and its snapshot, the evidence with its text."""
    reply = pb.GetCheckpointResponse(
        snapshot=ParseDict(dict(pending.snapshot), pb.Snapshot(), ignore_unknown_fields=True)
    )
    ParseDict(dict(pending.payload), reply.checkpoint, ignore_unknown_fields=True)
    reply.snapshot.evidence.extend(passage_to_proto(one) for one in pending.evidence)
    return reply
