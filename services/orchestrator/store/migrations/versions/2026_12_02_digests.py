"""Digests: what a message keeps of the events of a run that ended long ago."""

from alembic import op

revision = "2026_12_02_digests"
down_revision = "2026_12_01_checkpoints"

DIGEST = """
CREATE TABLE digest (
    run_id text NOT NULL,
    last_sequence bigint NOT NULL,
    events jsonb NOT NULL,
    CONSTRAINT pk_digest PRIMARY KEY (run_id),
    CONSTRAINT fk_digest_run_id FOREIGN KEY (run_id) REFERENCES run (id) ON DELETE CASCADE
)
"""
# The code before reads events only: it finds what the digest kept of them, with holes.
RESTORE = """
INSERT INTO event (run_id, sequence, type, payload, time)
SELECT run_id, one.sequence, one.type, one.payload, one.time
FROM digest, jsonb_to_recordset(events) AS one(
    sequence bigint, time timestamptz, type text, payload jsonb)
ON CONFLICT DO NOTHING
"""


def upgrade() -> None:
    op.execute(DIGEST)


def downgrade() -> None:
    op.execute(RESTORE)
    op.execute("DROP TABLE digest")
