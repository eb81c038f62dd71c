"""A pause takes effect at the next step, and a waiting run takes its decision first."""

import asyncio
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from services.orchestrator.checkpoint import Choice
from services.orchestrator.errors import NotInThisState, UnknownRun
from services.orchestrator.store.checkpoints import Answer, Checkpoints
from services.orchestrator.store.control import Control, Target
from services.orchestrator.store.database import Database
from services.orchestrator.store.pausing import Pausing
from services.orchestrator.store.runs import Runs
from services.orchestrator.store.sessions import Sessions
from tests.fakes.deep_question import QUESTION
from tests.fakes.research_peers import ResearchPeers
from tests.integration.orchestrator_stage import (
    EXTEND,
    assert_told_once,
    eventually,
    kinds,
    orchestrator,
    settings_for,
)
from tests.integration.waiting_runs import claim, start_run, start_waiting
from tests.servers import NatsServer
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2 as pb


async def standing(database: Database, target: Target) -> tuple[str, bool]:
    (row,) = await database.fetch(
        text("SELECT state, is_pausing FROM run WHERE id = :id"), {"id": target.run_id}
    )
    return row.state, row.is_pausing


async def changes(database: Database, target: Target) -> list[str]:
    page = await Sessions(database).events(
        target.owner, target.session_id, target.run_id, after=0, limit=100
    )
    assert [one.sequence for one in page.events] == list(range(1, page.last_sequence + 1))
    return [one.payload["change"][17:] for one in page.events if one.type == "run_state"]


async def claimed(database: Database) -> int:
    return len(await Runs(database).claim("me", limit=10, lease_s=60))


def answer(target: Target) -> Answer:
    return Answer(
        owner=target.owner,
        session_id=target.session_id,
        run_id=target.run_id,
        interrupt_id="interrupt_ext_1",
        choice=Choice.EXTEND_BUDGET,
        guidance="",
        expected_version=1,
        idempotency_key="",
        body_hash="",
    )


async def test_a_queued_run_pauses_at_once_and_goes_on_when_told(database: Database) -> None:
    target, pausing = await start_run(database), Pausing(database)
    await pausing.pause(target)
    assert await standing(database, target) == ("PAUSED", False)
    assert await claimed(database) == 0
    await pausing.resume(target)
    assert await standing(database, target) == ("QUEUED", False)
    assert await claimed(database) == 1
    assert await changes(database, target) == ["PAUSED", "RESUMED"]


async def test_a_running_run_pauses_before_its_next_step(
    database: Database, database_url: str, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    gate = asyncio.Event()
    peers.search.gates["sleep"] = gate
    async with orchestrator(settings_for(database_url, nats_server.url, peers)) as chat:
        turn = await chat.start(QUESTION)
        target = Target(owner="ada", session_id=turn.session_id, run_id=turn.run_id)

        async def is_searching() -> bool:
            return peers.search.calls["sleep"] == 1

        await eventually(is_searching, "the search")
        await Pausing(database).pause(target)
        gate.set()

        async def is_paused() -> bool:
            return (await chat.page(turn)).state == pb.RUN_STATE_PAUSED

        await eventually(is_paused, "the pause")
        page = await chat.page(turn)
        assert kinds(page)[-2:] == ["tool_result", "run_state"]
        assert page.events[-1].run_state.change == event_pb2.RUN_STATE_CHANGE_PAUSED
        assert len(peers.synth.investigations) == 1
        await Pausing(database).resume(target)
        await chat.waiting(turn)
        assert_told_once(await chat.page(turn))
        assert peers.search.calls["sleep"] == 1


async def test_a_waiting_run_takes_its_decision_and_then_pauses(database: Database) -> None:
    target, pausing = await start_waiting(database), Pausing(database)
    await pausing.pause(target)
    assert await standing(database, target) == ("AWAITING_INPUT", True)
    decided = await Checkpoints(database).decide(answer(target))
    assert await standing(database, target) == ("PAUSED", False)
    assert await claimed(database) == 0
    page = await Sessions(database).events(
        target.owner, target.session_id, target.run_id, after=decided.after_sequence, limit=10
    )
    assert [one.type for one in page.events] == ["checkpoint_answered", "stage", "run_state"]
    assert await changes(database, target) == ["PAUSED"]
    await pausing.resume(target)
    run = await claim(database, target)
    assert (run.pass_number, run.is_pausing) == (1, False)


async def test_a_deadline_that_passes_leaves_a_pausing_run_paused(database: Database) -> None:
    target = await start_waiting(database, expires_at=datetime.now(UTC))
    await Pausing(database).pause(target)
    assert await Checkpoints(database).expire(limit=10) == 1
    assert await standing(database, target) == ("PAUSED", False)
    assert await changes(database, target) == ["PAUSED"]


async def test_a_waiting_run_that_shall_go_on_after_all_is_queued_by_its_decision(
    database: Database,
) -> None:
    target, pausing = await start_waiting(database), Pausing(database)
    await pausing.pause(target)
    await pausing.resume(target)
    await Checkpoints(database).decide(answer(target))
    assert await standing(database, target) == ("QUEUED", False)
    assert await changes(database, target) == []


async def test_a_pausing_run_whose_holder_died_is_given_back_by_the_next_one(
    database: Database, database_url: str, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    target = await start_run(database, prompt=QUESTION)
    await claim(database, target)
    await Pausing(database).pause(target)
    await database.fetch(text("UPDATE run SET lease_until = now() - interval '1 s'"))
    async with orchestrator(settings_for(database_url, nats_server.url, peers)) as chat:

        async def is_paused() -> bool:
            return await standing(database, target) == ("PAUSED", False)

        await eventually(is_paused, "the pause")
        assert not peers.synth.conversations
        await Pausing(database).resume(target)
        turn = pb.StartTurnResponse(session_id=target.session_id, run_id=target.run_id)
        await chat.waiting(turn)
        await chat.decide(turn, EXTEND)


async def test_a_pause_that_is_repeated_late_does_not_pause_again(database: Database) -> None:
    target, pausing = await start_run(database), Pausing(database)
    await pausing.pause(target, key="k")
    await pausing.resume(target)
    await pausing.pause(target, key="k")
    assert await standing(database, target) == ("QUEUED", False)


@pytest.mark.parametrize("state", ["COMPLETED", "FAILED", "CANCELLED", "EXPIRED", "REWOUND"])
async def test_an_ended_run_can_neither_be_paused_nor_resumed(
    database: Database, state: str
) -> None:
    target, pausing = await start_run(database), Pausing(database)
    await database.fetch(text("UPDATE run SET state = :state"), {"state": state})
    for wish in (pausing.pause, pausing.resume):
        with pytest.raises(NotInThisState, match=state):
            await wish(target)


async def test_a_run_is_not_paused_twice_and_only_a_paused_one_is_resumed(
    database: Database,
) -> None:
    target, pausing = await start_run(database), Pausing(database)
    with pytest.raises(NotInThisState, match="QUEUED"):
        await pausing.resume(target)
    await claim(database, target)
    with pytest.raises(NotInThisState, match="RUNNING"):
        await pausing.resume(target)
    await pausing.pause(target)
    with pytest.raises(NotInThisState, match="paused already"):
        await pausing.pause(target)
    with pytest.raises(UnknownRun):
        await pausing.pause(Target(owner="eve", session_id=target.session_id, run_id=target.run_id))


async def test_a_run_that_is_taken_up_again_after_its_end_is_not_pausing(
    database: Database,
) -> None:
    target = await start_waiting(database)
    await Pausing(database).pause(target)
    await Control(database).cancel(target)
    await Control(database).retry(target)
    assert await standing(database, target) == ("QUEUED", False)
