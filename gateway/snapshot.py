"""A run as one message: in its session, and in a stream instead of events no longer kept."""

from datetime import UTC

from gateway import wire
from gateway.convert import checkpoint, row, state_name
from gateway.message import message_of
from zocrates.orchestrator.v1 import chat_pb2 as pb


def message_from(message: pb.Message) -> wire.Message:
    """The message as its session shows it."""
    return wire.Message.model_validate(
        {
            "invocation_id": message.run_id,
            "prompt": message.prompt,
            "created_at": message.create_time.ToDatetime(tzinfo=UTC),
            "state": state_name(message.state),
            "pending_hitl": _pending(message),
            **message_of(row(event) for event in message.events),
        }
    )


def _pending(message: pb.Message) -> dict[str, object] | None:
    if not message.HasField("pending"):
        return None
    return {**checkpoint(message.pending), "invocation_id": message.run_id}
