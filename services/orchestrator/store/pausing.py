"""Pausing a run and letting it go on, at its owner's wish.

A queued run pauses at once. For one that is held or waits the wish is a flag in its row: the holder
sees it in the reply to its next write and gives the run back, the decision finds it in its own
statement. Whatever makes such a run claimable again pauses it instead.
"""

from typing import Any

from sqlalchemy import text

from services.orchestrator import run as states
from services.orchestrator.errors import NotInThisState, UnknownRun
from services.orchestrator.run import PAUSING_LATER, Action, State
from services.orchestrator.store import request_keys
from services.orchestrator.store.control import Target
from services.orchestrator.store.database import Database, Transaction
from services.orchestrator.store.request_keys import Request

# The payload of the event, where the statement has the run's owner at hand: nobody else may pause.
PAUSED_BY_OWNER = "jsonb_build_object('change', 'RUN_STATE_CHANGE_PAUSED', 'by', owner)"

LOCK = text("""
    SELECT id, state, is_pausing FROM run
    WHERE id = :run_id AND session_id = :session_id AND owner = :owner FOR UPDATE
""")
FLAG = text("UPDATE run SET is_pausing = :is_pausing, version = version + 1 WHERE id = :run_id")
MOVE = text("""
    WITH moved AS (
        UPDATE run SET state = :state, version = version + 1, last_sequence = last_sequence + 1,
                       relay_due = true, update_time = clock_timestamp()
        WHERE id = :run_id RETURNING id, last_sequence, owner
    )
    INSERT INTO event (run_id, sequence, type, payload, time)
    SELECT id, last_sequence, 'run_state',
           jsonb_build_object('change', CAST(:change AS text), 'by', owner), clock_timestamp()
    FROM moved
""")


class Pausing:
    """Takes the wish to pause a run, and the wish to go on, once for each key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def pause(self, target: Target, *, key: str = "") -> None:
        """Stop a run before its next step. Raises UnknownRun, NotInThisState.

        A run that waits for an answer still takes it, and pauses then.
        """
        await self._wish(target, Action.PAUSE, key)

    async def resume(self, target: Target, *, key: str = "") -> None:
        """Let a paused run go on, or not pause after all. Raises UnknownRun, NotInThisState."""
        await self._wish(target, Action.RESUME, key)

    async def _wish(self, target: Target, action: Action, key: str) -> None:
        request = Request(owner=target.owner, route=action.name, key=key, body_hash=target.run_id)
        wanted = {
            "owner": target.owner,
            "session_id": target.session_id,
            "run_id": target.run_id,
        }
        async with self._database.transaction() as connection:
            # The run first: a key may be kept only for a run that is there.
            run = (await connection.execute(LOCK, wanted)).first()
            if run is None:
                raise UnknownRun(
                    f"There is no run {target.run_id!r} in session {target.session_id!r}."
                )
            # A late repetition must not pause what was meanwhile let go on.
            if await request_keys.take(connection, request, run.id) is None:
                await _apply(connection, run, action)


async def _apply(connection: Transaction, run: Any, action: Action) -> None:  # a row of LOCK
    pauses = action is Action.PAUSE
    if run.state in PAUSING_LATER and run.is_pausing != pauses:
        await connection.execute(FLAG, {"run_id": run.id, "is_pausing": pauses})
        return
    if run.state in PAUSING_LATER or run.state not in states.sources(action):
        said = "paused already" if run.is_pausing else run.state
        raise NotInThisState(
            f"The run is {said}: {action} is not possible now.",
            state=run.state,
            allowed=",".join(states.allowed_in(State(run.state))),
        )
    change = "PAUSED" if pauses else "RESUMED"
    await connection.execute(
        MOVE,
        {
            "run_id": run.id,
            "state": states.target(action),
            "change": f"RUN_STATE_CHANGE_{change}",
        },
    )
