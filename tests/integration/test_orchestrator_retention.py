"""What is forgotten is old and not needed: nothing else goes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy import text

from services.orchestrator.errors import UnknownRun
from services.orchestrator.events import NewEvent, thought
from services.orchestrator.run import Action, Stage, Usage
from services.orchestrator.store.control import Control, Target
from services.orchestrator.store.database import Database
from services.orchestrator.store.history import Entry, History, Step
from services.orchestrator.store.outbox import Outbox
from services.orchestrator.store.retention import Ages, Retention
from services.orchestrator.store.runs import Runs, Turn
from services.orchestrator.store.sessions import EventPage, Sessions

AGES = Ages(request_keys=timedelta(hours=24), steps=timedelta(days=30), events=timedelta(days=90))


def told(kind: str, **payload: object) -> NewEvent:
    return NewEvent(type=kind, payload=payload)


# As far as they matter here: of what a later one replaces, only the last is needed.
EVENTS = (
    told("run_started", prompt="Why?"),
    told("stage", stage="STAGE_SEARCH"),
    *thought("search", "Hm."),
    told("tool_call", step_id="a"),
    told("tool_result", step_id="a"),
    told("report", covered_summary="Early."),
    told("request_input", interrupt_id="interrupt_ext_1"),
    told("checkpoint_answered", interrupt_id="interrupt_ext_1"),
    told("report", covered_summary="Late."),
    told("stage", stage="STAGE_SYNTHESIZE"),
    told("answer_reset", attempt=2),
    told("answer", markdown="Because.", citations=[]),
)
KEPT = [1, 4, 5, 7, 8, 9, 10, 12]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A run that ended, or runs on."""

    session_id: str
    run_id: str


async def ended(
    database: Database,
    ending: Action | None,
    *,
    days_ago: int,
    events: Sequence[NewEvent] = (),
    is_published: bool = True,
) -> Ended:
    """A run with a key and a step that ended, or runs on, since so many days."""
    runs = Runs(database)
    turn = Turn(
        owner="ada",
        session_id="",
        prompt="Why?",
        active_items=(),
        scope={},
        options={},
        ceilings={},
        trace={},
        events=events,
        idempotency_key=f"{ending} {days_ago} {uuid4().hex}",
        body_hash="",
    )
    started = await runs.start_turn(turn)
    (run,) = await runs.claim("me", limit=1, lease_s=60)
    step = Step(key="converse", input={}, output={})
    entry = Entry(stage=Stage.SEARCH, pass_number=0, usage=Usage(), step=step, leaving=ending)
    await History(database).record(run.lease, entry)
    one = Ended(session_id=started.session_id, run_id=started.run_id)
    await age(database, one, days_ago=days_ago)
    if is_published:
        await publish(database, one, len(events))
    return one


async def age(database: Database, run: Ended, *, days_ago: int) -> None:
    when = {"id": run.run_id, "days": days_ago}
    past = "now() - make_interval(days => :days)"
    # A run that goes on has not finished.
    finish = f"UPDATE run SET finish_time = {past} WHERE id = :id AND finish_time IS NOT NULL"
    await database.fetch(text(finish), when)
    await database.fetch(
        text(f"UPDATE request_key SET create_time = {past} WHERE run_id = :id"), when
    )


async def publish(database: Database, run: Ended, sequence: int) -> None:
    outbox = Outbox(database)
    await outbox.claim("me", held=[], lease_s=60, limit=100)
    await outbox.mark("me", {run.run_id: sequence}, lease_s=60, leaving={run.run_id})


async def left(database: Database, statement: str) -> list[str]:
    return sorted(row[0] for row in await database.fetch(text(statement)))


async def page(database: Database, run: Ended, *, after: int) -> EventPage:
    return await Sessions(database).events(
        "ada", run.session_id, run.run_id, after=after, limit=100
    )


async def test_keys_go_after_a_day_and_steps_of_completed_runs_after_a_month(
    database: Database,
) -> None:
    await ended(database, Action.COMPLETE, days_ago=40)
    await ended(database, Action.COMPLETE, days_ago=2)
    await ended(database, Action.FAIL, days_ago=40)
    await ended(database, None, days_ago=0)
    gone = await Retention(database, batch=1).forget(AGES)
    assert gone == 4
    (key,) = await left(database, "SELECT key FROM request_key")
    assert key.startswith("None 0")
    states = "SELECT run.state FROM run JOIN step ON step.run_id = run.id"
    assert await left(database, states) == ["COMPLETED", "FAILED", "RUNNING"]
    assert await Retention(database).forget(AGES) == 0


async def test_events_of_old_finished_runs_go_and_their_messages_stay(database: Database) -> None:
    old = await ended(database, Action.COMPLETE, days_ago=100, events=EVENTS)
    others = [
        await ended(database, Action.COMPLETE, days_ago=80, events=EVENTS),
        await ended(database, Action.FAIL, days_ago=100, events=EVENTS, is_published=False),
        await ended(database, None, days_ago=100, events=EVENTS),
    ]
    await Retention(database, batch=1).forget(AGES)
    with_events = await left(database, "SELECT DISTINCT run_id FROM event")
    assert with_events == sorted(one.run_id for one in others)
    session = await Sessions(database).get("ada", old.session_id)
    (message,) = session.messages
    assert [event.sequence for event in message.events] == KEPT
    assert [event.payload for event in message.events] == [
        EVENTS[sequence - 1].payload for sequence in KEPT
    ]
    assert message.events[0].time.tzinfo is not None


async def test_a_position_before_what_is_kept_gets_the_whole_run_and_a_later_one_what_follows(
    database: Database,
) -> None:
    run = await ended(database, Action.FAIL, days_ago=100, events=EVENTS)
    await Retention(database).forget(AGES)
    for after in (0, 11):
        found = await page(database, run, after=after)
        assert found.snapshot is not None
        assert [event.sequence for event in found.snapshot.events] == KEPT
        assert (found.events, found.last_sequence, found.state) == ((), 12, "FAILED")
    assert (await page(database, run, after=12)).snapshot is None
    target = Target(owner="ada", session_id=run.session_id, run_id=run.run_id)
    await Control(database).retry(target)
    found = await page(database, run, after=12)
    assert [event.type for event in found.events] == ["run_state"]
    assert found.snapshot is None
    whole = await page(database, run, after=11)
    assert whole.snapshot is not None
    assert [event.sequence for event in whole.snapshot.events] == [*KEPT, 13]
    assert (whole.last_sequence, whole.state) == (13, "QUEUED")


async def test_a_run_that_went_on_after_its_events_were_forgotten_is_forgotten_again(
    database: Database,
) -> None:
    run = await ended(database, Action.FAIL, days_ago=100, events=EVENTS)
    await Retention(database).forget(AGES)
    target = Target(owner="ada", session_id=run.session_id, run_id=run.run_id)
    await Control(database).retry(target)
    await Control(database).cancel(target)
    await age(database, run, days_ago=100)
    await publish(database, run, 14)
    await Retention(database).forget(AGES)
    assert await left(database, "SELECT type FROM event") == []
    whole = await page(database, run, after=13)
    assert whole.snapshot is not None
    # Both changes were `run_state`, and the last one tells how the run stands.
    assert [event.sequence for event in whole.snapshot.events] == [*KEPT, 14]


async def test_what_is_no_longer_kept_is_nobody_elses_either(database: Database) -> None:
    run = await ended(database, Action.COMPLETE, days_ago=100, events=EVENTS)
    await Retention(database).forget(AGES)
    with pytest.raises(UnknownRun):
        await Sessions(database).events("bob", run.session_id, run.run_id, after=0, limit=1)


async def test_a_later_turn_hears_an_answer_whose_events_are_forgotten(database: Database) -> None:
    run = await ended(database, Action.COMPLETE, days_ago=100, events=EVENTS)
    before = await History(database).conversation(run.session_id, 9, turns=3)
    await Retention(database).forget(AGES)
    assert await History(database).conversation(run.session_id, 9, turns=3) == before
    assert [turn.answer for turn in before] == ["Because."]
