"""Events on their way to NATS: runs are claimed, rows are read in sequence, positions are kept."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import text

from services.orchestrator.events import StoredEvent
from services.orchestrator.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """A run whose events wait to be published, from a position on."""

    run_id: str
    session_id: str
    published: int
    trace: Mapping[str, str]


# Chosen once, before the update, as in the claim of work.
CLAIM = text("""
    WITH due AS MATERIALIZED (
        SELECT id FROM run
        WHERE relay_due AND NOT (id = ANY(:held))
          AND (relay_owner IS NULL OR relay_owner = :owner OR relay_until < clock_timestamp())
        ORDER BY create_time LIMIT :limit FOR UPDATE SKIP LOCKED
    )
    UPDATE run SET relay_owner = :owner,
                   relay_until = clock_timestamp() + make_interval(secs => :lease_s)
    FROM due WHERE run.id = due.id
    RETURNING run.id, session_id, published_sequence, trace
""")
UNPUBLISHED = text("""
    SELECT held.id AS run_id, sequence, time, type, payload
    FROM unnest(CAST(:ids AS text[]), CAST(:published AS bigint[])) AS held(id, published)
    -- Run by run: joined at once, all events there are would be looked at.
    CROSS JOIN LATERAL (
        SELECT sequence, time, type, payload FROM event
        WHERE run_id = held.id AND sequence > held.published
        ORDER BY sequence LIMIT :limit
    ) AS waiting
    ORDER BY held.id, sequence LIMIT :limit
""")
# Gives up the claim of a run that has ended and is published, and of those that the caller names.
# `relay_due` stays true while a run is kept: each change of it would touch an index.
MARK = text("""
    WITH held AS (
        SELECT run.id, held.published,
               held.ends OR (finish_time IS NOT NULL AND last_sequence <= held.published) AS ends
        FROM unnest(CAST(:ids AS text[]), CAST(:published AS bigint[]), CAST(:ends AS bool[]))
             AS held(id, published, ends)
        JOIN run ON run.id = held.id WHERE relay_owner = :owner
        ORDER BY run.id FOR UPDATE OF run
    )
    UPDATE run SET
        published_sequence = GREATEST(published_sequence, held.published),
        relay_due = CASE WHEN held.ends THEN last_sequence > held.published ELSE relay_due END,
        relay_owner = CASE WHEN held.ends THEN NULL ELSE relay_owner END,
        relay_until = CASE WHEN held.ends THEN NULL
                      ELSE clock_timestamp() + make_interval(secs => :lease_s) END
    FROM held WHERE run.id = held.id
    RETURNING run.id, relay_owner IS NOT NULL AS is_kept
""")


class Outbox:
    """What the relay reads and writes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(
        self, owner: str, *, held: Sequence[str], lease_s: float, limit: int
    ) -> list[Parcel]:
        """Take runs with unpublished events, besides those that are held already."""
        rows = await self._database.fetch(
            CLAIM, {"owner": owner, "held": list(held), "lease_s": lease_s, "limit": limit}
        )
        return [
            Parcel(
                run_id=row.id,
                session_id=row.session_id,
                published=row.published_sequence,
                trace=row.trace,
            )
            for row in rows
        ]

    async def unpublished(
        self, positions: Mapping[str, int], sessions: Mapping[str, str], *, limit: int
    ) -> list[StoredEvent]:
        """Events after the positions, in sequence within each run."""
        rows = await self._database.fetch(
            UNPUBLISHED,
            {"ids": list(positions), "published": list(positions.values()), "limit": limit},
        )
        return [
            StoredEvent(
                session_id=sessions[row.run_id],
                run_id=row.run_id,
                sequence=row.sequence,
                time=row.time,
                type=row.type,
                payload=row.payload,
            )
            for row in rows
        ]

    async def mark(
        self, owner: str, positions: Mapping[str, int], *, lease_s: float, leaving: Container[str]
    ) -> frozenset[str]:
        """Store the positions reached; the runs in the result are still held by this owner."""
        rows = await self._database.fetch(
            MARK,
            {
                "owner": owner,
                "ids": list(positions),
                "published": list(positions.values()),
                "lease_s": lease_s,
                "ends": [run_id in leaving for run_id in positions],
            },
        )
        return frozenset(row.id for row in rows if row.is_kept)
