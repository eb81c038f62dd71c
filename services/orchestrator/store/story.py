"""A run as it was told so far, with the trace that it belongs to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import text

from services.orchestrator.events import StoredEvent
from services.orchestrator.store.database import Database

STORY = text("""
    SELECT session_id, trace, sequence, event.time, type, payload
    FROM run JOIN event ON event.run_id = run.id
    WHERE run.id = :run_id AND sequence <= :sequence ORDER BY sequence
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Events in their order."""

    session_id: str
    trace: Mapping[str, str]
    events: Sequence[StoredEvent]


class Stories:
    """Reads them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def until(self, run_id: str, sequence: int) -> Story | None:
        """What was told up to an event; None when the run is deleted. Raises DatabaseDown."""
        rows = list(await self._database.fetch(STORY, {"run_id": run_id, "sequence": sequence}))
        if not rows:
            return None
        return Story(
            session_id=rows[0].session_id,
            trace=rows[0].trace,
            events=[
                StoredEvent(
                    session_id=row.session_id,
                    run_id=run_id,
                    sequence=row.sequence,
                    time=row.time,
                    type=row.type,
                    payload=row.payload,
                )
                for row in rows
            ],
        )
