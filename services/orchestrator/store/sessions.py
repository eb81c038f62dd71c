"""Sessions, messages, events and evidence as their owner may read them."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import text

from services.orchestrator.errors import (
    InvalidCursor,
    InvalidPosition,
    UnknownPassage,
    UnknownRun,
    UnknownSession,
)
from services.orchestrator.events import StoredEvent
from services.orchestrator.passages import Passage
from services.orchestrator.run import State
from services.orchestrator.store.database import Database, Rows, Transaction
from services.orchestrator.store.evidence import unpacked


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A session in a list."""

    id: str
    title: str
    create_time: datetime
    update_time: datetime
    # Of the last run; None when all were taken back.
    state: State | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Sessions, the latest first, and where the next page begins."""

    sessions: Sequence[Summary]
    next_cursor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A run as a message of its session."""

    run_id: str
    prompt: str
    create_time: datetime
    state: State
    events: Sequence[StoredEvent]
    # The question that the run waits for.
    pending: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A session with its messages, oldest first."""

    id: str
    title: str
    messages: Sequence[Message]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage:
    """Events after a position, and the run's standing at the same moment."""

    events: Sequence[StoredEvent]
    last_sequence: int
    state: State
    # Instead of events, when some after the position are no longer kept: the whole run.
    snapshot: Message | None = None


LIST = text("""
    SELECT session.id, title, session.create_time, session.update_time, last_run.state
    FROM session LEFT JOIN LATERAL (
        SELECT state FROM run WHERE session_id = session.id AND state <> 'REWOUND'
        ORDER BY ordinal DESC LIMIT 1
    ) AS last_run ON true
    WHERE session.owner = :owner
      AND (:query = '' OR strpos(lower(title), lower(:query)) > 0)
      AND (CAST(:time AS timestamptz) IS NULL
           OR (session.update_time, session.id) < (CAST(:time AS timestamptz), :id))
    ORDER BY session.update_time DESC, session.id DESC LIMIT :limit
""")
SESSION = text("SELECT id, title FROM session WHERE id = :id AND owner = :owner")
RUNS = """
    SELECT run.id, prompt, run.create_time, run.state, last_sequence, payload AS pending
    FROM run LEFT JOIN checkpoint ON checkpoint.run_id = run.id AND checkpoint.state = 'PENDING'
"""
RUNS_OF_SESSION = text(f"""
    {RUNS} WHERE session_id = :session_id AND run.state <> 'REWOUND' ORDER BY ordinal
""")
RUN = text(f"{RUNS} WHERE run.id = :run_id AND session_id = :session_id AND owner = :owner")
# What messages are made of: the events, and what is left of those that are no longer kept.
TOLD = text("""
    SELECT run_id, sequence, time, type, payload FROM event WHERE run_id = ANY(:run_ids)
    UNION ALL
    SELECT run_id, one.sequence, one.time, one.type, one.payload
    FROM digest, jsonb_to_recordset(events) AS one(
        sequence bigint, time timestamptz, type text, payload jsonb)
    WHERE run_id = ANY(:run_ids)
    ORDER BY run_id, sequence
""")
# One statement reads one moment: the events and the standing that they led to.
EVENTS = text("""
    SELECT run.id AS run_id, run.last_sequence, state, sequence, time, type, payload,
           COALESCE(digest.last_sequence > :after, false) AS is_gone
    FROM run LEFT JOIN digest ON digest.run_id = run.id
    LEFT JOIN LATERAL (
        SELECT sequence, time, type, payload FROM event
        WHERE event.run_id = run.id AND sequence > :after ORDER BY sequence LIMIT :limit
    ) AS told ON true
    WHERE run.id = :run_id AND session_id = :session_id AND owner = :owner
    ORDER BY sequence
""")
RUN_SESSION = text("SELECT session_id FROM run WHERE id = :run_id AND owner = :owner")
EVIDENCE = text("""
    SELECT step_key, content FROM evidence WHERE run_id = :run_id
""")


class Sessions:
    """Reads for one owner; what belongs to another does not exist."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, owner: str, *, query: str, cursor: str, limit: int) -> Page:
        """A page of sessions. Raises InvalidCursor."""
        time, last_id = _position(cursor)
        rows = await self._database.fetch(
            LIST,
            {"owner": owner, "query": query, "time": time, "id": last_id, "limit": limit + 1},
        )
        found = [
            Summary(
                id=row.id,
                title=row.title,
                create_time=row.create_time,
                update_time=row.update_time,
                state=State(row.state) if row.state else None,
            )
            for row in rows[:limit]
        ]
        return Page(sessions=found, next_cursor=_cursor(found[-1]) if len(rows) > limit else "")

    async def get(self, owner: str, session_id: str) -> Conversation:
        """A session at one moment. Raises UnknownSession."""
        async with self._database.transaction(snapshot=True) as connection:
            wanted = {"id": session_id, "owner": owner}
            session = (await connection.execute(SESSION, wanted)).first()
            if session is None:
                raise UnknownSession(f"There is no session {session_id!r}.")
            of_session = {"session_id": session_id}
            runs = (await connection.execute(RUNS_OF_SESSION, of_session)).all()
            messages = await _messages(connection, session_id, runs)
        return Conversation(id=session.id, title=session.title, messages=messages)

    async def events(
        self, owner: str, session_id: str, run_id: str, *, after: int, limit: int
    ) -> EventPage:
        """Events after a sequence, at one moment. Raises UnknownRun, InvalidPosition."""
        if after < 0:
            raise InvalidPosition(f"after_sequence must not be negative, it is {after}.")
        wanted = {"run_id": run_id, "session_id": session_id, "owner": owner}
        rows = await self._database.fetch(EVENTS, {**wanted, "after": after, "limit": limit})
        if not rows:
            raise UnknownRun(f"There is no run {run_id!r} in session {session_id!r}.")
        if rows[0].is_gone:
            return await self._whole(wanted)
        return EventPage(
            events=_events(session_id, [row for row in rows if row.sequence is not None]),
            last_sequence=rows[0].last_sequence,
            state=State(rows[0].state),
        )

    async def _whole(self, wanted: Mapping[str, str]) -> EventPage:
        async with self._database.transaction(snapshot=True) as connection:
            run = (await connection.execute(RUN, wanted)).first()
            if run is None:
                raise UnknownRun(
                    f"There is no run {wanted['run_id']!r} in session {wanted['session_id']!r}."
                )
            (message,) = await _messages(connection, wanted["session_id"], [run])
        return EventPage(
            events=(), last_sequence=run.last_sequence, state=message.state, snapshot=message
        )

    async def session_of(self, owner: str, run_id: str) -> str:
        """The session of a run, which never changes. Raises UnknownRun."""
        rows = await self._database.fetch(RUN_SESSION, {"run_id": run_id, "owner": owner})
        if not rows:
            raise UnknownRun(f"There is no run {run_id!r}.")
        return str(rows[0].session_id)

    async def passage(self, owner: str, run_id: str, passage_id: str) -> tuple[str, Passage]:
        """The session and a passage of a run, as recorded. Raises UnknownRun, UnknownPassage."""
        session_id = await self.session_of(owner, run_id)
        for row in await self._database.fetch(EVIDENCE, {"run_id": run_id}):
            for one in unpacked(row.step_key, row.content):
                if one.passage.id == passage_id:
                    return session_id, one.passage
        raise UnknownPassage(f"Run {run_id!r} gathered no passage {passage_id!r}.")


async def _messages(connection: Transaction, session_id: str, runs: Rows) -> list[Message]:
    """The runs with all that was told of them, in their order."""
    rows = (await connection.execute(TOLD, {"run_ids": [run.id for run in runs]})).all()
    told: dict[str, list[StoredEvent]] = {run.id: [] for run in runs}
    for event in _events(session_id, rows):
        told[event.run_id].append(event)
    return [
        Message(
            run_id=run.id,
            prompt=run.prompt,
            create_time=run.create_time,
            state=State(run.state),
            events=told[run.id],
            pending=run.pending,
        )
        for run in runs
    ]


def _events(session_id: str, rows: Rows) -> list[StoredEvent]:
    return [
        StoredEvent(
            session_id=session_id,
            run_id=row.run_id,
            sequence=row.sequence,
            time=row.time,
            type=row.type,
            payload=row.payload,
        )
        for row in rows
    ]


def _cursor(last: Summary) -> str:
    position = json.dumps([last.update_time.isoformat(), last.id])
    return base64.urlsafe_b64encode(position.encode()).decode()


def _position(cursor: str) -> tuple[datetime | None, str]:
    if not cursor:
        return None, ""
    try:
        time, last_id = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        parsed = datetime.fromisoformat(time)
    except (ValueError, TypeError, binascii.Error) as error:
        raise InvalidCursor(f"The cursor {cursor!r} is none of ours; start without one.") from error
    if parsed.tzinfo is None or not isinstance(last_id, str) or "\x00" in last_id:
        raise InvalidCursor(f"The cursor {cursor!r} is none of ours; start without one.")
    return parsed, last_id
