"""From protobuf events, recorded or live, to the gateway's own values."""

import orjson
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from gateway.completion import completed
from gateway.cursor import Delta, Row
from gateway.translate import checkpoint_of, row_of
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2 as chat


class Unreadable(ValueError):
    """A message from NATS is not what this version understands."""


def row(event: event_pb2.Event) -> Row:
    """The row to send for an event."""
    return row_of(
        MessageToDict(
            event, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
        )
    )


def row_from_bus(body: bytes) -> Row:
    """The row in a NATS message; raises Unreadable."""
    event = _read(body, event_pb2.Event)
    if not str(event["sequence"]).isdecimal() or event["sequence"] == "0" or "time" not in event:
        raise Unreadable("the event has no sequence or no time")
    return row_of(event)


def checkpoint(request: event_pb2.RequestInput) -> dict[str, object]:
    """A question to a person, as the event tells it."""
    return checkpoint_of(
        MessageToDict(
            request, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
        )
    )


def delta_from_bus(body: bytes) -> Delta:
    """The piece of an answer in a NATS message; raises Unreadable."""
    piece = _read(body, event_pb2.AnswerDelta)
    match piece:
        case {"attempt": int(attempt), "offset": int(offset), "text": str(text)} if attempt > 0:
            after_sequence = int(str(piece["after_sequence"]))
            return Delta(after_sequence=after_sequence, attempt=attempt, offset=offset, text=text)
    raise Unreadable("the piece of text has no attempt")


def _read(body: bytes, kind: type[Message]) -> dict[str, object]:
    try:
        return completed(orjson.loads(body), kind)
    except ValueError as error:
        raise Unreadable(str(error)) from error


def state_name(state: chat.RunState.ValueType) -> str:
    """`COMPLETED` for RUN_STATE_COMPLETED."""
    return chat.RunState.Name(state).removeprefix("RUN_STATE_")
