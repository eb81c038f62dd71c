"""A process that goes hands its runs to another one: at once when it is asked to go."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest
from sqlalchemy import text

from services.orchestrator.store.database import Database
from tests.fakes.research_peers import ResearchPeers, call, conclude, passage, research_peers
from tests.integration.orchestrator_stage import (
    Chat,
    assert_told_once,
    eventually,
    orchestrator,
    orchestrator_process,
    settings_for,
)
from tests.integration.waiting_runs import start_run
from tests.servers import NatsServer
from zocrates.orchestrator.v1 import chat_pb2 as pb

TAKEOVER_S = 10
# So long that whoever needs a timer to find work does not find it within a test.
SLOWLY = {"lease_s": 60, "renew_s": 5, "poll_s": 60}
AS_CONFIGURED = {"lease_s": 5, "renew_s": 0.75, "poll_s": 1}


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


@dataclass
class Replicas:
    """Two orchestrators in processes of their own."""

    by_pid: dict[str, tuple[asyncio.subprocess.Process, Chat]]
    database: Database

    async def holder(self) -> tuple[asyncio.subprocess.Process, Chat]:
        """The one that works on the only run, and how to call the other one."""
        (row,) = await self.database.fetch(text("SELECT lease_owner FROM run"))
        held_by = row.lease_owner.split(":")[1]
        (other,) = (chat for pid, (_, chat) in self.by_pid.items() if pid != held_by)
        return self.by_pid[held_by][0], other


async def two(
    stack: AsyncExitStack,
    database: Database,
    database_url: str,
    nats: NatsServer,
    peers: ResearchPeers,
    **pace: float,
) -> Replicas:
    starting = [orchestrator_process(database_url, nats.url, peers, **pace) for _ in range(2)]
    started = await asyncio.gather(*(stack.enter_async_context(one) for one in starting))
    return Replicas({str(process.pid): (process, chat) for process, chat in started}, database)


async def asked(replicas: Replicas, peers: ResearchPeers) -> pb.StartTurnResponse:
    """A run whose second search is held."""
    _, chat = next(iter(replicas.by_pid.values()))
    turn = await chat.start("Does sleep help memory?")

    async def is_held() -> bool:
        return peers.search.calls["memory"] == 1

    await eventually(is_held, "the second search")
    return turn


async def test_a_stopped_process_finishes_the_step_in_hand_and_another_goes_on_at_once(
    database_url: str, database: Database, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    gate = peers.search.gates["memory"] = asyncio.Event()
    async with AsyncExitStack() as stack:
        replicas = await two(stack, database, database_url, nats_server, peers, **SLOWLY)
        turn = await asked(replicas, peers)
        leaving, other = await replicas.holder()
        leaving.terminate()
        gate.set()
        page = await other.finished(turn)
        assert await asyncio.wait_for(leaving.wait(), TAKEOVER_S) == 0
    assert page.state == pb.RUN_STATE_COMPLETED
    assert_told_once(page)
    assert peers.search.calls["memory"] == 1


async def test_a_stopped_process_hands_over_a_step_that_takes_too_long(
    database_url: str, database: Database, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    gate = peers.search.gates["memory"] = asyncio.Event()
    async with AsyncExitStack() as stack:
        replicas = await two(
            stack, database, database_url, nats_server, peers, drain_s=0.2, **SLOWLY
        )
        turn = await asked(replicas, peers)
        leaving, other = await replicas.holder()
        leaving.terminate()

        async def is_held_again() -> bool:
            return peers.search.calls["memory"] == 2

        await eventually(is_held_again, "the search of the other process")
        gate.set()
        page = await other.finished(turn)
    assert page.state == pb.RUN_STATE_COMPLETED
    assert_told_once(page)


async def test_a_killed_process_is_replaced_within_ten_seconds_and_without_nats(
    database_url: str, database: Database, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    gate = peers.search.gates["memory"] = asyncio.Event()
    async with AsyncExitStack() as stack:
        replicas = await two(stack, database, database_url, nats_server, peers, **AS_CONFIGURED)
        turn = await asked(replicas, peers)
        # No hint can tell anybody.
        nats_server.kill()
        dying, other = await replicas.holder()
        dying.kill()
        died_at = time.monotonic()
        gate.set()
        page = await other.finished(turn)
        assert time.monotonic() - died_at < TAKEOVER_S
        # A run that nobody is told of is found all the same.
        assert (await other.answer("hello")).markdown == "Hello."
    assert page.state == pb.RUN_STATE_COMPLETED
    assert_told_once(page)


async def test_a_process_that_reaches_nats_late_looks_for_what_it_was_not_told_of(
    database_url: str, database: Database, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    nats_server.kill()
    settings = settings_for(database_url, nats_server.url, peers, **SLOWLY)
    async with orchestrator(settings) as chat:
        # The looks at the start and after a run of its own are over then.
        await chat.answer("hello")
        target = await start_run(database)
        nats_server.start()
        turn = pb.StartTurnResponse(session_id=target.session_id, run_id=target.run_id)
        page = await chat.finished(turn)
    assert page.state == pb.RUN_STATE_COMPLETED
