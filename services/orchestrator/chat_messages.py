"""Requests of ChatService as valid values, and stored values as its messages."""

import hashlib
import re
from collections.abc import Sequence
from copy import deepcopy

from google.protobuf.json_format import ParseDict
from google.protobuf.timestamp_pb2 import Timestamp

from services.chassis.errors import InvalidRequest
from services.orchestrator.events import StoredEvent
from services.orchestrator.run import State
from services.orchestrator.store.sessions import Conversation, EventPage, Message, Page, Summary
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.events.v1 import event_pb2 as events_pb
from zocrates.orchestrator.v1 import chat_pb2 as pb
from zocrates.orchestrator.v1 import review_pb2, task_pb2

Keyed = (
    pb.StartTurnRequest
    | pb.DecideRequest
    | pb.RetryRunRequest
    | task_pb2.SubmitTaskRequest
    | review_pb2.DecideApprovalRequest
)

MAX_PROMPT = 20_000
MAX_ITEMS = 100
MAX_SCOPE_VALUES = 1_000
MAX_VALUE = 500
ID = re.compile(r"[0-9a-f]{32}")
VISIBLE_ASCII = re.compile(r"[!-~]{1,200}")


def valid_id(value: str, field: str) -> str:
    """A session or run id; raises InvalidRequest."""
    if not ID.fullmatch(value):
        raise InvalidRequest(f"{field} must be 32 hexadecimal digits, it is {value[:80]!r}.")
    return value


def valid_prompt(value: str) -> str:
    """The prompt without surrounding white space; raises InvalidRequest."""
    refuse_nul(value, "prompt")
    prompt = value.strip()
    if not prompt:
        raise InvalidRequest("prompt is empty; send a question.")
    if len(prompt) > MAX_PROMPT:
        raise InvalidRequest(
            f"prompt has {len(prompt)} characters; the most it may have is {MAX_PROMPT}."
        )
    return prompt


def refuse_nul(value: str, field: str) -> None:
    """Raise InvalidRequest for what no database text can hold.

    Lone surrogates cannot be in a protobuf string, so NUL is all that is left.
    """
    if "\x00" in value:
        raise InvalidRequest(f"{field} contains a NUL character; remove it.")


def valid_query(value: str) -> str:
    """Part of a title to look for, or empty; raises InvalidRequest."""
    refuse_nul(value, "query")
    if len(value) > MAX_VALUE:
        raise InvalidRequest(f"query has {len(value)} characters; it may have {MAX_VALUE}.")
    return value


def valid_key(value: str) -> str:
    """An idempotency key, or empty; raises InvalidRequest."""
    if value and not VISIBLE_ASCII.fullmatch(value):
        raise InvalidRequest("idempotency_key must be 1 to 200 visible ASCII characters.")
    return value


def valid_limit(value: int, *, default: int, most: int) -> int:
    """A page size; 0 means the default. Raises InvalidRequest."""
    if not 0 <= value <= most:
        raise InvalidRequest(f"limit must be from 1 to {most}, it is {value}.")
    return value or default


def require_turn(request: pb.StartTurnRequest | task_pb2.SubmitTaskRequest) -> None:
    """Refuse references and scopes that are malformed or without measure; raises InvalidRequest."""
    _require_items(request.active_items, "active_items")
    scope = request.scope
    for name in ("libraries", "collections", "tags", "saved_searches"):
        values = getattr(scope, name).values
        if len(values) > MAX_SCOPE_VALUES:
            raise InvalidRequest(f"scope.{name} has more than {MAX_SCOPE_VALUES} values.")
        for value in values:
            _require_value(value, f"scope.{name}")
    _require_items(scope.items.items, "scope.items")
    if request.options.max_extensions < 0:
        raise InvalidRequest("options.max_extensions must not be negative.")


def _require_items(items: Sequence[corpus.ItemRef], field: str) -> None:
    if len(items) > MAX_ITEMS:
        raise InvalidRequest(
            f"{field} has {len(items)} items; the most it may have is {MAX_ITEMS}."
        )
    for item in items:
        _require_value(item.library, f"{field}.library")
        _require_value(item.key, f"{field}.key")


def _require_value(value: str, field: str) -> None:
    refuse_nul(value, field)
    if not 0 < len(value) <= MAX_VALUE:
        raise InvalidRequest(f"{field} must have 1 to {MAX_VALUE} characters.")


def body_hash(request: Keyed) -> str:
    """What two requests share when they ask for the same, whatever their key."""
    body = deepcopy(request)
    body.idempotency_key = ""
    return hashlib.sha256(body.SerializeToString(deterministic=True)).hexdigest()


def state_to_proto(state: State) -> pb.RunState.ValueType:
    """A run's state."""
    return pb.RunState.Value(f"RUN_STATE_{state}")


def event_to_proto(event: StoredEvent) -> events_pb.Event:
    """An event as it is published."""
    time = Timestamp()
    time.FromDatetime(event.time)
    message = events_pb.Event(
        session_id=event.session_id, run_id=event.run_id, sequence=event.sequence, time=time
    )
    # Newer code may have stored fields that this one does not know.
    ParseDict({event.type: dict(event.payload)}, message, ignore_unknown_fields=True)
    return message


def session_to_proto(session: Conversation) -> pb.GetSessionResponse:
    """A session with its messages."""
    reply = pb.GetSessionResponse(session_id=session.id, title=session.title)
    reply.messages.extend(message_to_proto(message) for message in session.messages)
    return reply


def message_to_proto(message: Message) -> pb.Message:
    """A run as a message."""
    told = pb.Message(
        run_id=message.run_id,
        prompt=message.prompt,
        state=state_to_proto(message.state),
        events=[event_to_proto(event) for event in message.events],
    )
    told.create_time.FromDatetime(message.create_time)
    if message.pending is not None:
        ParseDict(dict(message.pending), told.pending, ignore_unknown_fields=True)
    return told


def page_to_proto(page: Page) -> pb.ListSessionsResponse:
    """A page of sessions."""
    reply = pb.ListSessionsResponse(next_cursor=page.next_cursor)
    reply.sessions.extend(summary_to_proto(session) for session in page.sessions)
    return reply


def summary_to_proto(session: Summary) -> pb.SessionSummary:
    """A session in a list; one whose runs were all taken back has no state."""
    summary = pb.SessionSummary(
        session_id=session.id,
        title=session.title,
        state=state_to_proto(session.state) if session.state else pb.RUN_STATE_UNSPECIFIED,
        pending=session.state is State.AWAITING_INPUT,
    )
    summary.create_time.FromDatetime(session.create_time)
    summary.update_time.FromDatetime(session.update_time)
    return summary


def events_to_proto(page: EventPage) -> pb.ListEventsResponse:
    """Events and the run's standing."""
    return pb.ListEventsResponse(
        events=[event_to_proto(event) for event in page.events],
        last_sequence=page.last_sequence,
        state=state_to_proto(page.state),
        snapshot=message_to_proto(page.snapshot) if page.snapshot else None,
    )
