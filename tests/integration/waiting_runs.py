"""Runs in the states that a test wants them in, written by the store alone."""

from dataclasses import asdict
from datetime import datetime

from sqlalchemy import text

from services.orchestrator import checkpoint, events
from services.orchestrator.ceilings import Harness
from services.orchestrator.checkpoint import Progress
from services.orchestrator.options import Options
from services.orchestrator.run import Action, ClaimedRun, Stage, Usage
from services.orchestrator.store.control import Control, Target
from services.orchestrator.store.database import Database
from services.orchestrator.store.history import Entry, History, Step
from services.orchestrator.store.runs import Runs, Turn
from services.orchestrator.store.sessions import Sessions
from services.orchestrator.trigger import Ending, Report, Trigger

ACTIVE = ("QUEUED", "RUNNING", "AWAITING_INPUT")
ENDED = ("COMPLETED", "FAILED", "CANCELLED")
REPORT = Report(
    summary="Sleep.",
    gaps=("memory",),
    automatic=False,
    reason="",
    ending=Ending.CONCLUDED,
    asked=False,
)


def turn_of(
    *, owner: str = "ada", session_id: str = "", prompt: str = "Why?", idempotency_key: str = ""
) -> Turn:
    """A turn under the usual ceilings; the same under the same key."""
    return Turn(
        owner=owner,
        session_id=session_id,
        prompt=prompt,
        active_items=(),
        scope={},
        options={"max_extensions": 2, "hitl_enabled": True},
        ceilings=asdict(Harness()),
        trace={},
        events=[events.stage_entered(Stage.CONVERSE, 0)],
        idempotency_key=idempotency_key,
        body_hash=f"hash of {prompt}",
    )


async def start_run(
    database: Database, *, owner: str = "ada", session_id: str = "", prompt: str = "Why?"
) -> Target:
    """A queued run."""
    turn = turn_of(owner=owner, session_id=session_id, prompt=prompt)
    started = await Runs(database).start_turn(turn)
    return Target(owner=owner, session_id=started.session_id, run_id=started.run_id)


async def claim(database: Database, target: Target) -> ClaimedRun:
    """The run in the hands of this test."""
    claimed = await Runs(database).claim("me", limit=100, lease_s=60)
    return next(run for run in claimed if run.id == target.run_id)


def asking(*, version: int = 1, expires_at: datetime | None = None) -> Entry:
    """The write with which a run stops after its first pass."""
    question = checkpoint.budget_question(
        REPORT,
        Trigger.GAPS,
        Progress(
            harness=Harness(),
            options=Options(max_extensions=2, hitl_enabled=True),
            extensions=0,
            usage=Usage(calls=1, words=10),
            evidence=(),
        ),
        version=version,
        expires_at=expires_at,
    )
    return Entry(
        stage=Stage.SEARCH,
        pass_number=0,
        usage=Usage(calls=1, words=10),
        step=Step(key=f"pass_0/report_{version}", input={}, output={}),
        events=[events.input_requested(question)],
        leaving=Action.ASK,
        question=question,
    )


async def start_waiting(
    database: Database, *, session_id: str = "", expires_at: datetime | None = None
) -> Target:
    """A run that waits for the answer to `interrupt_ext_1`."""
    target = await start_run(database, session_id=session_id)
    run = await claim(database, target)
    await History(database).record(run.lease, asking(expires_at=expires_at))
    return target


async def run_in(database: Database, state: str, session_id: str = "") -> Target:
    """A run that got into the state as runs do."""
    if state == "AWAITING_INPUT":
        return await start_waiting(database, session_id=session_id)
    target = await start_run(database, session_id=session_id)
    if state == "QUEUED":
        return target
    run = await claim(database, target)
    if state == "CANCELLED":
        await Control(database).cancel(target)
    elif state in ENDED:
        ending = Action.COMPLETE if state == "COMPLETED" else Action.FAIL
        await History(database).record(run.lease, entry(leaving=ending))
    return target


def entry(*, leaving: Action | None = None, key: str = "late") -> Entry:
    """A write with a step and an event."""
    return Entry(
        stage=Stage.SEARCH,
        pass_number=0,
        usage=Usage(),
        step=Step(key=key, input={}, output={}),
        events=[events.stage_entered(Stage.SEARCH, 0)],
        leaving=leaving,
    )


async def told(database: Database, target: Target) -> list[str]:
    """The types of the run's events, whose sequence has no gap."""
    page = await Sessions(database).events(
        target.owner, target.session_id, target.run_id, after=0, limit=100
    )
    assert [one.sequence for one in page.events] == list(range(1, page.last_sequence + 1))
    return [one.type for one in page.events]


async def state_of(database: Database, target: Target) -> str:
    """The run's state as stored."""
    (row,) = await database.fetch(
        text("SELECT state FROM run WHERE id = :id"), {"id": target.run_id}
    )
    return str(row.state)
