"""Steps, evidence and events of a run: each step is one statement, fenced by the lease's epoch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import text

from services.orchestrator import run
from services.orchestrator.checkpoint import CheckpointState, Choice, Decision, Known, Question
from services.orchestrator.errors import Stale
from services.orchestrator.events import NewEvent
from services.orchestrator.passages import Evidence
from services.orchestrator.plans import Author, Intent, Round, plan_from_json
from services.orchestrator.run import Action, Lease, Stage, State, Usage
from services.orchestrator.store import evidence
from services.orchestrator.store.claimed import RELAY_S
from services.orchestrator.store.database import Database, as_json

STARTED = "started"
DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A recorded unit of work."""

    key: str
    input: Mapping[str, Any]
    output: Mapping[str, Any]
    attempt: int = 1
    is_done: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one write adds to a run, and where the run stands afterwards."""

    stage: Stage
    pass_number: int
    usage: Usage
    step: Step | None = None
    # Steps that are recorded with it, before it.
    earlier: Sequence[Step] = ()
    events: Sequence[NewEvent] = ()
    evidence: Sequence[Evidence] = ()
    # The ordinal of the first piece of evidence.
    evidence_from: int = 0
    # Set when the holder leaves the run with this write: it has ended, or waits for a person.
    leaving: Action | None = None
    # What the person is asked, when it waits.
    question: Question | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Where a run stands after a write."""

    last_sequence: int
    # Whether the run shall stop before its next step.
    is_pausing: bool
    # When its events were told; None for a write that was found done.
    time: datetime | None = None
    # Who publishes the run's events, and how far they were published.
    relay: str = ""
    published: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """All that a run has recorded."""

    steps: Mapping[str, Step] = field(default_factory=dict)
    evidence: Sequence[Evidence] = ()
    # Checkpoints by interrupt id.
    checkpoints: Mapping[str, Known] = field(default_factory=dict)
    # What was said about the run's plan, oldest first.
    rounds: Sequence[Round] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PastTurn:
    """A finished turn of a session."""

    prompt: str
    answer: str
    cited_titles: tuple[str, ...]


MOVED = """
    WITH moved AS (
        UPDATE run SET
            last_sequence = last_sequence + jsonb_array_length(CAST(:events AS jsonb)),
            version = version + 1, stage = :stage, pass = :pass, usage = CAST(:usage AS jsonb),
            state = :state, update_time = clock_timestamp(),
            relay_due = relay_due OR jsonb_array_length(CAST(:events AS jsonb)) > 0,
            lease_owner = CASE WHEN :leaves THEN NULL ELSE lease_owner END,
            lease_until = CASE WHEN :leaves THEN NULL ELSE lease_until END,
            finish_time = CASE WHEN :ends THEN clock_timestamp() ELSE finish_time END,
            is_pausing = is_pausing AND NOT :ends,
            -- The holder publishes what it wrote, unless another relay is at it.
            relay_owner = CASE WHEN relay_owner IS NULL OR relay_until < clock_timestamp()
                          THEN lease_owner ELSE relay_owner END,
            relay_until = CASE WHEN relay_owner IS NULL OR relay_owner = lease_owner
                                    OR relay_until < clock_timestamp()
                          THEN clock_timestamp() + make_interval(secs => :relay_s)
                          ELSE relay_until END
        WHERE id = :run_id AND lease_epoch = :epoch AND state = ANY(:sources)
          AND NOT EXISTS (
              SELECT FROM step WHERE run_id = :run_id AND key = CAST(:key AS text)
              AND (state = 'done' OR (state = :step_state AND attempt >= :attempt)))
        RETURNING last_sequence, is_pausing, update_time, published_sequence, relay_owner
    ), noted AS (
        INSERT INTO step (run_id, key, state, attempt, input, output)
        SELECT :run_id, one.key, one.state, one.attempt, one.input, one.output
        FROM moved, jsonb_to_recordset(CAST(:steps AS jsonb)) AS one(
            key text, state text, attempt int, input jsonb, output jsonb)
        ON CONFLICT (run_id, key) DO UPDATE
        SET state = excluded.state, attempt = excluded.attempt, output = excluded.output
"""
FOUND = """
    ), found AS (
        INSERT INTO evidence (run_id, step_key, ordinal, content)
        SELECT :run_id, one.step_key, one.ordinal, one.content
        FROM moved, unnest(CAST(:evidence_steps AS text[]), CAST(:evidence_ordinals AS int[]),
                           CAST(:evidence AS bytea[])) AS one(step_key, ordinal, content)
"""
ASKED = """
    ), asked AS (
        -- A withdrawn question may be asked again, under its next version.
        INSERT INTO checkpoint (run_id, interrupt_id, kind, state, version, payload, snapshot,
                                expires_at)
        SELECT :run_id, one.interrupt_id, one.kind, 'PENDING', one.version, one.payload,
               one.snapshot, one.expires_at
        FROM moved, jsonb_to_recordset(CAST(:questions AS jsonb)) AS one(
            interrupt_id text, kind text, version int, payload jsonb, snapshot jsonb,
            expires_at timestamptz)
        ON CONFLICT (run_id, interrupt_id) DO UPDATE
        SET state = excluded.state, version = excluded.version, payload = excluded.payload,
            snapshot = excluded.snapshot, expires_at = excluded.expires_at,
            answered_by = NULL, answered_at = NULL, in_flight_token = NULL, in_flight_until = NULL
        WHERE checkpoint.state = 'WITHDRAWN'
    ), opened AS (
        -- The conversation about a plan begins with it, and goes on where it was withdrawn.
        INSERT INTO plan_round (run_id, number, author, message, intent, time)
        SELECT :run_id, 1, 'PLANNER', one.payload #>> '{plan,text}',
               replace(one.payload #>> '{plan,intent}', 'PLAN_INTENT_', ''), moved.update_time
        FROM moved, jsonb_to_recordset(CAST(:questions AS jsonb)) AS one(kind text, payload jsonb)
        WHERE one.kind = 'PLAN_REVIEW'
        ON CONFLICT DO NOTHING
"""
TOLD = """
    ), told AS (
        INSERT INTO event (run_id, sequence, type, payload, time)
        SELECT :run_id,
               moved.last_sequence - jsonb_array_length(CAST(:events AS jsonb)) + told.place,
               told.event ->> 'type', told.event -> 'payload', moved.update_time
        FROM moved,
             jsonb_array_elements(CAST(:events AS jsonb)) WITH ORDINALITY AS told(event, place)
    )
    SELECT last_sequence, is_pausing, update_time, published_sequence, relay_owner FROM moved
"""
# By whether there is evidence, and a question: the database prepares to write to every table that
# a statement names, and most writes are a step and its events.
RECORD = {
    (finds, asks): text(f"{MOVED}{FOUND if finds else ''}{ASKED if asks else ''}{TOLD}")
    for finds in (False, True)
    for asks in (False, True)
}
# Asked only after a write that did nothing: was it refused, or had it been done before?
STANDING = text("""
    SELECT lease_epoch, state, last_sequence, is_pausing,
           EXISTS (SELECT FROM step WHERE run_id = :run_id AND key = CAST(:key AS text)
                   AND (state = 'done' OR (state = :step_state AND attempt >= :attempt))
                  ) AS is_recorded
    FROM run WHERE id = :run_id
""")
# Everything in one reply that is read at once: a row each would cost more than all that is in it.
LOAD = text("""
    SELECT (SELECT json_agg(json_build_array(key, state, attempt, input, output))
            FROM step WHERE run_id = :run_id) AS steps,
           ARRAY(SELECT step_key FROM evidence WHERE run_id = :run_id ORDER BY ordinal)
               AS evidence_steps,
           ARRAY(SELECT content FROM evidence WHERE run_id = :run_id ORDER BY ordinal)
               AS evidence,
           (SELECT json_agg(json_build_array(interrupt_id, state, version, decision,
                                             payload -> 'plan'))
            FROM checkpoint WHERE run_id = :run_id) AS checkpoints,
           (SELECT json_agg(json_build_array(author, message, intent) ORDER BY number)
            FROM plan_round WHERE run_id = :run_id) AS rounds
""")
CLOCK = text("SELECT clock_timestamp() AS now")
CONVERSATION = text("""
    SELECT run.prompt, answer.payload
    FROM run JOIN LATERAL (
        SELECT payload FROM event WHERE run_id = run.id AND type = 'answer'
        UNION ALL
        SELECT one.payload
        FROM digest, jsonb_to_recordset(events) AS one(type text, payload jsonb)
        WHERE run_id = run.id AND one.type = 'answer'
    ) AS answer ON true
    WHERE run.session_id = :session_id AND run.ordinal < :ordinal AND run.state = 'COMPLETED'
    ORDER BY run.ordinal DESC LIMIT :turns
""")


def merged(entries: Sequence[Entry]) -> Entry:
    """Entries that follow each other as one."""
    first, last = entries[0], entries[-1]
    if first is last:
        return last
    steps = [step for one in entries for step in (*one.earlier, one.step) if step is not None]
    return replace(
        last,
        earlier=steps[:-1],
        step=steps[-1] if steps else None,
        events=[event for one in entries for event in one.events],
        evidence=[found for one in entries for found in one.evidence],
        evidence_from=first.evidence_from,
    )


class History:
    """Reads and writes what a run did."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, lease: Lease, entry: Entry) -> Written:
        """Write an entry once. Raises Stale, DatabaseDown.

        The same entry may be written again when the reply to the first try was lost.
        """
        parameters = _parameters(lease, entry)
        statement = RECORD[bool(entry.evidence), entry.question is not None]
        rows = await self._database.fetch(statement, parameters)
        if rows:
            (row,) = rows
            return Written(
                last_sequence=row.last_sequence,
                is_pausing=row.is_pausing,
                time=row.update_time,
                published=row.published_sequence,
                relay=row.relay_owner,
            )
        names = ("run_id", "key", "step_state", "attempt")
        standing = await self._database.fetch(STANDING, {name: parameters[name] for name in names})
        if not standing or standing[0].lease_epoch != lease.epoch:
            raise Stale(lease.run_id, lease.epoch)
        (now,) = standing
        # The epoch is ours, so nobody else can have written: this is our own write, found again.
        if now.is_recorded or (entry.step is None and now.state == parameters["state"]):
            return Written(last_sequence=now.last_sequence, is_pausing=now.is_pausing)
        raise run.WrongState(lease.run_id, State(now.state), entry.leaving or Action.CLAIM)

    async def load(self, run_id: str) -> Recorded:
        """What a run has recorded so far; to be called by its holder."""
        row = (await self._database.fetch(LOAD, {"run_id": run_id})).one()
        return Recorded(
            steps={
                key: Step(
                    key=key, input=given, output=output, attempt=attempt, is_done=state == DONE
                )
                for key, state, attempt, given, output in row.steps or ()
            },
            evidence=[
                one
                for step_key, content in zip(row.evidence_steps, row.evidence, strict=True)
                for one in evidence.unpacked(step_key, content)
            ],
            checkpoints={
                name: Known(
                    state=CheckpointState(state),
                    version=version,
                    decision=decision_from_json(decision) if decision else None,
                    plan=plan_from_json(plan) if plan else None,
                )
                for name, state, version, decision, plan in row.checkpoints or ()
            },
            rounds=[
                Round(
                    author=Author(author),
                    message=message,
                    intent=Intent(intent) if intent else None,
                )
                for author, message, intent in row.rounds or ()
            ],
        )

    async def clock(self) -> datetime:
        """What time it is for everybody."""
        now: datetime = (await self._database.fetch(CLOCK)).one().now
        return now

    async def conversation(self, session_id: str, before: int, *, turns: int) -> list[PastTurn]:
        """The last answered turns before an ordinal, oldest first."""
        rows = await self._database.fetch(
            CONVERSATION, {"session_id": session_id, "ordinal": before, "turns": turns}
        )
        return [
            PastTurn(
                prompt=row.prompt,
                answer=row.payload["markdown"],
                cited_titles=tuple(
                    dict.fromkeys(one["title"] for one in row.payload["citations"] if one["title"])
                ),
            )
            for row in reversed(rows)
        ]


def _parameters(lease: Lease, entry: Entry) -> dict[str, Any]:
    step = entry.step
    state = run.target(entry.leaving) if entry.leaving else State.RUNNING
    return {
        "run_id": lease.run_id,
        "epoch": lease.epoch,
        "stage": entry.stage,
        "pass": entry.pass_number,
        "usage": as_json(entry.usage),
        "state": state,
        "sources": list(run.sources(entry.leaving)) if entry.leaving else [State.RUNNING],
        "leaves": entry.leaving is not None,
        "ends": state in run.FINISHED,
        "key": step.key if step else None,
        "step_state": _state(step) if step else DONE,
        "attempt": step.attempt if step else 1,
        "steps": as_json([_step(one) for one in (*entry.earlier, *([step] if step else []))]),
        "relay_s": RELAY_S,
        "events": as_json(entry.events),
        "questions": as_json([_question(entry.question)] if entry.question else []),
        **evidence.parameters(entry.evidence, entry.evidence_from),
    }


def _state(step: Step) -> str:
    return DONE if step.is_done else STARTED


def _step(step: Step) -> dict[str, Any]:
    return {
        "key": step.key,
        "state": _state(step),
        "attempt": step.attempt,
        "input": step.input,
        "output": step.output,
    }


def _question(question: Question) -> dict[str, Any]:
    expires_at = question.expires_at
    return {
        "interrupt_id": question.interrupt_id,
        "kind": question.kind,
        "version": question.version,
        "payload": question.payload,
        "snapshot": question.snapshot,
        "expires_at": expires_at.isoformat() if expires_at else None,
    }


def decision_from_json(data: Mapping[str, Any]) -> Decision:
    """The decision as its checkpoint holds it."""
    return Decision(
        choice=Choice(data["choice"]),
        guidance=data["guidance"],
        modified_action=data.get("modified_action", ""),
    )
