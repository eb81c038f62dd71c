"""Tasks: runs of which a session may have many at once, started and read by their owner."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import text

from services.orchestrator.errors import UnknownRun
from services.orchestrator.plans import ConfirmedPlan
from services.orchestrator.run import State, Usage
from services.orchestrator.store import request_keys
from services.orchestrator.store.database import Database, Row, Transaction
from services.orchestrator.store.request_keys import Request
from services.orchestrator.store.reviews import rounds_from_rows
from services.orchestrator.store.runs import NEW_RUN, Turn, new_run, title_of

ROUTE = "SubmitTask"


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """The task, its session, and whether the key had started it before."""

    run_id: str
    session_id: str
    external_id: str
    create_time: datetime
    replayed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task as it is now."""

    run_id: str
    session_id: str
    external_id: str
    query: str
    # What was submitted with it and is given back as it was.
    submitted: Mapping[str, Any]
    options: Mapping[str, Any]
    state: State
    usage: Usage
    create_time: datetime
    update_time: datetime
    start_time: datetime | None
    finish_time: datetime | None
    last_sequence: int
    is_pausing: bool
    control: Mapping[str, str]
    # The wire's JSON objects, when they were asked for and are there.
    answer: Mapping[str, Any] | None
    error: Mapping[str, Any] | None
    pending: Mapping[str, Any] | None
    plan: ConfirmedPlan | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    """A page of tasks, and how many there are on all pages."""

    tasks: Sequence[Task]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which tasks are wanted."""

    owner: str
    states: Sequence[State]
    # A session id, or one that the caller chose; empty for all.
    session: str
    limit: int
    offset: int
    with_answers: bool


OWN_SESSION = text("""
    SELECT id, external_id FROM session WHERE id = :session AND owner = :owner FOR UPDATE
""")
NEW_SESSION = text("""
    INSERT INTO session (id, owner, title, external_id)
    VALUES (:id, :owner, :title, CAST(:external_id AS text))
    ON CONFLICT (owner, external_id) WHERE external_id IS NOT NULL
    DO UPDATE SET owner = excluded.owner
    RETURNING id, external_id
""")
STARTED = text("""
    SELECT run.id, session_id, COALESCE(external_id, '') AS external_id, run.create_time
    FROM run JOIN session ON session.id = session_id WHERE run.id = :run_id
""")
# The last event of a kind, kept or digested.
LAST = """(
    SELECT payload FROM (
        SELECT sequence, payload FROM event WHERE run_id = run.id AND type = '{kind}'
        UNION ALL
        SELECT one.sequence, one.payload FROM digest, jsonb_to_recordset(events) AS one(
            sequence bigint, type text, payload jsonb)
        WHERE digest.run_id = run.id AND one.type = '{kind}'
    ) AS told ORDER BY sequence DESC LIMIT 1
)"""
FULL = f"""
    run.id, run.session_id, COALESCE(external_id, '') AS external_id, prompt, task, options,
    run.state, usage, run.create_time, run.update_time, start_time, finish_time, last_sequence,
    is_pausing, control, pending.payload AS pending,
    CASE WHEN :with_answers AND run.state = 'COMPLETED' THEN {LAST.format(kind="answer")} END
        AS answer,
    CASE WHEN :with_answers AND run.state IN ('FAILED', 'EXPIRED')
         THEN {LAST.format(kind="error")} END AS error,
    CASE WHEN :with_answers THEN approved.payload #>> '{{plan,current_plan}}' END
        AS confirmed_plan,
    CASE WHEN :with_answers AND approved.run_id IS NOT NULL THEN (
        SELECT json_agg(json_build_array(author, message, intent, time) ORDER BY number)
        FROM plan_round WHERE plan_round.run_id = run.id) END AS rounds
"""
JOINED = """
    run JOIN session ON session.id = run.session_id
    LEFT JOIN checkpoint AS pending ON pending.run_id = run.id AND pending.state = 'PENDING'
    LEFT JOIN checkpoint AS approved ON approved.run_id = run.id
     AND approved.kind = 'PLAN_REVIEW' AND approved.state = 'ANSWERED'
"""
GET = text(f"""
    SELECT {FULL} FROM {JOINED}
    WHERE run.id = :run_id AND run.owner = :owner AND run.kind = 'task'
""")
WANTED = """
    run.owner = :owner AND run.kind = 'task'
    AND (cardinality(CAST(:states AS text[])) = 0 OR run.state = ANY(:states))
    AND (CAST(:session AS text) = '' OR session.id = :session OR external_id = :session)
"""
LIST = text(f"""
    SELECT {FULL} FROM {JOINED} WHERE {WANTED}
    ORDER BY run.create_time DESC, run.id DESC LIMIT :limit OFFSET :offset
""")
COUNT = text(f"""
    SELECT count(*) AS total FROM run JOIN session ON session.id = run.session_id WHERE {WANTED}
""")


class TaskStore:
    """Submits tasks and reads them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def submit(self, turn: Turn, session: str) -> Submitted:
        """Store a task once; its session is created when it is unknown.

        Raises IdempotencyMismatch.
        """
        run_id = uuid4().hex
        request = Request(
            owner=turn.owner, route=ROUTE, key=turn.idempotency_key, body_hash=turn.body_hash
        )
        async with self._database.transaction() as connection:
            known = await request_keys.take(connection, request, run_id)
            if known is None:
                session_id = await _session(connection, turn, session)
                keyless = Request(owner=turn.owner, route=ROUTE, key="", body_hash="")
                await connection.execute(NEW_RUN, new_run(turn, session_id, run_id, keyless))
            started = known.run_id if known is not None else run_id
            row = (await connection.execute(STARTED, {"run_id": started})).one()
        return Submitted(
            run_id=row.id,
            session_id=row.session_id,
            external_id=row.external_id,
            create_time=row.create_time,
            replayed=known is not None,
        )

    async def get(self, owner: str, run_id: str) -> Task:
        """A task as it is now. Raises UnknownRun."""
        wanted = {"owner": owner, "run_id": run_id, "with_answers": True}
        row = (await self._database.fetch(GET, wanted)).first()
        if row is None:
            raise UnknownRun(f"There is no task {run_id!r}.")
        return _task(row)

    async def list(self, wanted: Filter) -> Tasks:
        """A page of tasks, the latest first."""
        named = {
            "owner": wanted.owner,
            "states": [str(state) for state in wanted.states],
            "session": wanted.session,
        }
        page = {
            "limit": wanted.limit,
            "offset": wanted.offset,
            "with_answers": wanted.with_answers,
        }
        async with self._database.transaction(snapshot=True) as connection:
            count = (await connection.execute(COUNT, named)).one()
            rows = await connection.execute(LIST, {**named, **page})
        return Tasks(tasks=[_task(row) for row in rows], total=count.total)


async def _session(connection: Transaction, turn: Turn, wanted: str) -> str:
    """The session that the caller named, locked; a new one when nothing has that name."""
    if wanted:
        own = {"session": wanted, "owner": turn.owner}
        if (found := (await connection.execute(OWN_SESSION, own)).first()) is not None:
            return str(found.id)
    created = await connection.execute(
        NEW_SESSION,
        {
            "id": uuid4().hex,
            "owner": turn.owner,
            "title": title_of(turn.prompt),
            "external_id": wanted or None,
        },
    )
    return str(created.one().id)


def _task(row: Row) -> Task:
    plan = None
    if row.confirmed_plan is not None:
        plan = ConfirmedPlan(
            text=row.confirmed_plan, conversation=rounds_from_rows(row.rounds or ())
        )
    return Task(
        run_id=row.id,
        session_id=row.session_id,
        external_id=row.external_id,
        query=row.prompt,
        submitted=row.task or {},
        options=row.options,
        state=State(row.state),
        usage=Usage(**row.usage),
        create_time=row.create_time,
        update_time=row.update_time,
        start_time=row.start_time,
        finish_time=row.finish_time,
        last_sequence=row.last_sequence,
        is_pausing=row.is_pausing,
        control=row.control,
        answer=row.answer,
        error=row.error,
        pending=row.pending,
        plan=plan,
    )
