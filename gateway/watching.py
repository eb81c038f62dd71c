"""A run as it is watched: what has happened so far, from its events; pure."""

from dataclasses import dataclass, field, replace
from typing import TypeVar

from gateway import events
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


def read(event: ServerEvent, kind: type[Data]) -> Data:
    """The data of an event; fields that a later gateway added are left out."""
    return kind.model_validate(event.data, extra="ignore")


def after(run: WatchedRun, event: ServerEvent) -> WatchedRun:
    """The run after one more event; events of a later version change nothing."""
    match event.name:
        case "run_started":
            return _started(run, event)
        case "stage":
            return replace(run, stage=read(event, events.Stage).stage)
        case "tool_call":
            return _called(run, read(event, events.ToolCall))
        case "tool_result":
            result = read(event, events.ToolResult)
            return replace(run, words=result.words_total, word_limit=result.word_limit)
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
