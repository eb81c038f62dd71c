"""Decisions on checkpoints: each is one conditional write, made by a person or by the deadline."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from asyncpg import UniqueViolationError
from sqlalchemy import text

from services.orchestrator import checkpoint
from services.orchestrator import run as states
from services.orchestrator.checkpoint import CheckpointState, Choice
from services.orchestrator.errors import (
    NoPendingCheckpoint,
    UnknownRun,
)
from services.orchestrator.events import Told
from services.orchestrator.passages import Passage
from services.orchestrator.run import Action, Claimant, ClaimedRun, Stage, State
from services.orchestrator.store import request_keys
from services.orchestrator.store.answers import Answer
from services.orchestrator.store.claimed import TOLD, claimed_run, claiming, told_of
from services.orchestrator.store.database import Database, as_json
from services.orchestrator.store.evidence import unpacked
from services.orchestrator.store.pausing import PAUSED_BY_OWNER
from services.orchestrator.store.refusals import refusal
from services.orchestrator.store.request_keys import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The run goes on after this sequence."""

    after_sequence: int
    replayed: bool
    # The run, when it was decided for a claimant and nothing keeps the run from going on.
    claimed: ClaimedRun | None = None
    # With it: the events of the decision, for its claimant to publish.
    told: Told | None = None


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
                       || CAST(:told AS jsonb)
        FROM held
        WHERE checkpoint.run_id = held.id AND checkpoint.interrupt_id = held.interrupt_id
          AND checkpoint.state = 'PENDING' AND checkpoint.kind = ANY(:kinds)
          AND (CAST(:version AS int) IS NULL OR checkpoint.version = CAST(:version AS int))
          AND COALESCE(expires_at <= clock_timestamp(), false) = :is_over
          AND COALESCE(in_flight_until <= clock_timestamp(), true)
          AND COALESCE(payload #>> '{{plan,current_plan}}', :choice) <> ''
        RETURNING run_id, checkpoint.interrupt_id, answered_at, held.is_pausing
    ), moved AS (
        UPDATE run SET
            state = CASE WHEN claimed.is_pausing THEN :paused
                    WHEN CAST(:claimant AS text) IS NULL THEN :queued ELSE :running END,
            lease_owner = CASE WHEN NOT claimed.is_pausing THEN CAST(:claimant AS text) END,
            lease_until = CASE WHEN NOT claimed.is_pausing AND CAST(:claimant AS text) IS NOT NULL
                          THEN clock_timestamp() + make_interval(secs => :lease_s) END,
            lease_epoch = lease_epoch
                + (NOT claimed.is_pausing AND CAST(:claimant AS text) IS NOT NULL)::int,
            version = version + 1, update_time = clock_timestamp(), is_pausing = false,
            last_sequence = last_sequence + 2 + claimed.is_pausing::int, relay_due = true,
            stage = :stage, pass = pass + :passes,
            -- Whoever holds the run publishes its events, unless another relay is at it.
            relay_owner = CASE WHEN relay_owner IS NULL OR relay_until < clock_timestamp()
                          THEN CAST(:claimant AS text) ELSE relay_owner END,
            relay_until = CASE WHEN CAST(:claimant AS text) IS NOT NULL
                                    AND (relay_owner IS NULL OR relay_owner = :claimant
                                         OR relay_until < clock_timestamp())
                          THEN clock_timestamp() + make_interval(secs => :relay_s)
                          ELSE relay_until END
        FROM claimed WHERE run.id = claimed.run_id AND run.state = ANY(:sources)
        RETURNING run.id, last_sequence - 2 - claimed.is_pausing::int AS after_sequence, pass,
                  owner, control, claimed.interrupt_id, claimed.answered_at, claimed.is_pausing,
                  run.state, session_id, ordinal, prompt, active_items, scope, options, ceilings,
                  stage, lease_epoch, last_sequence, usage, trace, create_time, run.kind,
                  published_sequence, relay_owner, update_time
    ), told AS (
        INSERT INTO event (run_id, sequence, type, payload, time)
        SELECT id, after_sequence + 1, 'checkpoint_answered',
               jsonb_build_object(
                   'interrupt_id', interrupt_id, 'action', CAST(:action AS text),
                   'answered_by', CAST(:by AS text), 'answered_at',
                   to_char(answered_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
               ) || CASE WHEN :guidance = '' THEN '{{}}'
                         ELSE jsonb_build_object('guidance', CAST(:guidance AS text)) END
                 || CAST(:told AS jsonb),
               update_time
        FROM moved
        UNION ALL
        SELECT id, after_sequence + 2, 'stage',
               jsonb_build_object('stage', CAST(:stage_name AS text), 'pass', pass),
               update_time
        FROM moved
        UNION ALL
        SELECT id, after_sequence + 3, 'run_state', {PAUSED_BY_OWNER}, update_time
        FROM moved WHERE is_pausing
        RETURNING sequence, type, payload
    )
"""
# With the request's key, if it has one: a key that was used before refuses the whole statement.
DECIDE = text(f"""
    WITH held AS (
        SELECT id, is_pausing, CAST(:interrupt_id AS text) AS interrupt_id FROM run
        WHERE id = :run_id AND session_id = :session_id AND owner = :owner FOR UPDATE
    ) {ANSWER}
    , kept AS (
        INSERT INTO request_key (owner, route, key, body_hash, run_id, reply)
        SELECT owner, :route, CAST(:key AS text), :body_hash, id,
               jsonb_build_object('after_sequence', after_sequence)
        FROM moved WHERE CAST(:key AS text) <> ''
    )
    SELECT id, after_sequence, pass, owner, is_pausing, state, session_id, ordinal, prompt,
           active_items, scope, options, ceilings, stage, lease_epoch, last_sequence, usage, trace,
           create_time, kind, {TOLD}
    FROM moved
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
    SELECT id FROM moved
""")
PENDING = text("""
    SELECT run.state, payload, snapshot
    FROM run LEFT JOIN checkpoint ON checkpoint.run_id = run.id AND checkpoint.state = 'PENDING'
    WHERE run.id = :run_id AND session_id = :session_id AND owner = :owner
""")
EVIDENCE = text("""
    SELECT step_key, content FROM evidence WHERE run_id = :run_id ORDER BY ordinal
""")


class Checkpoints:
    """Takes decisions and shows what waits."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def decide(self, answer: Answer, claimant: Claimant | None = None) -> Decided:
        """Answer a checkpoint, once; a claimant holds the run from then on.

        Raises UnknownRun, StaleInterrupt, VersionConflict, CheckpointExpired, ActionNotOffered,
        IdempotencyMismatch; of a plan also FeedbackInProgress, NoPlan.
        """
        request = Request(
            owner=answer.owner,
            route="Decide",
            key=answer.idempotency_key,
            body_hash=answer.body_hash,
        )
        told = {"modified_action": answer.modified_action, "approved_by": answer.approved_by}
        parameters = {
            **_answering(answer.choice, answer.guidance, answer.owner),
            **claiming(claimant),
            "told": as_json({name: value for name, value in told.items() if value}),
            "checkpoint_state": CheckpointState.ANSWERED,
            "is_over": False,
            "version": answer.expected_version,
            **answer.names,
            **request.place,
            "body_hash": request.body_hash,
        }
        with suppress(UniqueViolationError):
            for row in await self._database.fetch(DECIDE, parameters):
                is_claimed = row.state == State.RUNNING
                return Decided(
                    after_sequence=row.after_sequence,
                    replayed=False,
                    claimed=claimed_run(row) if is_claimed else None,
                    told=told_of(row) if is_claimed else None,
                )
        async with self._database.transaction() as connection:
            known = await request_keys.find(connection, request)
            if known is None:
                raise await refusal(connection, answer)
        return Decided(after_sequence=known.reply["after_sequence"], replayed=True)

    async def refusal(self, answer: Answer) -> Exception:
        """Why a decision cannot be taken now."""
        async with self._database.transaction() as connection:
            return await refusal(connection, answer)

    async def expire(self, *, limit: int) -> int:
        """Answer checkpoints whose time is over; returns how many."""
        answered = 0
        for kind, choice in checkpoint.DEFAULTS.items():
            rows = await self._database.fetch(
                EXPIRE,
                {
                    **_answering(choice, checkpoint.EXPIRED_GUIDANCE[kind], checkpoint.EXPIRY),
                    **claiming(None),
                    "told": "{}",
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
            found = (await connection.execute(EVIDENCE, {"run_id": run_id})).all()
        seen = frozenset(row.snapshot["seen_passage_ids"])
        return Pending(
            payload=row.payload,
            snapshot=row.snapshot,
            evidence=tuple(
                one.passage
                for step in found
                for one in unpacked(step.step_key, step.content)
                if one.passage.id in seen
            ),
        )


def _answering(choice: Choice | None, guidance: str, by: str) -> dict[str, Any]:
    """What both ways of answering write; an unknown choice is offered by no kind, so never wins."""
    extends = choice is Choice.EXTEND_BUDGET
    stage = Stage.RERANK if choice is Choice.SYNTHESIZE else Stage.SEARCH
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
