"""What is forgotten: request keys after a day, steps after a month, events after a season."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import TextClause, text

from services.orchestrator.run import FINISHED
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
# Each of these stays in its run's message; of any other kind the last one does, if at all.
EACH = (
    *("tool_call", "tool_result", "request_input", "checkpoint_answered"),
    *("plan", "plan_feedback"),
)
NONE = ("thought", "answer_reset")
# The lock keeps a retry out; what NATS has not got yet is left for the relay.
EVENTS = text("""
    WITH old AS (
        SELECT id FROM run
        WHERE state = ANY(:finished) AND NOT relay_due
          AND finish_time < now() - make_interval(secs => :seconds)
          AND EXISTS (SELECT FROM event WHERE event.run_id = run.id)
        LIMIT :batch FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM event USING old WHERE event.run_id = old.id
        RETURNING event.run_id, event.sequence, event.time, event.type, event.payload
    ), told AS (
        SELECT * FROM gone
        UNION ALL
        SELECT digest.run_id, one.* FROM old JOIN digest ON digest.run_id = old.id,
             jsonb_to_recordset(digest.events) AS one(
                 sequence bigint, time timestamptz, type text, payload jsonb)
    ), ranked AS (
        SELECT *, lead(sequence) OVER (PARTITION BY run_id, type ORDER BY sequence) IS NULL
                  AS is_last
        FROM told
    )
    INSERT INTO digest (run_id, last_sequence, events)
    SELECT run_id, max(sequence), jsonb_agg(
               jsonb_build_object(
                   'sequence', sequence, 'time', time, 'type', type, 'payload', payload)
               ORDER BY sequence)
           FILTER (WHERE type = ANY(:each) OR (is_last AND NOT type = ANY(:none)))
    FROM ranked GROUP BY run_id
    ON CONFLICT (run_id) DO UPDATE
    SET last_sequence = excluded.last_sequence, events = excluded.events
    RETURNING run_id
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ages:
    """How long what is kept; steps and events from the end of their run on."""

    request_keys: timedelta
    steps: timedelta
    events: timedelta


class Retention:
    """Deletes in batches, so that no statement takes long."""

    def __init__(self, database: Database, *, batch: int = 1_000) -> None:
        self._database = database
        self._batch = batch

    async def forget(self, ages: Ages) -> int:
        """Let go of what is older than that; returns how many keys, steps and runs' events."""
        # A run has many events.
        runs = max(1, self._batch // 50)
        kept = {"finished": list(FINISHED), "each": list(EACH), "none": list(NONE)}
        return (
            await self._in_batches(REQUEST_KEYS, ages.request_keys, self._batch)
            + await self._in_batches(STEPS, ages.steps, self._batch)
            + await self._in_batches(EVENTS, ages.events, runs, kept)
        )

    async def _in_batches(
        self,
        statement: TextClause,
        age: timedelta,
        batch: int,
        parameters: Mapping[str, Any] | None = None,
    ) -> int:
        gone = 0
        while True:
            rows = await self._database.fetch(
                statement, {"seconds": age.total_seconds(), "batch": batch, **(parameters or {})}
            )
            gone += len(rows)
            if len(rows) < batch:
                return gone
