"""Runs and sessions changed from outside: cancel, retry, rewind, rename, delete."""

import uuid

from fastapi import APIRouter, Response

from gateway import control, wire
from gateway.cursor import after
from gateway.feed import RunKey
from gateway.follow import Watch
from gateway.routes.context import CalledBy, IdempotencyKey, InContext
from gateway.routes.sessions import read_session, summary_of
from gateway.streaming import EventStream

router = APIRouter(tags=["sessions"])


@router.post("/sessions/{session_id}/cancel")
async def cancel(
    session_id: wire.Id, body: control.RunRequest, context: InContext, caller: CalledBy
) -> control.RunStanding:
    """Cancel a run at once; its steps and evidence stay visible."""
    await context.orchestrator.cancel_run(
        session_id=session_id, run_id=body.invocation_id, owner=caller.owner
    )
    return control.RunStanding(
        session_id=session_id, invocation_id=body.invocation_id, state="CANCELLED"
    )


@router.post("/sessions/{session_id}/retry", response_class=EventStream, status_code=200)
async def retry(
    session_id: wire.Id,
    body: control.RunRequest,
    context: InContext,
    caller: CalledBy,
    idempotency_key: IdempotencyKey = None,
) -> EventStream:
    """Let the session's last run, failed or cancelled, go on with its recorded steps."""
    # A call that the channel repeats after a lost reply must not be a conflict with itself.
    key = idempotency_key or f"gateway-{uuid.uuid4().hex}"
    retried = await context.orchestrator.retry_run(
        session_id=session_id, run_id=body.invocation_id, key=key, owner=caller.owner
    )
    run = RunKey(session_id=session_id, run_id=body.invocation_id)
    position = after(retried.after_sequence)
    watch = Watch(owner=caller.owner, run=run, position=position, pauses_end=True)
    return context.stream(await context.follower.open(watch))


@router.post("/sessions/{session_id}/rewind")
async def rewind(
    session_id: wire.Id, body: control.RunRequest, context: InContext, caller: CalledBy
) -> control.Rewound:
    """Take a run and all later ones out of the session, at once and whatever they do."""
    rewound = await context.orchestrator.rewind_session(
        session_id=session_id, run_id=body.invocation_id, owner=caller.owner
    )
    session = await read_session(session_id, context, caller)
    return control.Rewound(rewound=list(rewound.run_ids), session=session)


@router.patch("/sessions/{session_id}")
async def rename(
    session_id: wire.Id, body: control.RenameRequest, context: InContext, caller: CalledBy
) -> wire.SessionSummary:
    """Give a session another title."""
    renamed = await context.orchestrator.rename_session(
        session_id=session_id, title=body.title, owner=caller.owner
    )
    return summary_of(renamed.session)


@router.delete("/sessions/{session_id}", status_code=204, response_class=Response)
async def delete(session_id: wire.Id, context: InContext, caller: CalledBy) -> None:
    """Delete a session with all its runs, at once."""
    await context.orchestrator.delete_session(session_id, owner=caller.owner)
