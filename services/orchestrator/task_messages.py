"""Requests of TaskService as valid values, and stored values as its messages."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from google.protobuf.json_format import ParseDict

from services.chassis.errors import InvalidRequest
from services.orchestrator.chat_messages import refuse_nul, state_to_proto, valid_limit
from services.orchestrator.events import run_options
from services.orchestrator.options import Clamp, options_from_json
from services.orchestrator.plans import Author, ConfirmedPlan
from services.orchestrator.run import State, Usage
from services.orchestrator.store.task_sessions import TaskSession
from services.orchestrator.store.tasks import Filter, Task
from zocrates.events.v1 import event_pb2 as events_pb
from zocrates.orchestrator.v1 import task_pb2 as pb

MAX_CONTEXT_BYTES = 1024**2
MAX_WORD = 200
MAX_OFFSET = 1_000_000
SESSION = re.compile(r"[A-Za-z0-9:_.-]{1,128}")
# Of a message of a plan's conversation, in the words that callers of tasks know.
ROLES = {Author.PLANNER: "assistant", Author.PERSON: "user"}


def submitted(request: pb.SubmitTaskRequest) -> dict[str, Any]:
    """What is given back with the task as it was; raises InvalidRequest."""
    return {
        "context": _context(request.context),
        "mode": _word(request.mode, "mode"),
        "models": {
            name: _word(getattr(request.models, name), f"models.{name}")
            for name in ("tier", "model", "provider")
        },
    }


def valid_session(value: str) -> str:
    """A session id, one that the caller chose, or empty; raises InvalidRequest."""
    if value and not SESSION.fullmatch(value):
        raise InvalidRequest(
            f"session must be 1 to 128 letters, digits or any of : _ . - ; it is {value[:80]!r}."
        )
    return value


def filter_from_proto(request: pb.ListTasksRequest, owner: str) -> Filter:
    """Which tasks are wanted; raises InvalidRequest."""
    states = {state_to_proto(state): state for state in State}
    return Filter(
        owner=owner,
        states=[states[one] for one in request.states if one in states],
        session=valid_session(request.session),
        limit=valid_limit(request.limit, default=20, most=100),
        offset=valid_offset(request.offset),
        with_answers=request.with_answers,
    )


def valid_offset(value: int) -> int:
    """How many to leave out; raises InvalidRequest."""
    if not 0 <= value <= MAX_OFFSET:
        raise InvalidRequest(f"offset must be from 0 to {MAX_OFFSET}, it is {value}.")
    return value


def _context(value: str) -> str:
    refuse_nul(value, "context")
    if not value:
        return ""
    if len(value.encode()) > MAX_CONTEXT_BYTES:
        raise InvalidRequest(f"context has more than {MAX_CONTEXT_BYTES} bytes.")
    try:
        is_object = isinstance(json.loads(value), dict)
    except (ValueError, RecursionError):
        is_object = False
    if not is_object:
        raise InvalidRequest("context must be a JSON object.")
    return value


def _word(value: str, field: str) -> str:
    refuse_nul(value, field)
    if len(value) > MAX_WORD:
        raise InvalidRequest(f"{field} has {len(value)} characters; it may have {MAX_WORD}.")
    return value


def warnings_to_proto(clamps: Sequence[Clamp]) -> list[pb.Warning]:
    """What was lowered."""
    return [
        pb.Warning(code=one.code, field=one.field, given=one.given, used=one.used) for one in clamps
    ]


def task_to_proto(task: Task) -> pb.Task:
    """A task as it is now."""
    given = task.submitted
    message = pb.Task(
        run_id=task.run_id,
        session_id=task.session_id,
        external_session_id=task.external_id,
        query=task.query,
        context=_with_plan(given.get("context", ""), task.plan),
        mode=given.get("mode", ""),
        models=pb.ModelWish(**given.get("models", {})),
        options=_options(task.options),
        state=state_to_proto(task.state),
        usage=_usage(task),
        last_sequence=task.last_sequence,
    )
    message.create_time.FromDatetime(task.create_time)
    message.update_time.FromDatetime(task.update_time)
    if task.start_time is not None:
        message.start_time.FromDatetime(task.start_time)
    if task.finish_time is not None:
        message.finish_time.FromDatetime(task.finish_time)
    for name in ("answer", "error", "pending"):
        value = getattr(task, name)
        if value is not None:
            ParseDict(dict(value), getattr(message, name), ignore_unknown_fields=True)
    return message


def _with_plan(context: str, plan: ConfirmedPlan | None) -> str:
    """The submitted context, and the plan that was approved with all that was said about it."""
    if plan is None:
        return context
    conversation = [
        {"role": ROLES[one.author], "message": one.message, "timestamp": _seconds(one.time)}
        for one in plan.conversation
    ]
    added = {"confirmed_plan": plan.text, "review_conversation": conversation}
    return json.dumps({**(json.loads(context) if context else {}), **added}, ensure_ascii=False)


def _seconds(time: datetime | None) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if time is not None else ""


def _options(data: Mapping[str, Any]) -> events_pb.RunOptions:
    return ParseDict(run_options(options_from_json(data)), events_pb.RunOptions())


def _usage(task: Task) -> events_pb.Usage:
    used: Usage = task.usage
    message = events_pb.Usage(
        calls=used.calls,
        words=used.words,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cost=used.cost if used.cost and used.output_tokens else None,
    )
    if task.start_time is not None and task.finish_time is not None:
        message.seconds = max(0.0, (task.finish_time - task.start_time).total_seconds())
    return message


def control_to_proto(task: Task) -> pb.GetControlStateResponse:
    """What was wished from outside; of a task that ended otherwise, nothing."""
    is_cancelled = task.state is State.CANCELLED
    is_paused = task.is_pausing or task.state is State.PAUSED
    if task.finish_time is not None and not is_cancelled:
        return pb.GetControlStateResponse()
    wished = task.control
    message = pb.GetControlStateResponse(
        is_paused=is_paused,
        is_cancelled=is_cancelled,
        pause_reason=wished.get("pause_reason", ""),
        paused_by=wished.get("paused_by", ""),
    )
    if is_cancelled:
        message.cancel_reason = wished.get("cancel_reason", "")
        message.cancelled_by = wished.get("cancelled_by", "")
    if when := wished.get("pause_time"):
        message.pause_time.FromDatetime(datetime.fromisoformat(when))
    return message


def session_to_proto(session: TaskSession) -> pb.TaskSession:
    """A session in numbers."""
    options = options_from_json(session.latest_options) if session.latest_options else None
    message = pb.TaskSession(
        session_id=session.id,
        external_session_id=session.external_id,
        title=session.title,
        run_count=session.runs,
        successful_count=session.successful,
        failed_count=session.failed,
        usage=events_pb.Usage(
            calls=session.sums.calls,
            words=session.sums.words,
            input_tokens=session.sums.input_tokens,
            output_tokens=session.sums.output_tokens,
            cost=session.sums.cost,
        ),
        is_active=session.is_active,
        latest_query=session.latest_query,
        first_mode=session.first_mode,
        owner=session.owner,
    )
    if session.latest_state is not None:
        message.latest_state = state_to_proto(session.latest_state)
    if options is not None:
        message.latest_strategy = events_pb.Strategy.Value(f"STRATEGY_{options.strategy}")
    message.create_time.FromDatetime(session.create_time)
    message.update_time.FromDatetime(session.update_time)
    return message
