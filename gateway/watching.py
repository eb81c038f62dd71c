"""A run as it is watched: what has happened so far, from its events; pure."""

from dataclasses import dataclass, field, replace
from typing import TypeVar

from gateway import events, wire
from gateway.sse import ServerEvent

Data = TypeVar("Data", bound=events.Data)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedRun:
    """The state of a run, as far as it was told."""

    session_id: str = ""
    invocation_id: str = ""
    stage: str = ""
    calls: dict[str, events.ToolCall] = field(default_factory=dict)
    call_number: int = 0
    call_limit: int = 0
    words: int = 0
    word_limit: int = 0
    text: str = ""
    answer: events.Answer | None = None
    failure: events.Failure | None = None
    state: str = ""
    checkpoint: events.RequestInput | None = None
    decided: events.CheckpointAnswered | None = None
    last_id: str = ""


def read(event: ServerEvent, kind: type[Data]) -> Data:
    """The data of an event; fields that a later gateway added are left out."""
    return kind.model_validate(event.data, extra="ignore")


def after(run: WatchedRun, event: ServerEvent) -> WatchedRun:
    """The run after one more event; of one of a later version only the position is known."""
    return _changed(replace(run, last_id=event.id or run.last_id), event)


def _changed(run: WatchedRun, event: ServerEvent) -> WatchedRun:
    match event.name:
        case "run_started":
            return _started(run, event)
        case "snapshot":
            message = wire.Message.model_validate(event.data, extra="ignore")
            return replace(run_of(str(event.data["session_id"]), message), last_id=run.last_id)
        case "stage":
            return replace(run, stage=read(event, events.Stage).stage)
        case "tool_call":
            return _called(run, read(event, events.ToolCall))
        case "tool_result":
            result = read(event, events.ToolResult)
            return replace(run, words=result.words_total, word_limit=result.word_limit)
        case "request_input":
            return replace(run, checkpoint=read(event, events.RequestInput))
        case "checkpoint_answered":
            return _answered(run, read(event, events.CheckpointAnswered))
        case "run_state":
            # Whatever it was waiting for or failed at is past.
            return replace(run, checkpoint=None, failure=None, state="")
        case "answer_reset":
            return replace(run, text="")
        case "answer_delta":
            return _written(run, read(event, events.AnswerDelta))
        case "answer":
            return replace(run, answer=read(event, events.Answer))
        case "error":
            return replace(run, failure=read(event, events.Failure))
        case "done":
            return replace(run, state=read(event, events.Done).state)
    return run


def _started(run: WatchedRun, event: ServerEvent) -> WatchedRun:
    ceilings = read(event, events.RunStarted).ceilings
    return replace(
        run,
        session_id=str(event.data["session_id"]),
        invocation_id=str(event.data["invocation_id"]),
        call_limit=ceilings.calls if ceilings else 0,
        word_limit=ceilings.words if ceilings else 0,
    )


def _answered(run: WatchedRun, answered: events.CheckpointAnswered) -> WatchedRun:
    asked = run.checkpoint.payload if run.checkpoint else None
    going = replace(run, checkpoint=None, state="", decided=answered)
    if (
        answered.action != "extend_budget"
        or not isinstance(asked, events.BudgetCheckpoint)
        or asked.next_limits is None
    ):
        return going
    limits = asked.next_limits
    return replace(going, call_limit=limits.calls, word_limit=limits.words)


def _called(run: WatchedRun, call: events.ToolCall) -> WatchedRun:
    return replace(
        run,
        calls={**run.calls, call.step_id: call},
        call_number=max(run.call_number, call.call_number),
        call_limit=call.call_limit or run.call_limit,
    )


def _written(run: WatchedRun, delta: events.AnswerDelta) -> WatchedRun:
    # A piece that overlaps what is there replaces it; one after a hole waits for the whole answer.
    if delta.offset > len(run.text):
        return run
    return replace(run, text=run.text[: delta.offset] + delta.text)


def run_of(session_id: str, message: wire.Message) -> WatchedRun:
    """A run of a session that was read, ready to be watched from there on."""
    run = WatchedRun(
        session_id=session_id,
        invocation_id=message.invocation_id,
        stage=message.stage or "",
        calls={step.step_id: step for step in message.steps},
        call_number=max((step.call_number for step in message.steps), default=0),
        answer=message.answer,
        failure=message.error,
        state=message.state,
        checkpoint=message.pending_hitl,
        last_id=message.last_event_id,
    )
    ceilings = message.started.ceilings if message.started else None
    if ceilings is not None:
        run = replace(run, call_limit=ceilings.calls, word_limit=ceilings.words)
    for step in message.steps:
        if step.result is not None:
            run = replace(run, words=max(run.words, step.result.words_total))
    for checkpoint in message.checkpoints:
        if checkpoint.answered is not None:
            extended = _answered(replace(run, checkpoint=checkpoint), checkpoint.answered)
            run = replace(extended, checkpoint=run.checkpoint, state=run.state)
    return run
