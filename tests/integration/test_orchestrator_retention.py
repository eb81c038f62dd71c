"""What is forgotten is old and not needed: nothing else goes."""

from datetime import timedelta

from sqlalchemy import text

from services.orchestrator.run import Action, Stage, Usage
from services.orchestrator.store.database import Database
from services.orchestrator.store.history import Entry, History, Step
from services.orchestrator.store.retention import Retention
from services.orchestrator.store.runs import Runs, Turn

AGES = {"request_keys": timedelta(hours=24), "steps": timedelta(days=30)}


async def ended(database: Database, ending: Action | None, *, days_ago: int) -> None:
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
        events=(),
        idempotency_key=f"{ending} {days_ago}",
        body_hash="",
    )
    started = await runs.start_turn(turn)
    (run,) = await runs.claim("me", limit=1, lease_s=60)
    step = Step(key="converse", input={}, output={})
    entry = Entry(stage=Stage.SEARCH, pass_number=0, usage=Usage(), step=step, leaving=ending)
    await History(database).record(run.lease, entry)
    when = {"id": started.run_id, "days": days_ago}
    past = "now() - make_interval(days => :days)"
    await database.fetch(text(f"UPDATE run SET finish_time = {past} WHERE id = :id"), when)
    await database.fetch(
        text(f"UPDATE request_key SET create_time = {past} WHERE run_id = :id"), when
    )


async def left(database: Database, statement: str) -> list[str]:
    return sorted(row[0] for row in await database.fetch(text(statement)))


async def test_keys_go_after_a_day_and_steps_of_completed_runs_after_a_month(
    database: Database,
) -> None:
    await ended(database, Action.COMPLETE, days_ago=40)
    await ended(database, Action.COMPLETE, days_ago=2)
    await ended(database, Action.FAIL, days_ago=40)
    await ended(database, None, days_ago=0)
    gone = await Retention(database, batch=1).forget(**AGES)
    assert gone == 4
    assert await left(database, "SELECT key FROM request_key") == ["None 0"]
    states = "SELECT run.state FROM run JOIN step ON step.run_id = run.id"
    assert await left(database, states) == ["COMPLETED", "FAILED", "RUNNING"]
    assert await Retention(database).forget(**AGES) == 0
