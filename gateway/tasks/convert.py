"""From the orchestrator's tasks, reviews and sessions to the bodies of the task wire."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from gateway.convert import row, state_name
from gateway.cursor import Row
from gateway.tasks import wire
from gateway.tasks.events import standard, task_event
from gateway.translate import public
from zocrates.events.v1 import event_pb2 as events
from zocrates.orchestrator.v1 import chat_pb2 as chat
from zocrates.orchestrator.v1 import review_pb2 as review
from zocrates.orchestrator.v1 import task_pb2 as pb

# A waiting task is at work for clients of this wire, and one whose review timed out is complete.
STATUS_OF_STATE = {
    "QUEUED": "QUEUED",
    "RUNNING": "RUNNING",
    "AWAITING_INPUT": "RUNNING",
    "PAUSED": "PAUSED",
    "COMPLETED": "COMPLETED",
    "EXPIRED": "COMPLETED",
    "FAILED": "FAILED",
    "CANCELLED": "CANCELLED",
    "REWOUND": "CANCELLED",
    "UNSPECIFIED": "UNSPECIFIED",
}
MODES = {
    "simple": "EXECUTION_MODE_SIMPLE",
    "complex": "EXECUTION_MODE_COMPLEX",
    "supervisor": "EXECUTION_MODE_COMPLEX",
}
STANDARD_MODE = "EXECUTION_MODE_STANDARD"
INTENTS = {events.PLAN_INTENT_READY: "ready", events.PLAN_INTENT_FEEDBACK: "feedback"}
ROLES = {review.REVIEW_AUTHOR_PLANNER: "assistant", review.REVIEW_AUTHOR_PERSON: "user"}
CANCELLED_TEXT = "the task was cancelled"


def status_of(state: chat.RunState.ValueType) -> str:
    """The status of a task in this state, without its prefix."""
    return STATUS_OF_STATE[state_name(state)]


def prefixed(state: chat.RunState.ValueType) -> str:
    """The same as most bodies have it."""
    return f"TASK_STATUS_{status_of(state)}"


def task_of(task: pb.Task) -> wire.Task:
    """A task as it is now."""
    result = task.answer.markdown if task.HasField("answer") else ""
    error = _error(task)
    waits = task.pending if task.HasField("pending") else None
    is_approval = waits is not None and waits.kind == events.CHECKPOINT_KIND_APPROVAL
    return wire.Task.model_validate(
        {
            "task_id": task.run_id,
            "workflow_id": task.run_id,
            "status": prefixed(task.state),
            "result": result or None,
            "response": _object_in(result),
            "error": error,
            "error_message": error,
            "error_code": task.error.code or None,
            "created_at": moment(task.create_time),
            "updated_at": moment(task.update_time),
            "started_at": moment_if(task, "start_time"),
            "completed_at": moment_if(task, "finish_time"),
            "query": task.query,
            "session_id": session_id_of(task),
            "mode": task.mode or None,
            "context": _object_in(task.context),
            "model_used": task.answer.model or None,
            "provider": _provider(task.answer.model),
            "usage": _usage(task.usage),
            "metadata": _metadata(task),
            "approval_id": waits.interrupt_id if waits is not None and is_approval else None,
            "waiting_for": _waiting(waits),
        }
    )


def listed(task: pb.Task) -> wire.ListedTask:
    """A task in a list."""
    return wire.ListedTask.model_validate(
        {
            "task_id": task.run_id,
            "query": task.query,
            "status": prefixed(task.state),
            "mode": MODES.get(task.mode, STANDARD_MODE),
            "created_at": moment(task.create_time),
            "completed_at": moment_if(task, "finish_time"),
            "total_token_usage": {
                "total_tokens": task.usage.input_tokens + task.usage.output_tokens,
                "cost_usd": task.usage.cost,
                "prompt_tokens": task.usage.input_tokens,
                "completion_tokens": task.usage.output_tokens,
            },
        }
    )


def session_id_of(task: pb.Task | pb.TaskSession | pb.SubmitTaskResponse) -> str:
    """The session's id as the caller knows it."""
    return task.external_session_id or task.session_id


def rows_of(recorded: Iterable[events.Event]) -> list[Row]:
    """Recorded events as rows."""
    return [row(event) for event in recorded]


def event_bodies(rows: Iterable[Row]) -> list[dict[str, object]]:
    """The events that this wire tells of these rows."""
    return [standard(event, one) for one in rows if (event := task_event(one)) is not None]


def control_state_of(state: pb.GetControlStateResponse) -> wire.ControlState:
    """What was done to a task from outside."""
    paused = moment(state.pause_time).isoformat().replace("+00:00", "Z")
    return wire.ControlState(
        is_paused=state.is_paused,
        is_cancelled=state.is_cancelled,
        paused_at=paused if state.HasField("pause_time") else "",
        pause_reason=state.pause_reason,
        paused_by=state.paused_by,
        cancel_reason=state.cancel_reason,
        cancelled_by=state.cancelled_by,
    )


def review_of(found: review.Review) -> dict[str, object]:
    """A review; one whose time is over reads as it was."""
    is_approved = found.status == review.REVIEW_STATUS_APPROVED
    return {
        "status": "approved" if is_approved else "reviewing",
        "round": found.round,
        "version": found.version,
        "current_plan": found.current_plan,
        "rounds": [
            {
                "role": ROLES.get(said.author, "assistant"),
                "message": said.message,
                "timestamp": f"{moment(said.time):%Y-%m-%dT%H:%M:%SZ}",
            }
            for said in found.rounds
        ],
        "query": found.query,
        "intent": INTENTS.get(found.intent, "feedback"),
    }


def _error(task: pb.Task) -> str | None:
    if task.HasField("error"):
        return task.error.message
    return CANCELLED_TEXT if status_of(task.state) == "CANCELLED" else None


def _metadata(task: pb.Task) -> dict[str, object]:
    metadata: dict[str, object] = {
        "options": _plain(task.options),
        "models": _plain(task.models),
    }
    if task.HasField("answer"):
        answer = _plain(task.answer)
        for name in ("citations", "gaps", "support", "answered"):
            metadata[name] = answer.get(name)
    return metadata


def _plain(message: Message) -> dict[str, object]:
    # The same names as the events of both wires have.
    told = MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return public(told)


def _waiting(asked: events.RequestInput | None) -> dict[str, object] | None:
    if asked is None:
        return None
    kind = events.CheckpointKind.Name(asked.kind).removeprefix("CHECKPOINT_KIND_").lower()
    return {
        "interrupt_id": asked.interrupt_id,
        "kind": kind,
        "version": asked.version,
        "message": asked.message,
        "expires_at": moment_if(asked, "expires_at"),
    }


def _usage(usage: events.Usage) -> dict[str, object]:
    return {
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "estimated_cost": usage.cost if usage.HasField("cost") else None,
    }


def _provider(model: str) -> str | None:
    return model.partition(":")[0] or None


def _object_in(text: str) -> dict[str, object] | None:
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def moment(time: Timestamp) -> datetime:
    """A moment in UTC."""
    return time.ToDatetime(tzinfo=UTC)


def moment_if(message: Message, name: str) -> datetime | None:
    """The moment in a field, if there is one."""
    return moment(getattr(message, name)) if message.HasField(name) else None
