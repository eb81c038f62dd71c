"""From a recorded event as plain values to what a client sees. Pure."""

import json
import re
from collections.abc import Mapping
from typing import Protocol

import orjson

from gateway.cursor import Cursor, Delta, Row

PING = b": ping\n\n"

# The state in which a row leaves its run; after any other row the run is at work.
STATES_AFTER = {"answer": "COMPLETED", "error": "FAILED", "request_input": "AWAITING_INPUT"}
STATES_BY_CHANGE = {
    "cancelled": "CANCELLED",
    "rewound": "REWOUND",
    "paused": "PAUSED",
    "completed": "COMPLETED",
    "failed": "FAILED",
    "expired": "EXPIRED",
}
# The error of a plan that nobody decided on in time: its run did not fail.
REVIEW_EXPIRED = "REVIEW_EXPIRED"
ENDED = frozenset({"COMPLETED", "FAILED", "CANCELLED", "EXPIRED", "REWOUND"})
WAITING = frozenset({"AWAITING_INPUT", "PAUSED"})

# What happened, by the name of the event's payload; each is the name of an SSE event too.
ROW_EVENTS = (
    "run_started",
    "stage",
    "thought",
    "tool_call",
    "tool_result",
    "report",
    "rerank",
    "answer_reset",
    "answer",
    "error",
    "request_input",
    "checkpoint_answered",
    "run_state",
    "plan",
    "plan_feedback",
)

ENUM_PREFIXES = {
    "stage": "STAGE_",
    "support": "SUPPORT_LEVEL_",
    "reading_state": "READING_STATE_",
    "kind": "CHECKPOINT_KIND_",
    "action": "DECISION_ACTION_",
    "trigger": "EXTENSION_TRIGGER_",
    "change": "RUN_STATE_CHANGE_",
    "intent": "PLAN_INTENT_",
    "strategy": "STRATEGY_",
    "subject": "APPROVAL_SUBJECT_",
}
# The kinds of checkpoints by the field that holds what each shows.
CHECKPOINTS = ("budget", "plan", "approval")
WHOLE_NUMBERS = frozenset({"input_tokens", "output_tokens", "tokens"})

# Legal inside JSON, but line ends to many readers of a stream.
LINE_ENDS = {"\u0085": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}
# No encoding has these; a model's escaped JSON can still hold them.
LONE_SURROGATES = re.compile("[\ud800-\udfff]")
# NUL as json writes it, not a backslash followed by "u0000".
ESCAPED_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")

Values = Mapping[str, object]


class BrokenOff(Exception):
    """A stream cannot go on; its client is to notice, for it knows no frame that says so."""


class Dialect(Protocol):
    """How one stream tells a run: no bytes where its client is told nothing."""

    def row(self, row: Row) -> bytes:
        """A recorded event."""

    def state_after(self, row: Row, before: str) -> str:
        """The state of the run when this was its latest row; the stream ends with an end state."""

    def delta(self, delta: Delta, head: Values) -> bytes:
        """A piece of the answer; `head` is what `head_of` returned."""

    def reset(self, attempt: int, head: Values) -> bytes:
        """Tells a client that came back in the middle of the answer to drop the text it holds."""

    def snapshot(self, message: Values, head: Values) -> bytes:
        """The run as a message, instead of rows that are no longer kept."""

    def interruption(self, code: str, message: str, head: Values, *, retryable: bool) -> bytes:
        """Says that the stream, not the run, broke off; without bytes the connection breaks."""

    def done(self, state: str, head: Values) -> bytes:
        """What a whole stream ends with."""


def row_of(event: Values) -> Row:
    """The row to send for an event in protobuf's JSON form with its own field names.

    A kind of event that a newer orchestrator writes and this gateway does not know becomes a row
    without a frame, so that clients pass it.
    """
    sequence = int(str(event["sequence"]))
    name = next((name for name in ROW_EVENTS if name in event), None)
    if name is None:
        return Row(sequence=sequence, name="", body={}, frame=b"")
    payload = event[name]
    assert isinstance(payload, Mapping)
    body = {
        "session_id": event["session_id"],
        "invocation_id": event["run_id"],
        "sequence": sequence,
        "time": event["time"],
        **(checkpoint_of(payload) if name == "request_input" else public(payload)),
    }
    if name == "tool_call":
        body["arguments"] = _arguments(body["arguments"])
    return Row(
        sequence=sequence, name=name, body=body, frame=frame(name, body, position=str(sequence))
    )


def checkpoint_of(request: Values) -> dict[str, object]:
    """A question to a person: what it shows is its `payload`, its schema an object."""
    told = public(request)
    shown = [told.pop(kind) for kind in CHECKPOINTS if kind in told]
    schema = _object_in(told["response_schema"])
    return {**told, "response_schema": schema or {}, "payload": shown[0] if shown else None}


class ChatDialect:
    """The frames of a run as the chat wire has them."""

    def row(self, row: Row) -> bytes:
        """A recorded event; every client gets the same bytes."""
        return row.frame

    def state_after(self, row: Row, before: str) -> str:
        """The state as the row tells it."""
        return state_after(row, before)

    def delta(self, delta: Delta, head: Values) -> bytes:
        """A piece of the answer; its position leads back to the row before it."""
        body = {**head, "text": delta.text, "attempt": delta.attempt, "offset": delta.offset}
        position = f"{head['sequence']}.{delta.attempt}.{delta.offset}"
        return frame("answer_delta", body, position=position)

    def reset(self, attempt: int, head: Values) -> bytes:
        """Tells a client that came back in the middle of the answer to drop the text it holds."""
        position = f"{head['sequence']}.{attempt}.0"
        return frame("answer_reset", {**head, "attempt": attempt}, position=position)

    def snapshot(self, message: Values, head: Values) -> bytes:
        """The run as a message, instead of rows that are no longer kept."""
        return frame("snapshot", {**head, **message}, position=str(head["sequence"]))

    def interruption(self, code: str, message: str, head: Values, *, retryable: bool) -> bytes:
        """Says that the stream, not the run, broke off; without an id no position moves."""
        return frame("error", {**head, "code": code, "message": message, "retryable": retryable})

    def done(self, state: str, head: Values) -> bytes:
        """The last frame of a stream; it repeats the last position."""
        return frame("done", {**head, "state": state}, position=str(head["sequence"]))


def state_after(row: Row, before: str) -> str:
    """The state of a run when this was its latest row."""
    if not row.name:
        return before
    if row.name == "run_state":
        return STATES_BY_CHANGE.get(str(row.body["change"]), "RUNNING")
    if row.name == "error" and row.body["code"] == REVIEW_EXPIRED:
        return "EXPIRED"
    return STATES_AFTER.get(row.name, "RUNNING")


def head_of(session_id: str, run_id: str, cursor: Cursor, time: str) -> dict[str, object]:
    """What every frame's data holds."""
    return {
        "session_id": session_id,
        "invocation_id": run_id,
        "sequence": cursor.sequence,
        "time": time,
    }


def frame(name: str, body: Values, *, position: str | None = None) -> bytes:
    """One SSE frame with its data on one line, whatever the text holds."""
    lines = [] if position is None else [f"id: {position}"]
    lines += [f"event: {name}", f"data: {one_line(body)}", "", ""]
    return "\n".join(lines).encode()


def one_line(body: Values) -> str:
    """JSON that no reader takes for more than one line and every encoder accepts."""
    # What is below the space is escaped, so only the line ends above it are left.
    try:
        text = orjson.dumps(body).decode()
    except orjson.JSONEncodeError:
        # It refuses lone surrogates and whole numbers of more than 64 bits.
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    if "\\u0000" in text:
        text = ESCAPED_NUL.sub("\\1\ufffd", text)
    # Most text needs none of this, and looking for one character is far faster than a pattern.
    if text.isascii():
        return text
    for end, escape in LINE_ENDS.items():
        text = text.replace(end, escape)
    return LONE_SURROGATES.sub("\ufffd", text)


def public(value: Values) -> dict[str, object]:
    """The values of a message as clients see them: names of enums short, 64-bit numbers numbers."""
    return {key: _public_value(key, inner) for key, inner in value.items()}


def _public_value(key: str, value: object) -> object:
    match value:
        case Mapping():
            return public(value)
        case list():
            return [public(item) if isinstance(item, Mapping) else item for item in value]
        case str() if key in ENUM_PREFIXES:
            return value.removeprefix(ENUM_PREFIXES[key]).lower()
        # Protobuf's JSON writes values of a later version as numbers.
        case int() if key in ENUM_PREFIXES:
            return "unspecified"
        # Protobuf's JSON writes 64-bit numbers as text.
        case str() if key in WHOLE_NUMBERS:
            return int(value)
    return value


def _arguments(text: object) -> object:
    """The arguments of a call as an object; what a model garbled is shown as it was."""
    arguments = _object_in(text)
    return {"text": text} if arguments is None else arguments


def _object_in(text: object) -> dict[str, object] | None:
    try:
        value = json.loads(str(text))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
