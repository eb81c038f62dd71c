"""Counts of what is under way, for whoever watches over the installation."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import text

from services.orchestrator.run import SCHEMA_VERSION
from services.orchestrator.store.database import Database

ACTIVE = ("QUEUED", "RUNNING", "AWAITING_INPUT", "PAUSED")
RUNS = text("""
    SELECT state, count(*) AS runs, count(*) FILTER (WHERE schema_version > :known) AS newer
    FROM run WHERE state IN ('QUEUED', 'RUNNING', 'AWAITING_INPUT', 'PAUSED') GROUP BY state
""")
PENDING = text("""
    SELECT count(*) AS pending,
           COALESCE(extract(epoch FROM clock_timestamp() - min(create_time)), 0) AS oldest_s
    FROM checkpoint WHERE state = 'PENDING'
""")
# A run that is due keeps that mark a little longer than it has to, so its rows are looked at.
LAG = text("""
    SELECT COALESCE(extract(epoch FROM clock_timestamp() - min(event.time)), 0) AS lag_s
    FROM run JOIN event ON event.run_id = run.id AND event.sequence > run.published_sequence
    WHERE run.relay_due
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What is under way at one moment."""

    active: Mapping[str, int]
    of_newer_code: int
    pending: int
    oldest_s: float
    outbox_lag_s: float


class Census:
    """Takes the numbers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self) -> Numbers:
        """Count what is under way now; raises DatabaseDown."""
        async with self._database.transaction(snapshot=True) as transaction:
            runs = await transaction.execute(RUNS, {"known": SCHEMA_VERSION})
            pending = (await transaction.execute(PENDING)).one()
            lag = (await transaction.execute(LAG)).one()
        found = {row.state: int(row.runs) for row in runs}
        return Numbers(
            active={state: found.get(state, 0) for state in ACTIVE},
            of_newer_code=sum(int(row.newer) for row in runs),
            pending=int(pending.pending),
            oldest_s=float(pending.oldest_s),
            outbox_lag_s=float(lag.lag_s),
        )
