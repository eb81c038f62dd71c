"""Tasks changed from outside: cancelled, paused, resumed; and what was done to one."""

from typing import Annotated

from fastapi import APIRouter, Body, Response

from gateway.errors import GatewayError
from gateway.routes.context import CalledBy, InContext
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


@router.post("/tasks/{task_id}/cancel", status_code=202)
async def cancel(
    task_id: TaskId,
    context: InContext,
    caller: CalledBy,
    response: Response,
    body: Reason = None,
    idempotency_key: IdempotencyKey = None,
) -> wire.Controlled:
    """Cancel a task at once, also during a review; one that has ended stays as it is."""
    key = request_key(idempotency_key, f"/tasks/{task_id}/cancel")
    reason = body.reason if body else ""
    try:
        with worded(TASK):
            replayed = await context.tasks.cancel(run_of(task_id), reason, key, owner=caller.owner)
    except GatewayError as error:
        if error.code != "WRONG_STATE":
            raise
        told = f"cannot cancel {_state_in(error)} task"
        return wire.Controlled(success=False, message=told, task_id=task_id)
    tell_replay(response, idempotency_key, replayed)
    return wire.Controlled(success=True, message="The task is cancelled.", task_id=task_id)


@router.post("/tasks/{task_id}/pause", status_code=202)
async def pause(
    task_id: TaskId,
    context: InContext,
    caller: CalledBy,
    response: Response,
    body: Reason = None,
    idempotency_key: IdempotencyKey = None,
) -> wire.Controlled:
    """Pause a task before its next step."""
    key = request_key(idempotency_key, f"/tasks/{task_id}/pause")
    reason = body.reason if body else ""
    try:
        with worded(TASK):
            replayed = await context.tasks.pause(run_of(task_id), reason, key, owner=caller.owner)
    except GatewayError as error:
        if error.code != "WRONG_STATE":
            raise
        raise GatewayError(error.code, _no_pause(error), detail=error.detail) from error
    tell_replay(response, idempotency_key, replayed)
    return wire.Controlled(success=True, message="Pause signal sent", task_id=task_id)


@router.post("/tasks/{task_id}/resume", status_code=202)
async def resume(
    task_id: TaskId,
    context: InContext,
    caller: CalledBy,
    response: Response,
    body: Reason = None,
    idempotency_key: IdempotencyKey = None,
) -> wire.Controlled:
    """Let a paused task go on."""
    key = request_key(idempotency_key, f"/tasks/{task_id}/resume")
    reason = body.reason if body else ""
    try:
        with worded(TASK):
            replayed = await context.tasks.resume(run_of(task_id), reason, key, owner=caller.owner)
    except GatewayError as error:
        if error.code != "WRONG_STATE":
            raise
        raise GatewayError(error.code, _no_resume(error), detail=error.detail) from error
    tell_replay(response, idempotency_key, replayed)
    return wire.Controlled(success=True, message="Resume signal sent", task_id=task_id)


@router.get("/tasks/{task_id}/control-state")
async def read_control_state(
    task_id: TaskId, context: InContext, caller: CalledBy
) -> wire.ControlState:
    """Read whether a task is paused or cancelled, by whom and why."""
    with worded(TASK):
        state = await context.tasks.control_state(run_of(task_id), owner=caller.owner)
    return convert.control_state_of(state)


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
