"""Coming back to a run: its events from where a client left."""

from typing import Annotated

from fastapi import APIRouter, Header

from gateway import wire
from gateway.cursor import START, InvalidPosition, parse_position
from gateway.errors import GatewayError
from gateway.feed import RunKey
from gateway.follow import Watch
from gateway.routes.context import CalledBy, InContext
from gateway.streaming import EventStream

router = APIRouter(tags=["chat"])

LastEventId = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        description="The id of the last frame received; without it the run is told from the start.",
    ),
]


@router.get(
    "/sessions/{session_id}/runs/{invocation_id}/events",
    response_class=EventStream,
    status_code=200,
)
async def follow_run(
    session_id: wire.Id,
    invocation_id: wire.Id,
    context: InContext,
    caller: CalledBy,
    last_event_id: LastEventId = None,
) -> EventStream:
    """Stream a run's events from a position on, through pauses, until the run is over."""
    position = START
    if last_event_id:
        try:
            position = parse_position(last_event_id)
        except InvalidPosition as error:
            raise GatewayError("INVALID_POSITION", f"The Last-Event-ID {error}.") from error
        context.metrics.streams_resumed.add()
    run = RunKey(session_id=session_id, run_id=invocation_id)
    watch = Watch(owner=caller.owner, run=run, position=position, pauses_end=False)
    return context.stream(await context.follower.open(watch))
