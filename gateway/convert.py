"""From protobuf events, recorded or live, to the gateway's own values."""

from google.protobuf.json_format import MessageToDict, Parse, ParseError

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
    try:
        event = Parse(body, event_pb2.Event(), ignore_unknown_fields=True)
    except (ParseError, UnicodeDecodeError) as error:
        raise Unreadable(str(error)) from error
    if event.sequence < 1 or not event.HasField("time"):
        raise Unreadable("the event has no sequence or no time")
    return row(event)


def checkpoint(request: event_pb2.RequestInput) -> dict[str, object]:
    """A question to a person, as the event tells it."""
    return checkpoint_of(
        MessageToDict(
            request, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
        )
    )


def delta_from_bus(body: bytes) -> Delta:
    """The piece of an answer in a NATS message; raises Unreadable."""
    try:
        piece = Parse(body, event_pb2.AnswerDelta(), ignore_unknown_fields=True)
    except (ParseError, UnicodeDecodeError) as error:
        raise Unreadable(str(error)) from error
    if piece.attempt < 1:
        raise Unreadable("the piece of text has no attempt")
    return Delta(
        after_sequence=piece.after_sequence,
        attempt=piece.attempt,
        offset=piece.offset,
        text=piece.text,
    )


def state_name(state: chat.RunState.ValueType) -> str:
    """`COMPLETED` for RUN_STATE_COMPLETED."""
    return chat.RunState.Name(state).removeprefix("RUN_STATE_")
