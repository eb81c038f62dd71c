"""Plan reviews, tasks beside each other in a session, and why a run was paused or cancelled."""

from alembic import op

revision = "2026_12_03_reviews"
down_revision = "2026_12_02_digests"

# One row for each message; `token` tells the write of a reply from any other.
PLAN_ROUND = """
CREATE TABLE plan_round (
    run_id text NOT NULL,
    number integer NOT NULL,
    author text NOT NULL,
    message text NOT NULL,
    intent text,
    token text,
    time timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_plan_round PRIMARY KEY (run_id, number),
    CONSTRAINT fk_plan_round_run_id FOREIGN KEY (run_id) REFERENCES run (id) ON DELETE CASCADE
)
"""
IN_FLIGHT = """
ALTER TABLE checkpoint ADD COLUMN in_flight_token text, ADD COLUMN in_flight_until timestamptz
"""
TASK = """
ALTER TABLE run ADD COLUMN task jsonb, ADD COLUMN start_time timestamptz,
                ADD COLUMN control jsonb NOT NULL DEFAULT '{}'
"""
TASK_INDEX = """
CREATE INDEX ix_run_tasks ON run (owner, create_time DESC, id DESC) WHERE kind = 'task'
"""
EXTERNAL_ID = "ALTER TABLE session ADD COLUMN external_id text"
EXTERNAL_ID_INDEX = """
CREATE UNIQUE INDEX ix_session_external_id ON session (owner, external_id)
WHERE external_id IS NOT NULL
"""


def upgrade() -> None:
    for statement in (PLAN_ROUND, IN_FLIGHT, TASK, TASK_INDEX, EXTERNAL_ID, EXTERNAL_ID_INDEX):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP INDEX ix_session_external_id")
    op.execute("ALTER TABLE session DROP COLUMN external_id")
    op.execute("DROP INDEX ix_run_tasks")
    op.execute("ALTER TABLE run DROP COLUMN task, DROP COLUMN start_time, DROP COLUMN control")
    op.execute("ALTER TABLE checkpoint DROP COLUMN in_flight_token, DROP COLUMN in_flight_until")
    op.execute("DROP TABLE plan_round")
