"""Decisions on checkpoints: each is one conditional write, made by a person or by the deadline."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import text

from services.orchestrator import checkpoint, passages
from services.orchestrator import run as states
from services.orchestrator.checkpoint import CheckpointState, Choice
from services.orchestrator.errors import (
    ActionNotOffered,
    CheckpointExpired,
    NoPendingCheckpoint,
    StaleInterrupt,
    UnknownRun,
    VersionConflict,
)
from services.orchestrator.passages import Passage
from services.orchestrator.run import Action, Stage
from services.orchestrator.store import request_keys
from services.orchestrator.store.database import Database, Transaction
from services.orchestrator.store.pausing import PAUSED_BY_OWNER
from services.orchestrator.store.request_keys import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A validated decision; no choice stands for one that this code does not know."""

    owner: str
    session_id: str
    run_id: str
    interrupt_id: str
    choice: Choice | None
    guidance: str
    expected_version: int | None
    idempotency_key: str
    body_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The run goes on after this sequence."""

    after_sequence: int
    replayed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A question that waits, and the standing that it is about."""

    payload: Mapping[str, Any]
    snapshot: Mapping[str, Any]
    evidence: tuple[Passage, ...]


# The claim, and all that follows from it. The lock on the run comes first, as everywhere; whoever
# waited for it finds the checkpoint answered and changes nothing.
ANSWER = f"""
    , claimed AS (
        UPDATE checkpoint SET
            state = :checkpoint_state, answered_by = :by, answered_at = clock_timestamp(),
            decision = jsonb_build_object('choice', CAST(:choice AS text),
                                          'guidance', CAST(:guidance AS text))
        FROM held
        WHERE checkpoint.run_id = held.id AND checkpoint.interrupt_id = held.interrupt_id
          AND checkpoint.state = 'PENDING' AND checkpoint.kind = ANY(:kinds)
          AND (CAST(:version AS int) IS NULL OR checkpoint.version = CAST(:version AS int))
          AND COALESCE(expires_at <= clock_timestamp(), false) = :is_over
        RETURNING run_id, checkpoint.interrupt_id, answered_at, held.is_pausing
    ), moved AS (
        UPDATE run SET
            state = CASE WHEN claimed.is_pausing THEN :paused ELSE :queued END,
            version = version + 1, update_time = clock_timestamp(), is_pausing = false,
            last_sequence = last_sequence + 2 + claimed.is_pausing::int, relay_due = true,
            stage = :stage, pass = pass + :passes
        FROM claimed WHERE run.id = claimed.run_id AND run.state = ANY(:sources)
        RETURNING run.id, last_sequence - 2 - claimed.is_pausing::int AS after_sequence, pass,
                  owner, claimed.interrupt_id, claimed.answered_at, claimed.is_pausing
    ), told AS (
        INSERT INTO event (run_id, sequence, type, payload, time)
        SELECT id, after_sequence + 1, 'checkpoint_answered',
               jsonb_build_object(
                   'interrupt_id', interrupt_id, 'action', CAST(:action AS text),
                   'answered_by', CAST(:by AS text), 'answered_at',
                   to_char(answered_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
               ) || CASE WHEN :guidance = '' THEN '{{}}'
                         ELSE jsonb_build_object('guidance', CAST(:guidance AS text)) END,
               clock_timestamp()
        FROM moved
        UNION ALL
        SELECT id, after_sequence + 2, 'stage',
               jsonb_build_object('stage', CAST(:stage_name AS text), 'pass', pass),
               clock_timestamp()
        FROM moved
        UNION ALL
        SELECT id, after_sequence + 3, 'run_state', {PAUSED_BY_OWNER}, clock_timestamp()
        FROM moved WHERE is_pausing
    )
    SELECT id, after_sequence FROM moved
"""
DECIDE = text(f"""
    WITH held AS (
        SELECT id, is_pausing, CAST(:interrupt_id AS text) AS interrupt_id FROM run
        WHERE id = :run_id AND session_id = :session_id AND owner = :owner FOR UPDATE
    ) {ANSWER}
""")
# Deadlines that several replicas find at once are shared out between them.
EXPIRE = text(f"""
    WITH held AS (
        SELECT run.id, run.is_pausing, due.interrupt_id
        FROM checkpoint AS due JOIN run ON run.id = due.run_id
        WHERE due.state = 'PENDING' AND due.expires_at <= clock_timestamp()
          AND due.kind = ANY(:kinds)
        ORDER BY due.expires_at LIMIT :limit FOR UPDATE OF run SKIP LOCKED
    ) {ANSWER}
""")
STANDING = text("""
    SELECT run.state AS run_state, checkpoint.state, checkpoint.version, decision, checkpoint.kind,
           answered_by, answered_at, expires_at <= clock_timestamp() AS is_over
    FROM run LEFT JOIN checkpoint
      ON checkpoint.run_id = run.id AND checkpoint.interrupt_id = :interrupt_id
    WHERE run.id = :run_id AND session_id = :session_id AND owner = :owner
""")
PENDING = text("""
    SELECT run.state, payload, snapshot
    FROM run LEFT JOIN checkpoint ON checkpoint.run_id = run.id AND checkpoint.state = 'PENDING'
    WHERE run.id = :run_id AND session_id = :session_id AND owner = :owner
""")
EVIDENCE = text("""
    SELECT passage_id, text, passage FROM evidence
    WHERE run_id = :run_id AND passage_id = ANY(:ids) ORDER BY ordinal
""")


class Checkpoints:
    """Takes decisions and shows what waits."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def decide(self, answer: Answer) -> Decided:
        """Answer a checkpoint, once.

        Raises UnknownRun, StaleInterrupt, VersionConflict, CheckpointExpired, ActionNotOffered,
        IdempotencyMismatch.
        """
        async with self._database.transaction() as connection:
            request = Request(
                owner=answer.owner,
                route="Decide",
                key=answer.idempotency_key,
                body_hash=answer.body_hash,
            )
            known = await request_keys.take(connection, request, answer.run_id)
            if known is not None:
                return Decided(after_sequence=known.reply["after_sequence"], replayed=True)
            parameters = {
                **_answering(answer.choice, answer.guidance, answer.owner),
                "checkpoint_state": CheckpointState.ANSWERED,
                "is_over": False,
                "version": answer.expected_version,
                **_names(answer),
            }
            row = (await connection.execute(DECIDE, parameters)).first()
            if row is None:
                raise await _refusal(connection, answer)
            reply = {"after_sequence": row.after_sequence}
            await request_keys.keep_reply(connection, request, reply)
        return Decided(after_sequence=row.after_sequence, replayed=False)

    async def expire(self, *, limit: int) -> int:
        """Answer checkpoints whose time is over; returns how many."""
        answered = 0
        for kind, choice in checkpoint.DEFAULTS.items():
            rows = await self._database.fetch(
                EXPIRE,
                {
                    **_answering(choice, "", checkpoint.EXPIRY),
                    "kinds": [kind],
                    "checkpoint_state": CheckpointState.EXPIRED,
                    "is_over": True,
                    "version": None,
                    "limit": limit,
                },
            )
            answered += len(rows)
        return answered

    async def pending(self, owner: str, session_id: str, run_id: str) -> Pending:
        """The question that a run waits for, at one moment. Raises UnknownRun, NoPending…"""
        wanted = {"owner": owner, "session_id": session_id, "run_id": run_id}
        async with self._database.transaction(snapshot=True) as connection:
            row = (await connection.execute(PENDING, wanted)).first()
            if row is None:
                raise UnknownRun(f"There is no run {run_id!r} in session {session_id!r}.")
            if row.payload is None:
                raise NoPendingCheckpoint(
                    f"Run {run_id!r} waits for no answer; it is {row.state}.", state=row.state
                )
            seen = {"run_id": run_id, "ids": row.snapshot["seen_passage_ids"]}
            found = (await connection.execute(EVIDENCE, seen)).all()
        return Pending(
            payload=row.payload,
            snapshot=row.snapshot,
            evidence=tuple(
                passages.from_json(one.passage_id, one.text, one.passage) for one in found
            ),
        )


def _names(answer: Answer) -> dict[str, str]:
    return {
        "owner": answer.owner,
        "session_id": answer.session_id,
        "run_id": answer.run_id,
        "interrupt_id": answer.interrupt_id,
    }


def _answering(choice: Choice | None, guidance: str, by: str) -> dict[str, Any]:
    """What both ways of answering write; an unknown choice is offered by no kind, so never wins."""
    extends = choice is Choice.EXTEND_BUDGET
    stage = Stage.SEARCH if extends else Stage.RERANK
    return {
        "choice": choice or "",
        "guidance": guidance,
        "action": f"DECISION_ACTION_{choice}",
        "by": by,
        "kinds": list(checkpoint.kinds_that_offer(choice)),
        "queued": states.target(Action.ANSWER),
        "paused": states.target(Action.PAUSE),
        "sources": list(states.sources(Action.ANSWER)),
        "stage": stage,
        "stage_name": f"STAGE_{stage.name}",
        "passes": int(extends),
    }


async def _refusal(connection: Transaction, answer: Answer) -> Exception:
    """Why a decision did nothing, with what was decided before, by whom and when."""
    now = (await connection.execute(STANDING, _names(answer))).first()
    name = answer.interrupt_id
    if now is None:
        return UnknownRun(f"There is no run {answer.run_id!r} in session {answer.session_id!r}.")
    if now.state == CheckpointState.EXPIRED or (
        now.state == CheckpointState.PENDING and now.is_over
    ):
        return CheckpointExpired(f"The time to answer {name!r} is over.", **_decided(now))
    if now.state != CheckpointState.PENDING:
        return _stale(answer, now)
    # A kind of newer code offers nothing that this one could take.
    offered = checkpoint.OFFERED.get(now.kind, ())
    if answer.choice not in offered:
        known = ", ".join(one.lower() for one in offered) or "nothing that is known here"
        return ActionNotOffered(f"{name!r} cannot be answered so; it offers {known}.")
    return VersionConflict(
        f"{name!r} has version {now.version}, not {answer.expected_version}; look at it again.",
        version=now.version,
    )


def _stale(answer: Answer, now: Any) -> StaleInterrupt:  # a row of STANDING
    name, run_state = answer.interrupt_id, now.run_state
    if now.state is None:
        message = f"Run {answer.run_id!r} does not wait for {name!r}; it is {run_state}."
        return StaleInterrupt(message, state=run_state, run_state=run_state)
    facts = _decided(now)
    if now.state == CheckpointState.WITHDRAWN:
        what = f"{name!r} was withdrawn by {now.answered_by!r}"
    else:
        what = f"{name!r} is answered: {now.answered_by!r} chose {facts['action']}"
    message = f"{what} at {facts['answered_at']}; the run is {run_state}."
    return StaleInterrupt(message, state=now.state, run_state=run_state, **facts)


def _decided(now: Any) -> dict[str, object]:  # a row of STANDING
    """What was decided, by whom and when; nothing while nothing was."""
    facts: dict[str, object] = {}
    if now.decision:
        facts["action"] = now.decision["choice"].lower()
    if now.answered_by:
        answered_at: datetime = now.answered_at
        # As the event of the answer has it.
        when = answered_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
        facts |= {"answered_by": now.answered_by, "answered_at": when}
    return facts
