"""Sessions with what their runs came to, by their own id or the one that the caller chose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import text

from services.orchestrator.errors import UnknownSession
from services.orchestrator.run import ACTIVE, State
from services.orchestrator.store.database import Database, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """What all runs of a session used; the cost is None when one of them is not known."""

    calls: int
    words: int
    input_tokens: int
    output_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSession:
    """A session and its runs in numbers; those that were taken back do not count."""

    id: str
    external_id: str
    owner: str
    title: str
    create_time: datetime
    update_time: datetime
    runs: int
    successful: int
    failed: int
    sums: Sums
    is_active: bool
    latest_query: str
    latest_state: State | None
    latest_options: Mapping[str, Any]
    # Of the first task; empty when there is none.
    first_mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSessions:
    """A page of sessions, and how many there are on all pages."""

    sessions: Sequence[TaskSession]
    total: int


# The first row is the session that is named, or the page that is wanted.
SUMMED = """
    SELECT named.*, numbers.*, latest.*, first_mode
    FROM named
    CROSS JOIN LATERAL (
        SELECT count(*) AS runs,
               count(*) FILTER (WHERE state = 'COMPLETED') AS successful,
               count(*) FILTER (WHERE state IN ('FAILED', 'EXPIRED')) AS failed,
               COALESCE(bool_or(state = ANY(:active)), false) AS is_active,
               COALESCE(sum(CAST(usage ->> 'calls' AS bigint)), 0) AS calls,
               COALESCE(sum(CAST(usage ->> 'words' AS bigint)), 0) AS words,
               COALESCE(sum(CAST(usage ->> 'input_tokens' AS bigint)), 0) AS input_tokens,
               COALESCE(sum(CAST(usage ->> 'output_tokens' AS bigint)), 0) AS output_tokens,
               COALESCE(bool_and(usage ->> 'cost' IS NOT NULL OR NOT usage ? 'cost'), true)
                   AS is_cost_known,
               COALESCE(sum(CAST(usage ->> 'cost' AS float8)), 0) AS cost
        FROM run WHERE run.session_id = named.id AND state <> 'REWOUND'
    ) AS numbers
    LEFT JOIN LATERAL (
        SELECT prompt AS latest_query, state AS latest_state, options AS latest_options
        FROM run WHERE run.session_id = named.id AND state <> 'REWOUND'
        ORDER BY ordinal DESC LIMIT 1
    ) AS latest ON true
    LEFT JOIN LATERAL (
        SELECT COALESCE(task ->> 'mode', '') AS first_mode
        FROM run WHERE run.session_id = named.id AND kind = 'task' ORDER BY ordinal LIMIT 1
    ) AS first ON true
"""
NAMED = "id, COALESCE(external_id, '') AS external_id, owner, title, create_time, update_time"
GET = text(f"""
    WITH named AS (
        SELECT {NAMED} FROM session
        WHERE owner = :owner AND (id = :session OR external_id = :session) LIMIT 1
    ) {SUMMED}
""")
LIST = text(f"""
    WITH named AS (
        SELECT {NAMED} FROM session WHERE owner = :owner
        ORDER BY update_time DESC, id DESC LIMIT :limit OFFSET :offset
    ) {SUMMED} ORDER BY named.update_time DESC, named.id DESC
""")
COUNT = text("SELECT count(*) AS total FROM session WHERE owner = :owner")


class TaskSessionStore:
    """Reads sessions for one owner; what belongs to another does not exist."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, owner: str, session: str) -> TaskSession:
        """A session by either id. Raises UnknownSession."""
        wanted = {"owner": owner, "session": session, "active": list(ACTIVE)}
        row = (await self._database.fetch(GET, wanted)).first()
        if row is None:
            raise UnknownSession(f"There is no session {session!r}.")
        return _session(row)

    async def list(self, owner: str, *, limit: int, offset: int) -> TaskSessions:
        """A page of sessions, the latest first."""
        page = {"owner": owner, "limit": limit, "offset": offset, "active": list(ACTIVE)}
        async with self._database.transaction(snapshot=True) as connection:
            count = (await connection.execute(COUNT, {"owner": owner})).one()
            rows = await connection.execute(LIST, page)
        return TaskSessions(sessions=[_session(row) for row in rows], total=count.total)


def _session(row: Row) -> TaskSession:
    return TaskSession(
        id=row.id,
        external_id=row.external_id,
        owner=row.owner,
        title=row.title,
        create_time=row.create_time,
        update_time=row.update_time,
        runs=row.runs,
        successful=row.successful,
        failed=row.failed,
        sums=Sums(
            calls=int(row.calls),
            words=int(row.words),
            input_tokens=int(row.input_tokens),
            output_tokens=int(row.output_tokens),
            cost=row.cost if row.is_cost_known else None,
        ),
        is_active=row.is_active,
        latest_query=row.latest_query or "",
        latest_state=State(row.latest_state) if row.latest_state else None,
        latest_options=row.latest_options or {},
        first_mode=row.first_mode or "",
    )
