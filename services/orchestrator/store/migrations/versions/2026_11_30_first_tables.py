"""The first tables: sessions, runs, steps, evidence, events, request keys."""

from alembic import op

revision = "2026_11_30_first_tables"
down_revision = None

SESSION = """
CREATE TABLE session (
    id text NOT NULL,
    owner text NOT NULL,
    title text NOT NULL,
    last_ordinal integer NOT NULL DEFAULT 0,
    create_time timestamptz NOT NULL DEFAULT now(),
    update_time timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_session PRIMARY KEY (id)
);
CREATE INDEX ix_session_listing ON session (owner, update_time DESC, id DESC);
"""

RUN = """
CREATE TABLE run (
    id text NOT NULL,
    session_id text NOT NULL,
    ordinal integer NOT NULL,
    kind text NOT NULL,
    owner text NOT NULL,
    prompt text NOT NULL,
    active_items jsonb NOT NULL,
    scope jsonb NOT NULL,
    options jsonb NOT NULL,
    ceilings jsonb NOT NULL,
    state text NOT NULL,
    stage text NOT NULL,
    pass integer NOT NULL DEFAULT 0,
    version bigint NOT NULL DEFAULT 1,
    last_sequence bigint NOT NULL DEFAULT 0,
    is_pausing boolean NOT NULL DEFAULT false,
    lease_owner text,
    lease_epoch bigint NOT NULL DEFAULT 0,
    lease_until timestamptz,
    relay_due boolean NOT NULL DEFAULT true,
    relay_owner text,
    relay_until timestamptz,
    published_sequence bigint NOT NULL DEFAULT 0,
    trace jsonb NOT NULL,
    schema_version integer NOT NULL,
    usage jsonb NOT NULL DEFAULT '{}',
    create_time timestamptz NOT NULL DEFAULT now(),
    update_time timestamptz NOT NULL DEFAULT now(),
    finish_time timestamptz,
    CONSTRAINT pk_run PRIMARY KEY (id),
    CONSTRAINT fk_run_session_id FOREIGN KEY (session_id)
        REFERENCES session (id) ON DELETE CASCADE
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX ix_run_session_id_ordinal ON run (session_id, ordinal);
CREATE UNIQUE INDEX ix_run_active ON run (session_id)
    WHERE kind = 'chat' AND state IN ('QUEUED', 'RUNNING', 'AWAITING_INPUT', 'PAUSED');
CREATE INDEX ix_run_due ON run (create_time) WHERE state IN ('QUEUED', 'RUNNING');
CREATE INDEX ix_run_relay ON run (create_time) WHERE relay_due;
"""

STEP = """
CREATE TABLE step (
    run_id text NOT NULL,
    key text NOT NULL,
    state text NOT NULL,
    attempt integer NOT NULL,
    input jsonb NOT NULL,
    output jsonb NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_step PRIMARY KEY (run_id, key),
    CONSTRAINT fk_step_run_id FOREIGN KEY (run_id) REFERENCES run (id) ON DELETE CASCADE
);
"""

EVIDENCE = """
CREATE TABLE evidence (
    run_id text NOT NULL,
    passage_id text NOT NULL,
    ordinal integer NOT NULL,
    step_key text NOT NULL,
    words integer NOT NULL,
    rank integer NOT NULL,
    similarity double precision,
    text text NOT NULL,
    passage jsonb NOT NULL,
    CONSTRAINT pk_evidence PRIMARY KEY (run_id, passage_id),
    CONSTRAINT fk_evidence_run_id FOREIGN KEY (run_id) REFERENCES run (id) ON DELETE CASCADE
);
"""

EVENT = """
CREATE TABLE event (
    run_id text NOT NULL,
    sequence bigint NOT NULL,
    type text NOT NULL,
    payload jsonb NOT NULL,
    time timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_event PRIMARY KEY (run_id, sequence),
    CONSTRAINT fk_event_run_id FOREIGN KEY (run_id) REFERENCES run (id) ON DELETE CASCADE
);
"""

# The key is taken before its run is written, in the same transaction.
REQUEST_KEY = """
CREATE TABLE request_key (
    owner text NOT NULL,
    route text NOT NULL,
    key text NOT NULL,
    body_hash text NOT NULL,
    run_id text,
    reply jsonb NOT NULL,
    create_time timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_request_key PRIMARY KEY (owner, route, key),
    CONSTRAINT fk_request_key_run_id FOREIGN KEY (run_id)
        REFERENCES run (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX ix_request_key_create_time ON request_key (create_time);
"""


def upgrade() -> None:
    for statements in (SESSION, RUN, STEP, EVIDENCE, EVENT, REQUEST_KEY):
        # The driver prepares statements, and a prepared one is single.
        for statement in filter(str.strip, statements.split(";")):
            op.execute(statement)


def downgrade() -> None:
    for table in ("request_key", "event", "evidence", "step", "run", "session"):
        op.execute(f"DROP TABLE {table}")
