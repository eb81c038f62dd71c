"""What is forgotten: request keys after a day, steps of finished runs after a month."""

from datetime import timedelta

from sqlalchemy import text

from services.orchestrator.store.database import Database

REQUEST_KEYS = text("""
    DELETE FROM request_key WHERE (owner, route, key) IN (
        SELECT owner, route, key FROM request_key
        WHERE create_time < now() - make_interval(secs => :seconds) LIMIT :batch)
    RETURNING key
""")
# A failed or cancelled run may be retried, so its steps stay; an active run is never touched.
STEPS = text("""
    DELETE FROM step WHERE (run_id, key) IN (
        SELECT run_id, key FROM step JOIN run ON run.id = run_id
        WHERE run.state IN ('COMPLETED', 'REWOUND')
          AND run.finish_time < now() - make_interval(secs => :seconds) LIMIT :batch)
    RETURNING key
""")


class Retention:
    """Deletes in batches, so that no statement takes long."""

    def __init__(self, database: Database, *, batch: int = 1_000) -> None:
        self._database = database
        self._batch = batch

    async def forget(self, *, request_keys: timedelta, steps: timedelta) -> int:
        """Delete what is older than that; returns how many rows went."""
        gone = 0
        for statement, age in ((REQUEST_KEYS, request_keys), (STEPS, steps)):
            while True:
                rows = await self._database.fetch(
                    statement, {"seconds": age.total_seconds(), "batch": self._batch}
                )
                gone += len(rows)
                if len(rows) < self._batch:
                    break
        return gone
