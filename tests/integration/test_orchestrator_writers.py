"""Many who write the same rows at once: nothing is lost or done twice, nobody is held up."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from asyncpg import UniqueViolationError
from sqlalchemy import text

from services.orchestrator.checkpoint import Choice
from services.orchestrator.errors import (
    CheckpointExpired,
    NotInThisState,
    RunActive,
    StaleInterrupt,
    VersionConflict,
)
from services.orchestrator.run import Lease
from services.orchestrator.store.checkpoints import Answer, Checkpoints
from services.orchestrator.store.control import Control, Target
from services.orchestrator.store.database import Database, open_database
from services.orchestrator.store.history import History
from services.orchestrator.store.outbox import Outbox
from services.orchestrator.store.pausing import Pausing
from services.orchestrator.store.runs import Runs, Turn
from tests.integration.waiting_runs import (
    claim,
    entry,
    run_in,
    start_run,
    start_waiting,
    state_of,
    told,
    turn_of,
)

ROUNDS = 25


def answer(target: Target, **changes: Any) -> Answer:
    values: dict[str, Any] = {
        "owner": target.owner,
        "session_id": target.session_id,
        "run_id": target.run_id,
        "interrupt_id": "interrupt_ext_1",
        "choice": Choice.EXTEND_BUDGET,
        "guidance": "",
        "expected_version": None,
        "idempotency_key": "",
        "body_hash": "h",
        **changes,
    }
    return Answer(**values)


async def at_once(*works: Callable[[], Awaitable[object]]) -> list[object]:
    """The outcomes, errors among them, of works that all begin together."""
    barrier = asyncio.Barrier(len(works))

    async def begun(work: Callable[[], Awaitable[object]]) -> object:
        await barrier.wait()
        return await work()

    return await asyncio.gather(*map(begun, works), return_exceptions=True)


async def connected(database: Database) -> None:
    """Fill the pool: who has to connect first is late for a race."""
    wait = text("SELECT pg_sleep(0.05)")
    await asyncio.gather(*(database.fetch(wait) for _ in range(10)))


async def test_writers_of_one_run_at_once_lose_nothing(database: Database) -> None:
    target = await start_run(database)
    run = await claim(database, target)
    history, runs, outbox = History(database), Runs(database), Outbox(database)
    pausing = Pausing(database)
    marked = 0

    async def steps() -> None:
        for number in range(ROUNDS):
            await history.record(run.lease, entry(key=f"step_{number}"))

    async def renewals() -> None:
        for _ in range(ROUNDS):
            assert await runs.renew([run.lease], lease_s=60) == {target.run_id}

    async def relayed() -> None:
        nonlocal marked
        for _ in range(ROUNDS):
            for parcel in await outbox.claim("me", held=[], lease_s=60, limit=10):
                assert parcel.published == marked
                marked += 1
                position = {parcel.run_id: marked}
                await outbox.mark("me", position, lease_s=60, leaving=(parcel.run_id,))

    async def wishes() -> None:
        for _ in range(ROUNDS):
            await pausing.pause(target)
            await pausing.resume(target)

    assert await at_once(steps, renewals, relayed, wishes) == [None] * 4
    assert len((await history.load(target.run_id)).steps) == ROUNDS
    # The first one is of the start.
    assert await told(database, target) == ["stage"] * (ROUNDS + 1)
    (row,) = await database.fetch(text("SELECT published_sequence, relay_due FROM run"))
    assert 0 < row.published_sequence == marked
    assert row.relay_due == (marked <= ROUNDS)


async def test_of_many_claimers_at_once_each_run_gets_one(database: Database) -> None:
    targets = [await start_run(database) for _ in range(20)]
    runs = Runs(database)
    await connected(database)
    outcomes = await at_once(
        *(lambda: runs.claim("somebody", limit=20, lease_s=60) for _ in range(10))
    )
    claimed = [run for one in outcomes if isinstance(one, tuple) for run in one]
    assert sorted(run.id for run in claimed) == sorted(one.run_id for one in targets)
    assert {run.lease.epoch for run in claimed} == {1}


async def test_a_claim_passes_over_what_another_one_is_taking(database: Database) -> None:
    targets = [await start_run(database) for _ in range(3)]
    runs = Runs(database)
    async with database.transaction() as connection:
        await connection.execute(text("SELECT 1 FROM run FOR UPDATE"))
        claims = [
            asyncio.create_task(runs.claim("somebody", limit=3, lease_s=60)) for _ in range(4)
        ]
        # One that waited here would take afterwards what it had seen before.
        await asyncio.wait(claims, timeout=2)
    claimed = [run for one in await asyncio.gather(*claims) for run in one]
    claimed += await runs.claim("somebody", limit=3, lease_s=60)
    assert sorted(run.id for run in claimed) == sorted(one.run_id for one in targets)
    assert {run.lease.epoch for run in claimed} == {1}


async def test_of_turns_and_a_retry_at_once_one_becomes_active(database: Database) -> None:
    runs, control = Runs(database), Control(database)
    await connected(database)
    for _ in range(8):
        failed = await run_in(database, "FAILED")
        turn = turn_of(session_id=failed.session_id)

        async def begun(turn: Turn = turn) -> str:
            return (await runs.start_turn(turn)).run_id

        async def retried(failed: Target = failed) -> str:
            await control.retry(failed)
            return failed.run_id

        outcomes = await at_once(begun, begun, retried, begun)
        (active,) = [one for one in outcomes if isinstance(one, str)]
        refused = [one for one in outcomes if isinstance(one, RunActive | NotInThisState)]
        assert len(refused) == 3, outcomes
        rows = await database.fetch(
            text("SELECT id FROM run WHERE session_id = :id AND state = 'QUEUED'"),
            {"id": failed.session_id},
        )
        assert [row.id for row in rows] == [active]


async def test_what_is_done_to_one_run_touches_no_other(database: Database) -> None:
    control, waiting = Control(database), [await start_waiting(database) for _ in range(4)]
    cancelled, rewound, decided, left = waiting
    await control.cancel(cancelled)
    await control.rewind(rewound)
    await Checkpoints(database).decide(answer(decided))
    before = await told(database, left)
    assert before[-1] == "request_input"
    await Checkpoints(database).pending(left.owner, left.session_id, left.run_id)
    await Checkpoints(database).decide(answer(left))
    states = [await state_of(database, one) for one in waiting]
    assert states == ["CANCELLED", "REWOUND", "QUEUED", "QUEUED"]


async def test_whatever_happens_to_a_run_is_published(database: Database) -> None:
    outbox, pausing, control = Outbox(database), Pausing(database), Control(database)
    target = await start_waiting(database)

    async def published() -> list[str]:
        """The types of the events that were not published yet."""
        parcels = await outbox.claim("me", held=[], lease_s=60, limit=10)
        events = await outbox.unpublished(
            {one.run_id: one.published for one in parcels},
            {one.run_id: one.session_id for one in parcels},
            limit=100,
        )
        positions = {one.run_id: one.sequence for one in events}
        await outbox.mark("me", positions, lease_s=60, leaving=(target.run_id,))
        return [one.type for one in events]

    assert await published() == ["stage", "request_input"]
    assert await published() == []
    await Checkpoints(database).decide(answer(target))
    assert await published() == ["checkpoint_answered", "stage"]
    await pausing.pause(target)
    assert await published() == ["run_state"]
    await control.cancel(target)
    assert await published() == ["run_state"]
    await control.retry(target)
    run = await claim(database, target)
    await History(database).record(run.lease, entry())
    assert await published() == ["run_state", "stage"]
    late = await start_waiting(database, expires_at=datetime.now(UTC))
    target = late
    assert await published() == ["stage", "request_input"]
    assert await Checkpoints(database).expire(limit=10) == 1
    assert await published() == ["checkpoint_answered", "stage"]


async def test_a_run_that_somebody_holds_up_holds_up_no_other(database: Database) -> None:
    stuck, other = await start_run(database), await start_waiting(database)
    async with database.transaction() as connection:
        await connection.execute(
            text("SELECT 1 FROM run WHERE id = :id FOR UPDATE"), {"id": stuck.run_id}
        )
        async with asyncio.timeout(5):
            await Checkpoints(database).decide(answer(other))
            run = await claim(database, other)
            await History(database).record(run.lease, entry())
            await Control(database).cancel(other)


async def test_refused_requests_give_their_connections_back(database_url: str) -> None:
    async with open_database(database_url, pool_size=2) as small:
        target = await start_waiting(small)
        refusals = await asyncio.gather(
            *(
                Checkpoints(small).decide(
                    answer(target, expected_version=7, idempotency_key=f"k{n}")
                )
                for n in range(50)
            ),
            return_exceptions=True,
        )
        assert {type(one) for one in refusals} == {VersionConflict}
        await Checkpoints(small).decide(answer(target))
        idle = text(
            "SELECT 1 FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' "
            "AND datname = current_database()"
        )
        assert not await small.fetch(idle)


async def test_a_run_has_one_open_question_at_a_time(database: Database) -> None:
    await start_waiting(database)
    second = text("""
        INSERT INTO checkpoint (run_id, interrupt_id, kind, state, version, payload, snapshot)
        SELECT run_id, 'interrupt_ext_2', kind, state, version, payload, snapshot FROM checkpoint
    """)
    with pytest.raises(UniqueViolationError, match="ix_checkpoint_pending"):
        await database.fetch(second)


async def test_what_a_process_works_on_it_does_not_claim_again(database: Database) -> None:
    target = await start_run(database)
    run = await claim(database, target)
    # An outage has ended the lease, not the work.
    await database.fetch(text("UPDATE run SET lease_until = now() - interval '1 s'"))
    runs = Runs(database)
    assert not await runs.claim("me", held=[target.run_id], limit=10, lease_s=60)
    await History(database).record(run.lease, entry())
    assert await runs.claim("other", limit=10, lease_s=60)


async def test_a_key_is_known_whatever_became_of_its_run(database: Database) -> None:
    runs, control, checkpoints = Runs(database), Control(database), Checkpoints(database)
    request = turn_of(idempotency_key="question")
    first = await runs.start_turn(request)
    target = Target(owner="ada", session_id=first.session_id, run_id=first.run_id)
    waiting = await start_waiting(database)
    click = answer(waiting, idempotency_key="click")
    await checkpoints.decide(click)
    for one in (target, waiting):
        await control.rewind(one)
    again = await runs.start_turn(request)
    assert (again.run_id, again.replayed) == (first.run_id, True)
    assert (await checkpoints.decide(click)).replayed
    assert await state_of(database, target) == await state_of(database, waiting) == "REWOUND"
    assert not await runs.claim("me", limit=10, lease_s=60)


async def test_the_key_of_a_deleted_session_starts_anew(database: Database) -> None:
    runs, request = Runs(database), turn_of(idempotency_key="question")
    first = await runs.start_turn(request)
    await Control(database).delete("ada", first.session_id)
    second = await runs.start_turn(request)
    assert not second.replayed
    assert second.run_id != first.run_id


async def test_a_key_is_bound_to_its_owner_and_its_kind_of_request(database: Database) -> None:
    runs = Runs(database)
    ada = await runs.start_turn(turn_of(idempotency_key="k"))
    bob = await runs.start_turn(replace(turn_of(idempotency_key="k"), owner="bob"))
    assert not bob.replayed
    assert (await runs.start_turn(turn_of(idempotency_key="k"))).run_id == ada.run_id
    waiting = await start_waiting(database)
    click = answer(waiting, idempotency_key="k")
    assert not (await Checkpoints(database).decide(click)).replayed
    assert (await Checkpoints(database).decide(click)).replayed
    assert (await runs.start_turn(turn_of(idempotency_key="k"))).run_id == ada.run_id


async def test_a_person_and_the_deadline_at_once_leave_one_answer(database: Database) -> None:
    checkpoints = Checkpoints(database)
    winners = set()
    for number in range(12):
        # The deadline falls among the answers, now before and now after the first of them.
        soon = datetime.now(UTC) + timedelta(milliseconds=4 * number)
        target = await start_waiting(database, expires_at=soon)

        async def system(until: datetime = soon) -> int:
            while datetime.now(UTC) < until + timedelta(milliseconds=20):
                if done := await checkpoints.expire(limit=10):
                    return done
            return await checkpoints.expire(limit=10)

        async def person(target: Target = target) -> str:
            await checkpoints.decide(answer(target))
            return target.owner

        outcomes = await at_once(system, system, *[person] * 4)
        answered = [one for one in outcomes[2:] if one == target.owner]
        refused = [
            one for one in outcomes[2:] if isinstance(one, StaleInterrupt | CheckpointExpired)
        ]
        assert len(answered) + len(refused) == 4, outcomes
        assert len(answered) + sum(one for one in outcomes[:2] if isinstance(one, int)) == 1
        assert (await told(database, target)).count("checkpoint_answered") == 1
        (row,) = await database.fetch(
            text(
                "SELECT answered_by, decision ->> 'choice' AS choice FROM checkpoint "
                "WHERE run_id = :id"
            ),
            {"id": target.run_id},
        )
        winners.add((row.answered_by, row.choice))
        assert winners <= {("ada", "EXTEND_BUDGET"), ("expiry", "SYNTHESIZE")}


async def test_a_holder_with_an_old_epoch_neither_renews_nor_hands_back(
    database: Database,
) -> None:
    target = await start_run(database)
    run, runs = await claim(database, target), Runs(database)
    old = Lease(run_id=run.id, epoch=run.lease.epoch - 1)
    assert await runs.renew([old], lease_s=600) == frozenset()
    await runs.release(old)
    (row,) = await database.fetch(
        text("SELECT state, lease_until < now() + interval '2 min' AS is_short FROM run")
    )
    assert (row.state, row.is_short) == ("RUNNING", True)
