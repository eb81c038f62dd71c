"""The events of a task as server-sent events, from where a client left."""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Header, Query

from gateway.cursor import START, Position, after
from gateway.feed import RunKey
from gateway.follow import Watch
from gateway.routes.context import CalledBy, InContext
from gateway.routes.task_calls import run_of
from gateway.streaming import EventStream
from gateway.tasks.frames import TaskDialect, greeting
from gateway.tasks.wire import ID_PATTERN
from gateway.tasks.wording import TASK, worded

router = APIRouter(prefix="/api/v1", tags=["tasks"])

# `<milliseconds>-<sequence>`, or a sequence alone.
RESUMED = re.compile(r"(?:(?P<moment>\d{1,16})-)?(?P<sequence>\d{1,18})", re.ASCII)
PING_S = 10.0

WorkflowId = Annotated[str, Query(pattern=ID_PATTERN)]
Types = Annotated[
    str,
    Query(max_length=2_000, description="Types of events, with commas between; all without it."),
]
LastEventId = Annotated[
    str,
    Query(
        pattern=r"^([0-9]{1,16}-[0-9]{1,18}|[0-9]{1,18})?$",
        description="`stream_id` or `seq` of the last event that the client has.",
    ),
]
LastEventIdHeader = Annotated[
    str | None, Header(alias="Last-Event-ID", description="The same; it beats the parameter.")
]


@router.get("/stream/sse", response_class=EventStream, status_code=200)
async def stream(
    workflow_id: WorkflowId,
    context: InContext,
    caller: CalledBy,
    types: Types = "",
    last_event_id: LastEventId = "",
    last_event_id_header: LastEventIdHeader = None,
) -> EventStream:
    """Stream a task's events from a position on, through pauses, until the task has ended."""
    with worded(TASK):
        task = await context.tasks.get(run_of(workflow_id), owner=caller.owner)
        stream_id, position = _resumed(last_event_id_header or "", last_event_id)
        if position is not START:
            context.metrics.streams_resumed.add()
        wanted = frozenset(name for kind in types.split(",") if (name := kind.strip()))
        watch = Watch(
            owner=caller.owner,
            run=RunKey(session_id=task.session_id, run_id=task.run_id),
            position=position,
            pauses_end=False,
            dialect=TaskDialect(types=wanted, stream_id=stream_id),
        )
        frames = await context.follower.open(watch)
    return context.stream(_greeted(task.run_id, frames), most_ping_s=PING_S, breaks_off=True)


def _resumed(*given: str) -> tuple[str, Position]:
    """The id of the last frame and the position it means, by the first of these that is one."""
    for text in given:
        if (found := RESUMED.fullmatch(text)) is not None:
            sequence = int(found["sequence"])
            return text if found["moment"] else "", after(sequence) if sequence else START
    return "", START


async def _greeted(
    workflow_id: str, frames: AsyncGenerator[bytes, None]
) -> AsyncGenerator[bytes, None]:
    async with aclosing(frames):
        yield greeting(workflow_id)
        async for frame in frames:
            yield frame
