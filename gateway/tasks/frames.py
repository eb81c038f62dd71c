"""The frames of a task's stream: names, bodies, ids, and which of them a client wants. Pure."""

from collections.abc import Mapping, Set

from gateway.cursor import Delta, Row
from gateway.tasks.events import TaskEvent, Values, standard, stream_id_of, task_event
from gateway.translate import ENDED, one_line, state_after

# What a client calls an event differs from what its frame is called.
FRAME_NAMES = {
    "LLM_PARTIAL": "thread.message.delta",
    "LLM_OUTPUT": "thread.message.completed",
    "ERROR_OCCURRED": "error",
    "STREAM_END": "done",
    "WORKFLOW_PAUSED": "workflow.paused",
    "WORKFLOW_RESUMED": "workflow.resumed",
    "WORKFLOW_CANCELLED": "workflow.cancelled",
}
CONTROL = frozenset({"WORKFLOW_PAUSED", "WORKFLOW_RESUMED", "WORKFLOW_CANCELLED"})
# Some clients filter by these names.
TYPES = {name: kind for kind, name in FRAME_NAMES.items()}
END_MARK = "[DONE]"
# The rows of a task that only seem to end it: the row after them does.
NOT_YET = frozenset({"answer", "error"})


class TaskDialect:
    """One stream of one task, for a client that wants some types, or all."""

    def __init__(self, *, types: Set[str] = frozenset(), stream_id: str = "") -> None:
        """With the id of the last frame that the client has, or none."""
        self._types = {TYPES.get(name, name) for name in types}
        self._stream_id = stream_id
        self._was_paused = False
        self._stage = "queued"

    def row(self, row: Row) -> bytes:
        """A recorded event, if this wire tells it and the client wants it."""
        self._stream_id = stream_id_of(row) if row.name else self._stream_id
        if row.name == "stage":
            self._stage = str(row.body["stage"])
        event = task_event(row)
        if event is None:
            return b""
        if event.type in CONTROL:
            body = self._control(event, row)
        elif event.type == "LLM_OUTPUT":
            body = _completed(event, row)
        else:
            body = standard(event, row)
        return self._frame(event.type, body)

    def state_after(self, row: Row, before: str) -> str:
        """The state as the row tells it: a task ends with a row that says so."""
        return before if row.name in NOT_YET else state_after(row, before)

    def delta(self, delta: Delta, head: Values) -> bytes:
        """A piece of the answer, with the ids of the last row."""
        return self._frame("LLM_PARTIAL", {"delta": delta.text, **self._ids(head)})

    def reset(self, attempt: int, head: Values) -> bytes:
        """Tells a client that came back in the middle of the answer to drop the text it holds."""
        return self._frame(
            "ERROR_RECOVERY",
            {
                "type": "ERROR_RECOVERY",
                "message": "The text of the answer follows from its beginning.",
                "payload": {"attempt": attempt},
                "timestamp": head["time"],
                **self._ids(head),
            },
        )

    def snapshot(self, message: Values, head: Values) -> bytes:
        """The answer of a task whose events are no longer kept, if it has one."""
        answer = message.get("answer")
        if not isinstance(answer, Mapping):
            return b""
        shown = {key: value for key, value in answer.items() if key != "markdown"}
        body = {"response": answer["markdown"], "metadata": shown, **self._ids(head)}
        return self._frame("LLM_OUTPUT", body)

    def interruption(self, code: str, message: str, head: Values, *, retryable: bool) -> bytes:
        """Nothing: clients of this wire come back when the connection breaks."""
        return b""

    def done(self, state: str, head: Values) -> bytes:
        """The end mark, for who wants it; it repeats the last id."""
        if not self._wants("STREAM_END"):
            return b""
        return _lines("done", END_MARK, self._stream_id or str(head["sequence"]))

    def _control(self, event: TaskEvent, row: Row) -> dict[str, object]:
        body: dict[str, object] = {
            "workflow_id": row.body["invocation_id"],
            "agent_id": event.agent_id,
            "message": event.message,
        }
        match event.type:
            case "WORKFLOW_PAUSED":
                self._was_paused = True
                return {**body, "checkpoint": self._stage}
            case "WORKFLOW_RESUMED":
                self._was_paused = False
            case "WORKFLOW_CANCELLED":
                return {**body, "checkpoint": self._stage, "was_paused": self._was_paused}
        return body

    def _ids(self, head: Values) -> dict[str, object]:
        ids: dict[str, object] = {
            "workflow_id": head["invocation_id"],
            "agent_id": "synthesizer",
            "seq": head["sequence"],
        }
        return {**ids, "stream_id": self._stream_id} if self._stream_id else ids

    def _frame(self, kind: str, body: Values) -> bytes:
        if not self._wants(kind):
            return b""
        position = self._stream_id or str(body.get("seq", ""))
        return _lines(FRAME_NAMES.get(kind, kind), one_line(body), position)

    def _wants(self, kind: str) -> bool:
        return not self._types or kind in self._types


def greeting(workflow_id: str) -> bytes:
    """The comment that a stream begins with."""
    return f": events of workflow {workflow_id}\n\n".encode()


def is_over(state: str) -> bool:
    """Whether a task in this state has ended."""
    return state in ENDED


def _completed(event: TaskEvent, row: Row) -> dict[str, object]:
    return {
        "response": event.message,
        "workflow_id": row.body["invocation_id"],
        "agent_id": event.agent_id,
        "seq": row.sequence,
        "stream_id": stream_id_of(row),
        "metadata": dict(event.payload),
    }


def _lines(name: str, data: str, position: str) -> bytes:
    return f"id: {position}\nevent: {name}\ndata: {data}\n\n".encode()
