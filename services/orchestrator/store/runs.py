"""Runs as work: started once, claimed by one, renewed, handed back."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any
from uuid import uuid4

from asyncpg import UniqueViolationError
from sqlalchemy import text

from services.orchestrator import run as states
from services.orchestrator.errors import PendingCheckpoint, RunActive, UnknownSession
from services.orchestrator.events import NewEvent, Told
from services.orchestrator.run import (
    ACTIVE,
    Action,
    Claimant,
    ClaimedRun,
    Lease,
    RunKind,
    Stage,
    State,
)
from services.orchestrator.store import request_keys
from services.orchestrator.store.claimed import TOLD, claimed_run, claiming, told_of
from services.orchestrator.store.database import Database, Rows, Transaction, as_json
from services.orchestrator.store.pausing import PAUSED_BY_OWNER
from services.orchestrator.store.request_keys import Request

ROUTE = "StartTurn"
TITLE_CHARACTERS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A validated prompt with its circumstances, ready to be stored."""

    owner: str
    session_id: str
    prompt: str
    active_items: Sequence[Mapping[str, Any]]
    scope: Mapping[str, Any]
    options: Mapping[str, Any]
    ceilings: Mapping[str, Any]
    trace: Mapping[str, str]
    events: Sequence[NewEvent]
    idempotency_key: str
    body_hash: str
    kind: RunKind = RunKind.CHAT
    # What only a task has, given back as it was.
    task: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The run that a turn started, or that its key had started before."""

    session_id: str
    run_id: str
    replayed: bool
    # The run, when it was started for a claimant.
    claimed: ClaimedRun | None = None
    # With it: its first events, for its claimant to publish.
    told: Told | None = None


# The row lock orders turns, and later rewinds, of one session.
LOCK_SESSION = text("SELECT id FROM session WHERE id = :id AND owner = :owner FOR UPDATE")
ACTIVE_RUN = text("""
    SELECT id, run.state, interrupt_id
    FROM run LEFT JOIN checkpoint ON checkpoint.run_id = run.id AND checkpoint.state = 'PENDING'
    WHERE session_id = :session_id AND run.kind = 'chat' AND run.state = ANY(:active)
""")
BEGIN = f"""
    , begun AS (
        INSERT INTO run (id, session_id, ordinal, kind, owner, prompt, active_items, scope,
                         options, ceilings, state, stage, last_sequence, trace, schema_version,
                         task, lease_owner, lease_epoch, lease_until, start_time,
                         relay_owner, relay_until)
        SELECT :id, :session_id, last_ordinal, :kind, :owner, :prompt,
               CAST(:active_items AS jsonb), CAST(:scope AS jsonb), CAST(:options AS jsonb),
               CAST(:ceilings AS jsonb), :state, :stage, jsonb_array_length(CAST(:events AS jsonb)),
               CAST(:trace AS jsonb), :schema_version, CAST(:task AS jsonb),
               CAST(:claimant AS text), (CAST(:claimant AS text) IS NOT NULL)::int,
               CASE WHEN CAST(:claimant AS text) IS NOT NULL
               THEN clock_timestamp() + make_interval(secs => :lease_s) END,
               CASE WHEN CAST(:claimant AS text) IS NOT NULL THEN clock_timestamp() END,
               -- The holder publishes what is written here and what it writes itself.
               CAST(:claimant AS text), CASE WHEN CAST(:claimant AS text) IS NOT NULL
               THEN clock_timestamp() + make_interval(secs => :relay_s) END
        FROM numbered
        RETURNING id, session_id, ordinal, prompt, active_items, scope, options, ceilings, state,
                  stage, pass, lease_epoch, last_sequence, usage, trace, create_time, is_pausing,
                  kind, published_sequence, relay_owner, update_time
    ), kept AS (
        INSERT INTO request_key (owner, route, key, body_hash, run_id, reply)
        SELECT :owner, :route, CAST(:key AS text), :body_hash, id, '{{}}'
        FROM begun WHERE CAST(:key AS text) <> ''
    ), told AS (
        INSERT INTO event (run_id, sequence, type, payload, time)
        SELECT begun.id, told.place, told.event ->> 'type', told.event -> 'payload',
               begun.update_time
        FROM begun,
             jsonb_array_elements(CAST(:events AS jsonb)) WITH ORDINALITY AS told(event, place)
        RETURNING sequence, type, payload
    )
    SELECT id, session_id, ordinal, prompt, active_items, scope, options, ceilings, state, stage,
           pass, lease_epoch, last_sequence, usage, trace, create_time, is_pausing, kind, {TOLD}
    FROM begun
"""
# A session with its first run; a request key that was used before refuses the whole statement.
NEW_SESSION = text(f"""
    WITH numbered AS (
        INSERT INTO session (id, owner, title, last_ordinal)
        VALUES (:session_id, :owner, :title, 1) RETURNING last_ordinal
    ) {BEGIN}
""")
NEW_RUN = text(f"""
    WITH numbered AS (
        UPDATE session SET last_ordinal = last_ordinal + 1, update_time = clock_timestamp()
        WHERE id = :session_id RETURNING last_ordinal
    ) {BEGIN}
""")
# The due runs are chosen once, before the update: a subquery would be asked again for every row in
# some plans, skip what it has locked, and so go beyond the limit.
CLAIM = text("""
    WITH due AS MATERIALIZED (
        SELECT id FROM run
        WHERE state IN ('QUEUED', 'RUNNING') AND schema_version <= :schema_version
          AND (state = 'QUEUED' OR lease_until < clock_timestamp())
          AND NOT (id = ANY(:held))
        ORDER BY create_time LIMIT :limit FOR UPDATE SKIP LOCKED
    )
    UPDATE run SET state = :running, lease_owner = :owner, lease_epoch = lease_epoch + 1,
                   lease_until = clock_timestamp() + make_interval(secs => :lease_s),
                   version = version + 1, start_time = COALESCE(start_time, clock_timestamp())
    FROM due WHERE run.id = due.id
    RETURNING run.id, session_id, ordinal, prompt, active_items, scope, options, ceilings, stage,
              pass, lease_epoch, last_sequence, usage, trace, create_time, is_pausing, kind
""")
RENEW = text("""
    UPDATE run SET lease_until = clock_timestamp() + make_interval(secs => :lease_s)
    FROM unnest(CAST(:ids AS text[]), CAST(:epochs AS bigint[])) AS held(id, epoch)
    WHERE run.id = held.id AND lease_epoch = held.epoch AND state = :running
    RETURNING run.id
""")
# A run that is to pause stops here instead of waiting for the next holder.
RELEASE = text(f"""
    WITH held AS (
        SELECT id, is_pausing FROM run
        WHERE id = :id AND lease_epoch = :epoch AND state = ANY(:sources) FOR UPDATE
    ), moved AS (
        UPDATE run SET
            state = CASE WHEN held.is_pausing THEN :paused ELSE :queued END,
            lease_owner = NULL, lease_until = NULL, version = version + 1,
            last_sequence = last_sequence + held.is_pausing::int,
            relay_due = relay_due OR held.is_pausing, is_pausing = false
        FROM held WHERE run.id = held.id
        RETURNING run.id, last_sequence, owner, control, held.is_pausing
    )
    INSERT INTO event (run_id, sequence, type, payload, time)
    SELECT id, last_sequence, 'run_state', {PAUSED_BY_OWNER}, clock_timestamp()
    FROM moved WHERE is_pausing
""")
# Work that newer code has begun: left alone here, but not out of sight.
UNKNOWN_SCHEMA = text("""
    SELECT count(*) AS runs FROM run
    WHERE state IN ('QUEUED', 'RUNNING') AND schema_version > :schema_version
""")


class Runs:
    """Starts, claims, renews and hands back runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def start_turn(self, turn: Turn, claimant: Claimant | None = None) -> Started:
        """Store a turn once; a claimant holds its run from then on.

        Raises UnknownSession, RunActive, PendingCheckpoint, IdempotencyMismatch.
        """
        run_id = uuid4().hex
        request = Request(
            owner=turn.owner, route=ROUTE, key=turn.idempotency_key, body_hash=turn.body_hash
        )
        if not turn.session_id:
            session_id = uuid4().hex
            with suppress(UniqueViolationError):
                parameters = new_run(turn, session_id, run_id, request, claimant)
                return _started(await self._database.fetch(NEW_SESSION, parameters))
        async with self._database.transaction() as connection:
            if (known := await request_keys.take(connection, request, run_id)) is not None:
                return Started(session_id=known.session_id, run_id=known.run_id, replayed=True)
            await _require_idle(connection, turn)
            # The key is taken already.
            keyless = replace(request, key="")
            parameters = new_run(turn, turn.session_id, run_id, keyless, claimant)
            rows = await connection.execute(NEW_RUN, parameters)
        return _started(rows)

    async def claim(
        self, owner: str, *, held: Sequence[str] = (), limit: int, lease_s: float
    ) -> tuple[ClaimedRun, ...]:
        """Take due runs, oldest first; of several claimers each run gets one.

        What the claimer still works on is left out: an outage ends its lease, not its work.
        """
        rows = await self._database.fetch(
            CLAIM,
            {
                "running": states.target(Action.CLAIM),
                "owner": owner,
                "held": list(held),
                "lease_s": lease_s,
                "limit": limit,
                "schema_version": states.SCHEMA_VERSION,
            },
        )
        return tuple(claimed_run(row) for row in sorted(rows, key=lambda row: row.create_time))

    async def renew(self, leases: Sequence[Lease], *, lease_s: float) -> frozenset[str]:
        """Prolong all leases in one statement; the runs that are not in the result are lost."""
        rows: Rows = await self._database.fetch(
            RENEW,
            {
                "lease_s": lease_s,
                "ids": [lease.run_id for lease in leases],
                "epochs": [lease.epoch for lease in leases],
                "running": State.RUNNING,
            },
        )
        return frozenset(row.id for row in rows)

    async def release(self, lease: Lease) -> None:
        """Hand the run back for anybody to claim at once, or paused; nothing if it is not ours."""
        await self._database.fetch(
            RELEASE,
            {
                "id": lease.run_id,
                "epoch": lease.epoch,
                "queued": states.target(Action.RELEASE),
                "paused": states.target(Action.PAUSE),
                "sources": list(states.sources(Action.RELEASE)),
            },
        )

    async def count_unknown_schema(self) -> int:
        """How many runs wait for newer code than this."""
        (row,) = await self._database.fetch(
            UNKNOWN_SCHEMA, {"schema_version": states.SCHEMA_VERSION}
        )
        return int(row.runs)


def title_of(prompt: str) -> str:
    """The first words of a prompt on one line; what is left out is told by an ellipsis."""
    line = " ".join(prompt.split())
    if len(line) <= TITLE_CHARACTERS:
        return line
    cut = line[: TITLE_CHARACTERS - 1]
    # At a word, unless the script has none that end there.
    at = cut.rfind(" ", TITLE_CHARACTERS // 2)
    return f"{cut[:at] if at > 0 else cut}…"


def _started(rows: Rows) -> Started:
    (row,) = rows
    is_claimed = row.state == State.RUNNING
    return Started(
        session_id=row.session_id,
        run_id=row.id,
        replayed=False,
        claimed=claimed_run(row) if is_claimed else None,
        told=told_of(row) if is_claimed else None,
    )


def new_run(
    turn: Turn,
    session_id: str,
    run_id: str,
    request: Request,
    claimant: Claimant | None = None,
) -> dict[str, Any]:
    """The parameters of a statement that begins a run."""
    return {
        "kind": turn.kind,
        "task": as_json(turn.task) if turn.task is not None else None,
        "id": run_id,
        "session_id": session_id,
        "title": title_of(turn.prompt),
        "prompt": turn.prompt,
        "active_items": as_json(list(turn.active_items)),
        "scope": as_json(turn.scope),
        "options": as_json(turn.options),
        "ceilings": as_json(turn.ceilings),
        "state": State.RUNNING if claimant else State.QUEUED,
        **claiming(claimant),
        "stage": Stage.CONVERSE,
        "events": as_json([asdict(event) for event in turn.events]),
        "trace": as_json(turn.trace),
        "schema_version": states.SCHEMA_VERSION,
        **request.place,
        "body_hash": request.body_hash,
    }


async def _require_idle(connection: Transaction, turn: Turn) -> None:
    """Lock the session. Raises UnknownSession, RunActive, PendingCheckpoint."""
    wanted = {"id": turn.session_id, "owner": turn.owner}
    if (await connection.execute(LOCK_SESSION, wanted)).first() is None:
        raise UnknownSession(f"There is no session {turn.session_id!r}.")
    active = (
        await connection.execute(
            ACTIVE_RUN, {"session_id": turn.session_id, "active": list(ACTIVE)}
        )
    ).first()
    if active is not None and active.state == State.AWAITING_INPUT:
        raise PendingCheckpoint(
            f"Session {turn.session_id!r} waits for an answer; resolve its checkpoint, or cancel "
            "or rewind the run, before asking anew.",
            run_id=active.id,
            interrupt_id=active.interrupt_id,
        )
    if active is not None:
        raise RunActive(
            f"Session {turn.session_id!r} has a run that is {active.state}; wait for its end.",
            run_id=active.id,
            state=active.state,
        )
