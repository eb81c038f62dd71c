"""What dies in the middle of a run, and how the run goes on."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text

from services.orchestrator.store.database import Database
from tests.fakes.research_peers import ResearchPeers, call, conclude, passage, research_peers
from tests.integration.orchestrator_stage import (
    assert_told_once,
    eventually,
    kinds,
    orchestrator,
    refusal,
    settings_for,
)
from tests.servers import NatsServer, PostgresServer
from zocrates.orchestrator.v1 import chat_pb2 as pb

# So long that no lease is lost on a busy machine, which would be no mistake.
HELD = {"lease_s": 30.0, "renew_s": 1.0}


@pytest.fixture
async def peers() -> AsyncIterator[ResearchPeers]:
    async with research_peers() as served:
        served.search.hits = {"sleep": [passage(1), passage(2)], "memory": [passage(3)]}
        served.synth.script = [
            [call("search_corpus", query="sleep")],
            [call("search_corpus", query="memory")],
            [conclude()],
        ]
        yield served


async def test_a_stopped_orchestrator_hands_its_run_over_at_once(
    database_url: str, database: Database, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    gate = asyncio.Event()
    peers.search.gates["memory"] = gate
    settings = settings_for(database_url, nats_server.url, peers, drain_s=0.3, lease_s=60)
    async with orchestrator(settings) as chat:
        turn = await chat.start("Does sleep help memory?")

        async def is_held() -> bool:
            return peers.search.calls["memory"] == 1

        await eventually(is_held, "the second search")
    (row,) = await database.fetch(text("SELECT state, lease_owner FROM run"))
    assert (row.state, row.lease_owner) == ("QUEUED", None)
    gate.set()
    async with orchestrator(settings_for(database_url, nats_server.url, peers)) as chat:
        page = await chat.finished(turn)
    assert page.state == pb.RUN_STATE_COMPLETED
    assert_told_once(page)


async def test_a_holder_that_lost_its_lease_drops_its_result(
    database_url: str, database: Database, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    gate = asyncio.Event()
    peers.search.gates["memory"] = gate
    async with orchestrator(settings_for(database_url, nats_server.url, peers)) as chat:
        turn = await chat.start("Does sleep help memory?")

        async def is_held() -> bool:
            return peers.search.calls["memory"] == 1

        await eventually(is_held, "the second search")
        # Somebody else takes the run and never works on it.
        await database.fetch(
            text(
                "UPDATE run SET lease_epoch = lease_epoch + 1, "
                "lease_until = now() + interval '1 hour'"
            )
        )
        before = kinds(await chat.page(turn))
        gate.set()

        async def is_dropped() -> bool:
            # The next run of another session shows that the runner is alive and rid of the first.
            return bool((await chat.answer("hello")).markdown)

        await eventually(is_dropped, "another run")
        assert kinds(await chat.page(turn)) == before


async def test_the_database_may_go_away_during_a_call(
    postgres: PostgresServer, database_url: str, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    gate = asyncio.Event()
    peers.search.gates["memory"] = gate
    async with orchestrator(settings_for(database_url, nats_server.url, peers)) as chat:
        turn = await chat.start("Does sleep help memory?")

        async def is_held() -> bool:
            return peers.search.calls["memory"] == 1

        await eventually(is_held, "the second search")
        postgres.kill()
        gate.set()
        failure = await refusal(chat.page(turn))
        assert failure.reason == "DATABASE_UNAVAILABLE"
        await asyncio.to_thread(postgres.start)
        page = await chat.finished(turn)
    assert page.state == pb.RUN_STATE_COMPLETED
    assert peers.search.calls["memory"] == 1
    assert_told_once(page)


async def test_two_orchestrators_share_the_work_and_run_no_step_twice(
    database_url: str, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    async with (
        orchestrator(settings_for(database_url, nats_server.url, peers, **HELD)) as chat,
        orchestrator(settings_for(database_url, nats_server.url, peers, **HELD)),
    ):
        turns = [await chat.start(f"Question {number}?") for number in range(12)]
        pages = [await chat.finished(turn) for turn in turns]
    assert {page.state for page in pages} == {pb.RUN_STATE_COMPLETED}
    for page in pages:
        assert_told_once(page)
    assert peers.search.calls["sleep"] == peers.search.calls["memory"] == 12
