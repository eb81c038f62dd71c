"""Sessions as the task wire has them, named by their own id or by one that the client chose."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from gateway.errors import GatewayError
from gateway.routes.context import CalledBy, Context, InContext
from gateway.tasks import histories, session_wire, wire
from gateway.tasks.convert import rows_of
from gateway.tasks.wording import TASK, malformed, worded
from zocrates.orchestrator.v1 import task_pb2 as pb

router = APIRouter(prefix="/api/v1", tags=["sessions"])

MOST_TASKS = 100
# Events of so many turns are read at the same time.
AT_ONCE = 4

SessionName = Annotated[str, Path(pattern=wire.ID_PATTERN)]
Limit = Annotated[int, Query(ge=1, le=100)]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1)]


@router.get("/sessions")
async def list_sessions(
    context: InContext, caller: CalledBy, limit: Limit = 20, offset: Offset = 0
) -> session_wire.SessionPage:
    """List sessions with what their runs came to, the latest first."""
    page = await context.tasks.list_sessions(limit=limit, offset=offset, owner=caller.owner)
    return session_wire.SessionPage(
        sessions=[histories.listed_session(one) for one in page.sessions],
        total_count=page.total_count,
    )


@router.get("/sessions/{session_id}")
async def read_session(
    session_id: SessionName, context: InContext, caller: CalledBy
) -> session_wire.TaskSession:
    """Read a session with what its runs came to."""
    with worded(TASK):
        found = await context.tasks.get_session(session_id, owner=caller.owner)
    return histories.session_of(found)


@router.get("/sessions/{session_id}/history")
async def read_history(
    session_id: SessionName, context: InContext, caller: CalledBy
) -> session_wire.SessionHistory:
    """Read the tasks of a session, the oldest first."""
    with worded(TASK):
        found = await context.tasks.get_session(session_id, owner=caller.owner)
        tasks = await _tasks_of(found, context, caller.owner)
    return session_wire.SessionHistory(
        session_id=found.external_session_id or found.session_id,
        tasks=[histories.past_task(task) for task in tasks],
        total=len(tasks),
    )


@router.get("/sessions/{session_id}/events")
async def read_turns(
    session_id: SessionName,
    context: InContext,
    caller: CalledBy,
    limit: Limit = 20,
    offset: Offset = 0,
) -> session_wire.SessionTurns:
    """Read the tasks of a session with their events, the oldest first."""
    with worded(TASK):
        found = await context.tasks.get_session(session_id, owner=caller.owner)
        tasks = await _tasks_of(found, context, caller.owner)
        page = tasks[offset : offset + limit]
        gate = asyncio.Semaphore(AT_ONCE)

        async def turn(number: int, task: pb.Task) -> session_wire.Turn:
            async with gate:
                recorded = await context.orchestrator.all_events(
                    session_id=task.session_id, run_id=task.run_id, owner=caller.owner
                )
            return histories.turn_of(number, task, rows_of(recorded))

        turns = await asyncio.gather(
            *(turn(number, task) for number, task in enumerate(page, offset + 1))
        )
    return session_wire.SessionTurns(
        session_id=found.external_session_id or found.session_id, count=len(tasks), turns=turns
    )


@router.patch("/sessions/{session_id}")
async def rename(
    session_id: SessionName, body: session_wire.TitleRequest, context: InContext, caller: CalledBy
) -> session_wire.Titled:
    """Give a session another title."""
    title = body.title.strip()
    if not 1 <= len(title) <= session_wire.MOST_TITLE:
        raise malformed(f"title must have 1 to {session_wire.MOST_TITLE} characters", "title")
    with worded(TASK):
        found = await context.tasks.get_session(session_id, owner=caller.owner)
        await context.orchestrator.rename_session(
            session_id=found.session_id, title=title, owner=caller.owner
        )
    named = found.external_session_id or found.session_id
    return session_wire.Titled(session_id=named, title=title)


@router.delete("/sessions/{session_id}", status_code=204, response_class=Response)
async def delete(session_id: SessionName, context: InContext, caller: CalledBy) -> None:
    """Delete a session with all its runs; one that is gone already stays so."""
    try:
        found = await context.tasks.get_session(session_id, owner=caller.owner)
        await context.orchestrator.delete_session(found.session_id, owner=caller.owner)
    except GatewayError as error:
        if error.code != "UNKNOWN_SESSION":
            raise


async def _tasks_of(session: pb.TaskSession, context: Context, owner: str) -> list[pb.Task]:
    """All tasks of a session, the oldest first."""
    tasks: list[pb.Task] = []
    while True:
        request = pb.ListTasksRequest(
            limit=MOST_TASKS, offset=len(tasks), session=session.session_id, with_answers=True
        )
        page = await context.tasks.list(request, owner=owner)
        tasks += page.tasks
        if not page.tasks or len(tasks) >= page.total_count:
            return tasks[::-1]
