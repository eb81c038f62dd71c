"""Tasks changed from outside: cancelled, paused, resumed; and what was done to one."""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Response

from gateway.errors import GatewayError
from gateway.routes.context import CalledBy, Context, InContext
from gateway.routes.task_calls import (
    IdempotencyKey,
    TaskId,
    request_key,
    run_of,
    tell_replay,
)
from gateway.tasks import convert, wire
from gateway.tasks.wording import TASK, worded

router = APIRouter(prefix="/api/v1", tags=["tasks"])

Reason = Annotated[wire.ReasonRequest | None, Body()]
ENDED = frozenset({"completed", "failed", "cancelled"})
# One of the orchestrator's calls; a callable has no type for its keywords, hence the dots.
Call = Callable[..., Coroutine[Any, Any, bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What somebody asks to be done to a task."""

    task_id: str
    context: Context
    owner: str
    response: Response
    body: wire.ReasonRequest | None
    idempotency_key: str | None

    async def make(self, verb: str, call: Call) -> None:
        """Do it, once for a key; the reply says when it was done before."""
        key = request_key(self.idempotency_key, f"/tasks/{self.task_id}/{verb}", self.body)
        reason = self.body.reason if self.body else ""
        with worded(TASK):
            replayed = await call(run_of(self.task_id), reason, key, owner=self.owner)
        tell_replay(self.response, self.idempotency_key, replayed)

    def made(self, message: str) -> wire.Controlled:
        """That it was done."""
        return wire.Controlled(success=True, message=message, task_id=self.task_id)


async def _asked(
    task_id: TaskId,
    context: InContext,
    caller: CalledBy,
    response: Response,
    body: Reason = None,
    idempotency_key: IdempotencyKey = None,
) -> Change:
    return Change(
        task_id=task_id,
        context=context,
        owner=caller.owner,
        response=response,
        body=body,
        idempotency_key=idempotency_key,
    )


Asked = Annotated[Change, Depends(_asked)]


@router.post("/tasks/{task_id}/cancel", status_code=202)
async def cancel(change: Asked) -> wire.Controlled:
    """Cancel a task at once, also during a review; one that has ended stays as it is."""
    try:
        await change.make("cancel", change.context.tasks.cancel)
    except GatewayError as error:
        if error.code != "WRONG_STATE":
            raise
        told = f"cannot cancel {_state_in(error)} task"
        return wire.Controlled(success=False, message=told, task_id=change.task_id)
    return change.made("The task is cancelled.")


@router.post("/tasks/{task_id}/pause", status_code=202)
async def pause(change: Asked) -> wire.Controlled:
    """Pause a task before its next step."""
    with _told_by(_no_pause):
        await change.make("pause", change.context.tasks.pause)
    return change.made("Pause signal sent")


@router.post("/tasks/{task_id}/resume", status_code=202)
async def resume(change: Asked) -> wire.Controlled:
    """Let a paused task go on."""
    with _told_by(_no_resume):
        await change.make("resume", change.context.tasks.resume)
    return change.made("Resume signal sent")


@router.get("/tasks/{task_id}/control-state")
async def read_control_state(
    task_id: TaskId, context: InContext, caller: CalledBy
) -> wire.ControlState:
    """Read whether a task is paused or cancelled, by whom and why."""
    with worded(TASK):
        state = await context.tasks.control_state(run_of(task_id), owner=caller.owner)
    return convert.control_state_of(state)


@contextmanager
def _told_by(words: Callable[[GatewayError], str]) -> Iterator[None]:
    """Say in these words that the task's state forbids it."""
    try:
        yield
    except GatewayError as error:
        if error.code != "WRONG_STATE":
            raise
        raise GatewayError(error.code, words(error), detail=error.detail) from error


def _no_pause(error: GatewayError) -> str:
    if error.detail.get("paused") == "true":
        return "task is already paused"
    return f"cannot pause {_state_in(error)} task"


def _no_resume(error: GatewayError) -> str:
    state = _state_in(error)
    return f"cannot resume {state} task" if state in ENDED else "task is not paused"


def _state_in(error: GatewayError) -> str:
    """The state that forbids it, as this wire calls it."""
    state = error.detail.get("state", "")
    return convert.STATUS_OF_STATE.get(state, state).lower()
