"""The write that makes a run due gives it to a claimant, who works on it or hands it over."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

from services.chassis.bus import Bus
from services.orchestrator.checkpoint import Choice
from services.orchestrator.ledger import Standing
from services.orchestrator.run import Claimant, ClaimedRun, Lease, Stage
from services.orchestrator.runner import Pace, Runner
from services.orchestrator.store.checkpoints import Answer, Checkpoints, Decided
from services.orchestrator.store.control import Target
from services.orchestrator.store.database import Database
from services.orchestrator.store.history import History
from services.orchestrator.store.pausing import Pausing
from services.orchestrator.store.runs import Runs
from services.orchestrator.store.sessions import Sessions
from tests.integration.orchestrator_stage import eventually
from tests.integration.waiting_runs import claim, entry, start_waiting, state_of, turn_of

ME = Claimant(name="me", lease_s=60)
PACE = Pace(lease_s=60, renew_s=5, poll_s=60, max_runs=1, drain_s=1)
SOME_TIME = datetime(2026, 1, 1, tzinfo=UTC)


class Worker:
    """Notes the runs that it is given and works on each until it is cancelled."""

    def __init__(self) -> None:
        self.given: list[ClaimedRun] = []

    async def run(self, run: ClaimedRun, standing: Standing) -> None:
        self.given.append(run)
        await standing.stopping.wait()
        await standing.permission()

    async def fail(self, run: ClaimedRun) -> None:
        raise AssertionError(run)


async def decide(database: Database, target: Target, claimant: Claimant | None) -> Decided:
    answer = Answer(
        owner=target.owner,
        session_id=target.session_id,
        run_id=target.run_id,
        interrupt_id="interrupt_ext_1",
        choice=Choice.EXTEND_BUDGET,
        guidance="Naps.",
        expected_version=None,
        idempotency_key="",
        body_hash="h",
    )
    return await Checkpoints(database).decide(answer, claimant)


def anonymous(run: ClaimedRun) -> ClaimedRun:
    lease = Lease(run_id="", epoch=run.lease.epoch)
    return replace(run, lease=lease, session_id="", create_time=SOME_TIME)


async def claimed(database: Database, target: Target) -> ClaimedRun:
    run = (await decide(database, target, ME)).claimed
    assert run is not None
    return run


async def test_a_decision_gives_the_run_to_its_claimant_and_to_nobody_else(
    database: Database,
) -> None:
    target = await start_waiting(database)
    run = await claimed(database, target)
    assert (run.id, run.stage, run.pass_number) == (target.run_id, Stage.SEARCH, 1)
    assert await state_of(database, target) == "RUNNING"
    assert await Runs(database).claim("other", limit=9, lease_s=60) == ()
    assert await Runs(database).renew([run.lease], lease_s=60) == {run.id}
    known = (await History(database).load(run.id)).checkpoints["interrupt_ext_1"]
    assert known.decision is not None
    assert known.decision.guidance == "Naps."
    written = await History(database).record(run.lease, entry())
    assert written.last_sequence == run.last_sequence + 1


async def test_what_a_decision_told_comes_back_to_its_claimant_alone(database: Database) -> None:
    target = await start_waiting(database)
    told = (await decide(database, target, ME)).told
    assert told is not None
    assert told.relay == ME.name
    page = await Sessions(database).events(
        target.owner, target.session_id, target.run_id, after=0, limit=100
    )
    assert list(told.events) == list(page.events)[-2:]
    assert [one.type for one in told.events] == ["checkpoint_answered", "stage"]
    other = await start_waiting(database)
    assert (await decide(database, other, None)).told is None


async def test_the_first_events_of_a_turn_come_back_to_its_claimant(database: Database) -> None:
    started = await Runs(database).start_turn(turn_of(), ME)
    told = started.told
    assert told is not None
    assert (told.relay, told.published) == (ME.name, 0)
    page = await Sessions(database).events(
        "ada", started.session_id, started.run_id, after=0, limit=100
    )
    assert list(told.events) == list(page.events)
    assert (await Runs(database).start_turn(turn_of(), None)).told is None


async def test_a_relay_that_is_at_a_run_keeps_it_when_another_process_decides(
    database: Database,
) -> None:
    target = await start_waiting(database)  # by a holder whose relay is at its events
    told = (await decide(database, target, replace(ME, name="another"))).told
    assert told is not None
    assert told.relay == ME.name


async def test_a_claimant_gets_the_run_as_whoever_finds_it_would(database: Database) -> None:
    given = await claimed(database, await start_waiting(database))
    target = await start_waiting(database)
    assert (await decide(database, target, None)).claimed is None
    found = await claim(database, target)
    assert anonymous(given) == anonymous(found)


async def test_a_new_turn_is_its_claimants_from_the_first_write_on(database: Database) -> None:
    runs = Runs(database)
    first = (await runs.start_turn(turn_of(), ME)).claimed
    assert first is not None
    assert first.lease.epoch == 1
    assert await runs.claim("other", limit=9, lease_s=60) == ()
    await runs.start_turn(turn_of())
    (found,) = await runs.claim("other", limit=9, lease_s=60)
    assert anonymous(first) == anonymous(found)
    once, again = [await runs.start_turn(turn_of(idempotency_key="k"), ME) for _ in range(2)]
    assert (again.run_id, again.replayed, again.claimed) == (once.run_id, True, None)


async def test_a_run_that_is_to_pause_is_given_to_nobody(database: Database) -> None:
    target = await start_waiting(database)
    await Pausing(database).pause(target)
    assert (await decide(database, target, ME)).claimed is None
    assert await state_of(database, target) == "PAUSED"


async def test_a_process_takes_what_it_has_room_for_and_hands_over_what_comes_too_late(
    database: Database, bus: Bus
) -> None:
    worker, stop = Worker(), asyncio.Event()
    runner = Runner("me", Runs(database), worker, bus, PACE)
    with runner.place() as nothing:
        assert nothing is None
    running = asyncio.create_task(runner.run(stop))

    async def takes() -> bool:
        with runner.place() as claimant:
            return claimant is not None

    await eventually(takes, "a process that takes runs")
    with runner.place() as claimant, runner.place() as no_more:
        assert (claimant, no_more) == (ME, None)
        early = await claimed(database, await start_waiting(database))
        await runner.take(early)
    with runner.place() as no_more:
        assert no_more is None
    target = await start_waiting(database)
    late = await claimed(database, target)
    stop.set()
    await runner.take(late)
    assert await state_of(database, target) == "QUEUED"
    await running
    assert worker.given == [early]
    (_, again) = await Runs(database).claim("other", limit=9, lease_s=60)
    assert again.lease.epoch == late.lease.epoch + 1
