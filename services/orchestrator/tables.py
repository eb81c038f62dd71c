"""The tables. Only the store and its migrations may know them."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP

from services.orchestrator.run import ACTIVE, State

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
    }
)


def _time(name: str, *, nullable: bool = False) -> Column[object]:
    default = None if nullable else func.now()
    return Column(name, TIMESTAMP(timezone=True), nullable=nullable, server_default=default)


def _states(*states: State) -> str:
    return ", ".join(f"'{state}'" for state in states)


session = Table(
    "session",
    metadata,
    Column("id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("last_ordinal", Integer, nullable=False, server_default="0"),
    # The id that the caller chose, if it did.
    Column("external_id", Text),
    _time("create_time"),
    _time("update_time"),
)
Index(
    "ix_session_external_id",
    session.c.owner,
    session.c.external_id,
    unique=True,
    postgresql_where=text("external_id IS NOT NULL"),
)
Index("ix_session_listing", session.c.owner, session.c.update_time.desc(), session.c.id.desc())

run = Table(
    "run",
    metadata,
    Column("id", Text, primary_key=True),
    Column("session_id", ForeignKey("session.id", ondelete="CASCADE"), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("prompt", Text, nullable=False),
    Column("active_items", JSONB, nullable=False),
    Column("scope", JSONB, nullable=False),
    Column("options", JSONB, nullable=False),
    # The configured numbers as they were when the run began.
    Column("ceilings", JSONB, nullable=False),
    Column("state", Text, nullable=False),
    Column("stage", Text, nullable=False),
    Column("pass", Integer, nullable=False, server_default="0"),
    Column("version", BigInteger, nullable=False, server_default="1"),
    Column("last_sequence", BigInteger, nullable=False, server_default="0"),
    Column("is_pausing", Boolean, nullable=False, server_default="false"),
    Column("lease_owner", Text),
    Column("lease_epoch", BigInteger, nullable=False, server_default="0"),
    _time("lease_until", nullable=True),
    # The relay's own lease and position; `relay_due` is true while rows may wait for it.
    Column("relay_due", Boolean, nullable=False, server_default="true"),
    Column("relay_owner", Text),
    _time("relay_until", nullable=True),
    Column("published_sequence", BigInteger, nullable=False, server_default="0"),
    Column("trace", JSONB, nullable=False),
    Column("schema_version", Integer, nullable=False),
    Column("usage", JSONB, nullable=False, server_default="{}"),
    # What only a task has: the submitted context and the words for models, given back as they were.
    Column("task", JSONB),
    # Who paused or cancelled the run, when and why.
    Column("control", JSONB, nullable=False, server_default="{}"),
    _time("create_time"),
    _time("update_time"),
    _time("start_time", nullable=True),
    _time("finish_time", nullable=True),
    # Every step updates its run's row: room on the page keeps these updates out of the indexes.
    postgresql_with={"fillfactor": "50"},
)
Index("ix_run_session_id_ordinal", run.c.session_id, run.c.ordinal, unique=True)
Index(
    "ix_run_active",
    run.c.session_id,
    unique=True,
    postgresql_where=text(f"kind = 'chat' AND state IN ({_states(*ACTIVE)})"),
)
# The lease's end is left out on purpose: renewing it must not touch an index.
Index(
    "ix_run_due",
    run.c.create_time,
    postgresql_where=text(f"state IN ({_states(State.QUEUED, State.RUNNING)})"),
)
Index(
    "ix_run_tasks",
    run.c.owner,
    run.c.create_time.desc(),
    run.c.id.desc(),
    postgresql_where=text("kind = 'task'"),
)
Index("ix_run_relay", run.c.create_time, postgresql_where=text("relay_due"))

step = Table(
    "step",
    metadata,
    Column("run_id", ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("input", JSONB, nullable=False),
    Column("output", JSONB, nullable=False),
    _time("create_time"),
)

evidence = Table(
    "evidence",
    metadata,
    Column("run_id", ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    Column("step_key", Text, primary_key=True),
    # How many passages earlier steps brought.
    Column("ordinal", Integer, nullable=False),
    # The passages that the step brought, compressed.
    Column("content", LargeBinary, nullable=False),
)

checkpoint = Table(
    "checkpoint",
    metadata,
    Column("run_id", ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    Column("interrupt_id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    # Raised when a withdrawn question is asked again, and when a plan is revised.
    Column("version", Integer, nullable=False),
    # What the person sees, as its event tells it; and the standing, evidence by id.
    Column("payload", JSONB, nullable=False),
    Column("snapshot", JSONB, nullable=False),
    _time("expires_at", nullable=True),
    # Feedback that the planner is at work on, and until when nobody else may begin.
    Column("in_flight_token", Text),
    _time("in_flight_until", nullable=True),
    Column("decision", JSONB),
    Column("answered_by", Text),
    _time("answered_at", nullable=True),
    _time("create_time"),
)
Index(
    "ix_checkpoint_pending",
    checkpoint.c.run_id,
    unique=True,
    postgresql_where=text("state = 'PENDING'"),
)
Index(
    "ix_checkpoint_expires_at",
    checkpoint.c.expires_at,
    postgresql_where=text("state = 'PENDING' AND expires_at IS NOT NULL"),
)

plan_round = Table(
    "plan_round",
    metadata,
    Column("run_id", ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("author", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("intent", Text),
    # Of the feedback that wrote the row.
    Column("token", Text),
    _time("time"),
)

event = Table(
    "event",
    metadata,
    Column("run_id", ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    Column("sequence", BigInteger, primary_key=True),
    Column("type", Text, nullable=False),
    Column("payload", JSONB, nullable=False),
    _time("time"),
)

# What a message needs of events that are no longer kept.
digest = Table(
    "digest",
    metadata,
    Column("run_id", ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    # No event up to this sequence is left.
    Column("last_sequence", BigInteger, nullable=False),
    Column("events", JSONB, nullable=False),
)

request_key = Table(
    "request_key",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("route", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("body_hash", Text, nullable=False),
    Column(
        "run_id", ForeignKey("run.id", ondelete="CASCADE", deferrable=True, initially="DEFERRED")
    ),
    Column("reply", JSONB, nullable=False),
    _time("create_time"),
)
Index("ix_request_key_create_time", request_key.c.create_time)
