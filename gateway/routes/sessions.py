"""The owner's sessions: the list, and one with its messages."""

from datetime import UTC
from typing import Annotated

from fastapi import APIRouter, Query

from gateway import wire
from gateway.convert import state_name
from gateway.routes.context import CalledBy, InContext
from gateway.snapshot import message_from
from zocrates.orchestrator.v1 import chat_pb2 as pb

router = APIRouter(tags=["sessions"])

Limit = Annotated[int, Query(ge=1, le=100)]
Cursor = Annotated[wire.Text, Query(max_length=500)]
TitlePart = Annotated[wire.Text, Query(max_length=200, description="Part of the title.")]


@router.get("/sessions")
async def list_sessions(
    context: InContext,
    caller: CalledBy,
    limit: Limit = 20,
    cursor: Cursor = "",
    query: TitlePart = "",
) -> wire.SessionList:
    """List sessions, the latest first."""
    page = await context.orchestrator.list_sessions(
        limit=limit, cursor=cursor, query=query, owner=caller.owner
    )
    return wire.SessionList(
        sessions=[summary_of(session) for session in page.sessions],
        next_cursor=page.next_cursor or None,
    )


@router.get("/sessions/{session_id}")
async def read_session(session_id: wire.Id, context: InContext, caller: CalledBy) -> wire.Session:
    """Read a session with its runs as messages, the oldest first."""
    session = await context.orchestrator.get_session(session_id, owner=caller.owner)
    return wire.Session(
        id=session.session_id,
        title=session.title,
        messages=[message_from(message) for message in session.messages],
    )


def summary_of(summary: pb.SessionSummary) -> wire.SessionSummary:
    """A session as it stands in a list."""
    state = state_name(summary.state)
    return wire.SessionSummary.model_validate(
        {
            "id": summary.session_id,
            "title": summary.title,
            "created_at": summary.create_time.ToDatetime(tzinfo=UTC),
            "updated_at": summary.update_time.ToDatetime(tzinfo=UTC),
            "state": None if state == "UNSPECIFIED" else state,
            "pending": summary.pending,
        }
    )
