"""Reviews of plans that nobody decided in time end their runs, found by a query in batches."""

from sqlalchemy import text

from services.orchestrator import events, plans
from services.orchestrator.checkpoint import EXPIRY, PLAN_REVIEW, CheckpointState
from services.orchestrator.run import Action, RunKind, sources, target
from services.orchestrator.store.database import Database, as_json

# Deadlines that several replicas find at once are shared out between them. While feedback is in
# flight the deadline is not looked at.
EXPIRE = text("""
    WITH held AS (
        SELECT run.id, run.kind, run.owner
        FROM checkpoint AS due JOIN run ON run.id = due.run_id
        WHERE due.state = 'PENDING' AND due.expires_at <= clock_timestamp()
          AND due.interrupt_id = :interrupt_id
          AND COALESCE(due.in_flight_until <= clock_timestamp(), true)
        ORDER BY due.expires_at LIMIT :limit FOR UPDATE OF run SKIP LOCKED
    ), claimed AS (
        UPDATE checkpoint SET state = :checkpoint_state, answered_by = :by,
                              answered_at = clock_timestamp()
        FROM held
        WHERE checkpoint.run_id = held.id AND interrupt_id = :interrupt_id
          AND checkpoint.state = 'PENDING' AND expires_at <= clock_timestamp()
          AND COALESCE(in_flight_until <= clock_timestamp(), true)
        RETURNING run_id, (held.kind = :task)::int AS is_task
    ), moved AS (
        UPDATE run SET
            state = :expired, version = version + 1, update_time = clock_timestamp(),
            finish_time = clock_timestamp(), is_pausing = false, relay_due = true,
            last_sequence = last_sequence + 1 + is_task
        FROM claimed WHERE run.id = claimed.run_id AND run.state = ANY(:sources)
        RETURNING run.id, last_sequence - is_task AS sequence, is_task
    ), told AS (
        INSERT INTO event (run_id, sequence, type, payload, time)
        SELECT id, sequence, 'error', CAST(:failed AS jsonb), clock_timestamp() FROM moved
        UNION ALL
        SELECT id, sequence + 1, 'run_state', CAST(:ended AS jsonb), clock_timestamp()
        FROM moved WHERE is_task = 1
    )
    SELECT id FROM moved
""")
FAILED = events.failed(code=plans.EXPIRED_CODE, message=plans.TIMED_OUT, retryable=False)
ENDED = events.ended(target(Action.EXPIRE), by=EXPIRY)


class ReviewExpiry:
    """Ends the runs whose plan was not decided on in time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def expire(self, *, limit: int) -> int:
        """End runs whose review is over; returns how many."""
        rows = await self._database.fetch(
            EXPIRE,
            {
                "interrupt_id": PLAN_REVIEW,
                "limit": limit,
                "checkpoint_state": CheckpointState.EXPIRED,
                "by": EXPIRY,
                "task": RunKind.TASK,
                "expired": target(Action.EXPIRE),
                "sources": list(sources(Action.EXPIRE)),
                "failed": as_json(FAILED.payload),
                "ended": as_json(ENDED.payload),
            },
        )
        return len(rows)
