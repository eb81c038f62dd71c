"""Checkpoints: stored questions to a person, and what was answered."""

from alembic import op

revision = "2026_12_01_checkpoints"
down_revision = "2026_11_30_first_tables"

CHECKPOINT = """
CREATE TABLE checkpoint (
    run_id text NOT NULL,
    interrupt_id text NOT NULL,
    kind text NOT NULL,
    state text NOT NULL,
    version integer NOT NULL,
    payload jsonb NOT NULL,
    snapshot jsonb NOT NULL,
    expires_at timestamptz,
    decision jsonb,
    answered_by text,
    answered_at timestamptz,
    create_time timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_checkpoint PRIMARY KEY (run_id, interrupt_id),
    CONSTRAINT fk_checkpoint_run_id FOREIGN KEY (run_id) REFERENCES run (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX ix_checkpoint_pending ON checkpoint (run_id) WHERE state = 'PENDING';
CREATE INDEX ix_checkpoint_expires_at ON checkpoint (expires_at)
    WHERE state = 'PENDING' AND expires_at IS NOT NULL;
"""


def upgrade() -> None:
    # The driver prepares statements, and a prepared one is single.
    for statement in filter(str.strip, CHECKPOINT.split(";")):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE checkpoint")
