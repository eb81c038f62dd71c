"""Submitted tasks: start one, list them, read one with its answer and its events."""

import json
from datetime import UTC
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import QueryParams

from gateway import wire as chat_wire
from gateway.auth import Caller
from gateway.routes.chat import STRATEGIES, scope_of
from gateway.routes.context import CalledBy, Context, InContext
from gateway.routes.task_calls import (
    IdempotencyKey,
    TaskId,
    request_key,
    run_of,
    tell_replay,
)
from gateway.tasks import convert, wire
from gateway.tasks.submission import (
    MOST_CONTEXT_BYTES,
    Submission,
    Unacceptable,
    submission_of,
)
from gateway.tasks.wording import TASK, malformed, worded
from services.chassis.spans import tell_session
from zocrates.orchestrator.v1 import chat_pb2 as chat
from zocrates.orchestrator.v1 import task_pb2 as pb

router = APIRouter(prefix="/api/v1", tags=["tasks"])

STREAM = "/api/v1/stream/sse"
# What a client may ask for, and the states that it means.
STATES = {
    "QUEUED": [chat.RUN_STATE_QUEUED],
    "RUNNING": [chat.RUN_STATE_RUNNING, chat.RUN_STATE_AWAITING_INPUT],
    "COMPLETED": [chat.RUN_STATE_COMPLETED, chat.RUN_STATE_EXPIRED],
    "FAILED": [chat.RUN_STATE_FAILED],
    "CANCELLED": [chat.RUN_STATE_CANCELLED, chat.RUN_STATE_REWOUND],
    "CANCELED": [chat.RUN_STATE_CANCELLED, chat.RUN_STATE_REWOUND],
    # No task ends so here: one whose review timed out is complete.
    "TIMEOUT": [],
}

Limit = Annotated[int, Query(ge=1, le=100)]
EventLimit = Annotated[int, Query(ge=1, le=200)]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1)]
StatusFilter = Annotated[
    str, Query(max_length=20, json_schema_extra={"enum": sorted(STATES)}, description="Any case.")
]
SessionFilter = Annotated[str, Query(pattern=r"^$|" + wire.ID_PATTERN)]


@router.post("/tasks")
async def submit(
    body: wire.TaskRequest,
    context: InContext,
    caller: CalledBy,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> wire.Submitted:
    """Submit a task; its events and its answer can be read by its id."""
    key = request_key(idempotency_key, "/tasks", body)
    submission = _accepted(body)
    reply = await _submit(submission, key, context, caller)
    _tell(response, reply, idempotency_key)
    return wire.Submitted(**_submitted(reply, submission))


@router.post("/tasks/stream", status_code=201)
async def submit_and_stream(
    body: wire.TaskRequest,
    context: InContext,
    caller: CalledBy,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> wire.SubmittedStream:
    """Submit a task and get the address of its events."""
    key = request_key(idempotency_key, "/tasks/stream", body)
    submission = _accepted(body)
    reply = await _submit(submission, key, context, caller)
    _tell(response, reply, idempotency_key)
    stream_url = f"{STREAM}?workflow_id={reply.run_id}"
    response.headers["Link"] = f"<{stream_url}>; rel=stream"
    return wire.SubmittedStream(**_submitted(reply, submission), stream_url=stream_url)


@router.get("/tasks")
async def list_tasks(
    context: InContext,
    caller: CalledBy,
    limit: Limit = 20,
    offset: Offset = 0,
    status: StatusFilter = "",
    session_id: SessionFilter = "",
) -> wire.TaskList:
    """List tasks, the latest first."""
    states = STATES.get(status.upper()) if status else None
    if status and states is None:
        raise malformed(f"Invalid status (allowed: {', '.join(STATES)})", "status")
    if states == []:
        return wire.TaskList(tasks=[], total_count=0)
    request = pb.ListTasksRequest(
        limit=limit, offset=offset, states=states or [], session=session_id
    )
    page = await context.tasks.list(request, owner=caller.owner)
    return wire.TaskList(
        tasks=[convert.listed(task) for task in page.tasks], total_count=page.total_count
    )


@router.get("/tasks/{task_id}")
async def read_task(
    task_id: TaskId, context: InContext, caller: CalledBy, response: Response
) -> wire.Task:
    """Read a task with its answer, or with what went wrong."""
    with worded(TASK):
        task = await context.tasks.get(run_of(task_id), owner=caller.owner)
    response.headers["X-Workflow-ID"] = task.run_id
    return convert.task_of(task)


@router.get("/tasks/{task_id}/events")
async def read_events(
    task_id: TaskId,
    context: InContext,
    caller: CalledBy,
    limit: EventLimit = 50,
    offset: Offset = 0,
) -> wire.TaskEvents:
    """Read a page of a task's events, in order."""
    with worded(TASK):
        task = await context.tasks.get(run_of(task_id), owner=caller.owner)
        rows = convert.rows_of(
            await context.orchestrator.all_events(
                session_id=task.session_id, run_id=task.run_id, owner=caller.owner
            )
        )
    page = convert.event_bodies(rows)[offset : offset + limit]
    return wire.TaskEvents.model_validate({"events": page, "count": len(page)})


@router.get("/tasks/{task_id}/stream", status_code=307, response_class=RedirectResponse)
async def redirect_to_stream(
    task_id: TaskId,
    context: InContext,
    caller: CalledBy,
    types: Annotated[str, Query(max_length=2_000)] = "",
    last_event_id: Annotated[str, Query(max_length=100)] = "",
) -> str:
    """Go to the task's events, with what was asked of them."""
    with worded(TASK):
        task = await context.tasks.get(run_of(task_id), owner=caller.owner)
    asked = {"workflow_id": task.run_id, "types": types, "last_event_id": last_event_id}
    return f"{STREAM}?{QueryParams({name: value for name, value in asked.items() if value})}"


def _accepted(body: wire.TaskRequest) -> Submission:
    try:
        return submission_of(body)
    except Unacceptable as error:
        raise malformed(error.text, error.field) from error


async def _submit(
    submission: Submission, key: str, context: Context, caller: Caller
) -> pb.SubmitTaskResponse:
    options = chat.TurnOptions(
        hitl_enabled=submission.asks_for_extensions,
        strategy=STRATEGIES[submission.strategy or "unspecified"],
        review_plan=submission.is_reviewed,
        force_research=submission.is_forced,
    )
    if submission.review_timeout_s is not None:
        options.review_timeout.FromSeconds(submission.review_timeout_s)
    request = pb.SubmitTaskRequest(
        session=submission.session,
        query=submission.query,
        scope=scope_of(chat_wire.Scope(), caller),
        options=options,
        context=_json(submission),
        mode=submission.mode,
        models=pb.ModelWish(
            tier=submission.tier, model=submission.model, provider=submission.provider
        ),
        idempotency_key=key,
    )
    with worded(TASK):
        return await context.tasks.submit(request, owner=caller.owner)


def _json(submission: Submission) -> str:
    """The context as it is kept."""
    if not submission.context:
        return ""
    try:
        text = json.dumps(submission.context, ensure_ascii=False, allow_nan=False)
        text.encode()
    except ValueError as error:
        raise malformed("Invalid request body", "context") from error
    if "\\u0000" in text:
        raise malformed("context must not contain the NUL character", "context")
    if len(text.encode()) > MOST_CONTEXT_BYTES:
        raise malformed(f"context holds more than {MOST_CONTEXT_BYTES} bytes", "context")
    return text


def _tell(response: Response, reply: pb.SubmitTaskResponse, key: str | None) -> None:
    response.headers["X-Workflow-ID"] = reply.run_id
    response.headers["X-Session-ID"] = convert.session_id_of(reply)
    tell_session(convert.session_id_of(reply))
    tell_replay(response, key, reply.replayed)


def _submitted(reply: pb.SubmitTaskResponse, submission: Submission) -> dict[str, object]:
    told = [
        wire.Warned(
            code=warning.code,
            field=f"context.{warning.field}",
            given=_as_given(warning, submission),
            used=warning.used,
        )
        for warning in reply.warnings
    ]
    return {
        "task_id": reply.run_id,
        "workflow_id": reply.run_id,
        "message": "The task is submitted.",
        "created_at": reply.create_time.ToDatetime(tzinfo=UTC),
        "warnings": [*submission.warnings, *told],
    }


def _as_given(warning: pb.Warning, submission: Submission) -> str:
    # In the words of the person who submitted it, not in those of the call.
    given = submission.context.get(warning.field)
    return warning.given if given is None else str(given)[:200]
