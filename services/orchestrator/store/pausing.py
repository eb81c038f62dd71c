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

# The payload of the event, where the statement has the run's row at hand: nobody but its owner may
# pause it.
PAUSED_BY_OWNER = """jsonb_strip_nulls(jsonb_build_object(
    'change', 'RUN_STATE_CHANGE_PAUSED', 'by', owner,
    'reason', NULLIF(control ->> 'pause_reason', '')))"""

LOCK = text("""
    SELECT id, state, is_pausing FROM run
    WHERE id = :run_id AND session_id = :session_id AND owner = :owner FOR UPDATE
""")
# Who wished for the last pause, when and why; kept when the run goes on.
WISHED = """
    CASE WHEN :pauses THEN control || jsonb_build_object(
        'pause_reason', CAST(:reason AS text), 'paused_by', owner, 'pause_time',
        to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
    ELSE control END
"""
FLAG = text(f"""
    UPDATE run SET is_pausing = :pauses, version = version + 1, control = {WISHED}
    WHERE id = :run_id
""")
MOVE = text(f"""
    WITH moved AS (
        UPDATE run SET state = :state, version = version + 1, last_sequence = last_sequence + 1,
                       relay_due = true, update_time = clock_timestamp(), control = {WISHED}
        WHERE id = :run_id RETURNING id, last_sequence, owner
    )
    INSERT INTO event (run_id, sequence, type, payload, time)
    SELECT id, last_sequence, 'run_state',
           jsonb_build_object('change', CAST(:change AS text), 'by', owner)
           || CASE WHEN :reason = '' THEN '{{}}'
                   ELSE jsonb_build_object('reason', CAST(:reason AS text)) END,
           clock_timestamp()
    FROM moved
""")


class Pausing:
    """Takes the wish to pause a run, and the wish to go on, once for each key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def pause(self, target: Target, *, reason: str = "", key: str = "") -> bool:
        """Stop a run before its next step; says whether the key had done so before.

        A run that waits for an answer still takes it, and pauses then. Raises UnknownRun,
        NotInThisState, IdempotencyMismatch.
        """
        return await self._wish(target, Action.PAUSE, reason, key)

    async def resume(self, target: Target, *, reason: str = "", key: str = "") -> bool:
        """Let a paused run go on, or not pause after all; says whether the key had done so before.

        Raises UnknownRun, NotInThisState, IdempotencyMismatch.
        """
        return await self._wish(target, Action.RESUME, reason, key)

    async def _wish(self, target: Target, action: Action, reason: str, key: str) -> bool:
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
            if await request_keys.take(connection, request, run.id) is not None:
                return True
            await _apply(connection, run, action, reason)
        return False


async def _apply(
    connection: Transaction,
    run: Any,  # a row of LOCK
    action: Action,
    reason: str,
) -> None:
    pauses = action is Action.PAUSE
    wish = {"run_id": run.id, "pauses": pauses, "reason": reason}
    if run.state in PAUSING_LATER and run.is_pausing != pauses:
        await connection.execute(FLAG, wish)
        return
    if run.state in PAUSING_LATER or run.state not in states.sources(action):
        said = "paused already" if run.is_pausing else run.state
        raise NotInThisState(
            f"The run is {said}: {action} is not possible now.",
            state=run.state,
            allowed=",".join(states.allowed_in(State(run.state))),
            paused=str(run.is_pausing or run.state == State.PAUSED).lower(),
        )
    change = "PAUSED" if pauses else "RESUMED"
    await connection.execute(
        MOVE,
        {
            **wish,
            "state": states.target(action),
            "change": f"RUN_STATE_CHANGE_{change}",
        },
    )
