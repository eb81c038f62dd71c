"""What is done to runs and sessions from outside: at once, under the session's row lock.

Each of them ends or fences the work of whoever holds a run by raising its epoch; the holder notices
soon, and until then its writes do nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text

from services.orchestrator import run as states
from services.orchestrator.errors import (
    NotInThisState,
    RunActive,
    UnknownRun,
    UnknownSession,
)
from services.orchestrator.run import ACTIVE, Action, State, WrongState
from services.orchestrator.store import request_keys
from services.orchestrator.store.database import Database, Transaction, as_json
from services.orchestrator.store.request_keys import Request
from services.orchestrator.store.sessions import Summary

# What is told to who asked for what the state does not allow.
WHEN = {
    Action.CANCEL: "Only a run that is not over can be cancelled",
    Action.RETRY: "Only a run that failed or was cancelled can go on",
}
# The words of the wire for what was done.
CHANGES = {Action.CANCEL: "CANCELLED", Action.REWIND: "REWOUND", Action.RETRY: "RETRIED"}

LOCK = text("SELECT id FROM session WHERE id = :session_id AND owner = :owner FOR UPDATE")
# Locked in one order by everybody, so that nobody waits in a circle.
# A task stands for itself: what happens to it does not happen to what came after it.
RUNS = text("""
    SELECT run.id, run.ordinal, run.state
    FROM run AS named JOIN run ON run.session_id = named.session_id
     AND (run.id = named.id OR (run.kind = 'chat' AND named.kind = 'chat'
                                AND run.ordinal > named.ordinal))
    WHERE named.id = :run_id AND named.session_id = :session_id
    ORDER BY run.ordinal FOR UPDATE OF run
""")
CHANGE = text("""
    WITH moved AS (
        UPDATE run SET
            state = :state, version = version + 1, lease_epoch = lease_epoch + 1,
            lease_owner = NULL, lease_until = NULL, last_sequence = last_sequence + 1,
            relay_due = true, update_time = clock_timestamp(), is_pausing = false,
            finish_time = CASE WHEN :ends THEN COALESCE(finish_time, clock_timestamp()) END,
            control = control || CAST(:control AS jsonb)
        WHERE id = ANY(:ids) RETURNING id, last_sequence
    ), withdrawn AS (
        UPDATE checkpoint SET
            state = 'WITHDRAWN', answered_by = :by, answered_at = clock_timestamp()
        FROM moved WHERE checkpoint.run_id = moved.id AND checkpoint.state = 'PENDING'
    )
    INSERT INTO event (run_id, sequence, type, payload, time)
    SELECT id, last_sequence, 'run_state',
           jsonb_build_object('change', CAST(:change AS text), 'by', CAST(:by AS text))
           || CASE WHEN :reason = '' THEN '{}'
                   ELSE jsonb_build_object('reason', CAST(:reason AS text)) END,
           clock_timestamp()
    FROM moved
    RETURNING run_id, sequence
""")
RENAME = text("""
    UPDATE session SET title = :title WHERE id = :session_id AND owner = :owner
    RETURNING id, title, create_time, update_time, (
        SELECT state FROM run WHERE session_id = session.id AND state <> 'REWOUND'
        ORDER BY ordinal DESC LIMIT 1) AS state
""")
DELETE = text("DELETE FROM session WHERE id = :session_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A run as its owner names it."""

    owner: str
    session_id: str
    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Retried:
    """The run goes on after this sequence."""

    after_sequence: int
    replayed: bool


class Control:
    """Cancels, takes back, retries, renames and deletes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def cancel(self, target: Target, *, reason: str = "", key: str = "") -> bool:
        """End a run that has not ended; says whether the key had done so before.

        Raises UnknownRun, NotInThisState, IdempotencyMismatch.
        """
        request = Request(owner=target.owner, route="Cancel", key=key, body_hash=target.run_id)
        async with self._database.transaction() as connection:
            (run, *_) = await _from(connection, target)
            if await request_keys.take(connection, request, run.id) is not None:
                return True
            _require(run, Action.CANCEL)
            wish = {"cancelled_by": target.owner, "cancel_reason": reason}
            await _change(
                connection, [run.id], Action.CANCEL, target.owner, reason=reason, control=wish
            )
        return False

    async def rewind(self, target: Target) -> list[str]:
        """Take a run and all later ones out of the history; returns them. Raises UnknownRun.

        A repetition is told which are out of it and takes nothing more along: what is there still
        was started after the first request.
        """
        async with self._database.transaction() as connection:
            runs = await _from(connection, target)
            if runs[0].state == State.REWOUND:
                return [run.id for run in runs if run.state == State.REWOUND]
            ids = [run.id for run in runs if run.state != State.REWOUND]
            await _change(connection, ids, Action.REWIND, target.owner)
        return ids

    async def retry(self, target: Target, *, key: str = "", body_hash: str = "") -> Retried:
        """Let the session's last run go on with what it recorded, once for each key.

        Raises UnknownRun, NotInThisState, RunActive, IdempotencyMismatch.
        """
        async with self._database.transaction() as connection:
            request = Request(owner=target.owner, route="RetryRun", key=key, body_hash=body_hash)
            known = await request_keys.take(connection, request, target.run_id)
            if known is not None:
                return Retried(after_sequence=known.reply["after_sequence"], replayed=True)
            run, *later = await _from(connection, target)
            later = [one for one in later if one.state != State.REWOUND]
            active = next((one for one in later if one.state in ACTIVE), None)
            if active is not None:
                raise RunActive(
                    f"Session {target.session_id!r} has a run that is {active.state}; wait for "
                    "its end.",
                    run_id=active.id,
                    state=active.state,
                )
            _require(run, Action.RETRY)
            if later:
                raise NotInThisState(
                    "Only the last run of a session can go on; others came after this one.",
                    state=run.state,
                )
            (told,) = await _change(connection, [run.id], Action.RETRY, target.owner)
            reply = {"after_sequence": told.sequence - 1}
            await request_keys.keep_reply(connection, request, reply)
        return Retried(after_sequence=told.sequence - 1, replayed=False)

    async def rename(self, owner: str, session_id: str, title: str) -> Summary:
        """Give a session another title; its place in lists stays. Raises UnknownSession."""
        wanted = {"owner": owner, "session_id": session_id, "title": title}
        rows = await self._database.fetch(RENAME, wanted)
        if not rows:
            raise UnknownSession(f"There is no session {session_id!r}.")
        (row,) = rows
        return Summary(
            id=row.id,
            title=row.title,
            create_time=row.create_time,
            update_time=row.update_time,
            state=State(row.state) if row.state else None,
        )

    async def delete(self, owner: str, session_id: str) -> None:
        """Forget a session and all its runs. Raises UnknownSession."""
        async with self._database.transaction() as connection:
            wanted = {"owner": owner, "session_id": session_id}
            if (await connection.execute(LOCK, wanted)).first() is None:
                raise UnknownSession(f"There is no session {session_id!r}.")
            await connection.execute(DELETE, {"session_id": session_id})


async def _from(connection: Transaction, target: Target) -> Sequence[Any]:
    """The run and all later ones of its session, locked. Raises UnknownRun."""
    wanted = {"owner": target.owner, "session_id": target.session_id, "run_id": target.run_id}
    locked = (await connection.execute(LOCK, wanted)).first()
    runs = (await connection.execute(RUNS, wanted)).all() if locked is not None else ()
    if not runs:
        raise UnknownRun(f"There is no run {target.run_id!r} in session {target.session_id!r}.")
    return runs


def _require(run: Any, action: Action) -> None:  # a row of RUNS
    try:
        states.advance(run.id, State(run.state), action)
    except WrongState as error:
        raise NotInThisState(
            f"{WHEN[action]}; this one is {error.state}.",
            state=error.state,
            allowed=",".join(error.allowed),
        ) from error


async def _change(
    connection: Transaction,
    ids: Sequence[str],
    action: Action,
    by: str,
    *,
    reason: str = "",
    control: Mapping[str, str] | None = None,
) -> Sequence[Any]:
    state = states.target(action)
    result = await connection.execute(
        CHANGE,
        {
            "ids": list(ids),
            "state": state,
            "ends": state in states.FINISHED,
            "change": f"RUN_STATE_CHANGE_{CHANGES[action]}",
            "by": by,
            "reason": reason,
            "control": as_json(control or {}),
        },
    )
    return result.all()
