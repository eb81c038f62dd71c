"""An orchestrator that dies around a checkpoint: same answer, every step once, one decision."""

import asyncio
import time
from dataclasses import replace

import grpc
import pytest
from sqlalchemy import text

from services.chassis.errors import ServiceError
from services.orchestrator.errors import Stale
from services.orchestrator.run import Lease
from services.orchestrator.store.database import Database
from services.orchestrator.store.history import History
from tests.fakes.deep_question import QUERIES, QUESTION
from tests.fakes.research_peers import ResearchPeers
from tests.integration.orchestrator_stage import (
    EXTEND,
    SYNTHESIZE,
    Chat,
    assert_told_once,
    eventually,
    orchestrator,
    orchestrator_process,
    settings_for,
)
from tests.integration.waiting_runs import asking
from tests.servers import NatsServer
from zocrates.orchestrator.v1 import chat_pb2 as pb

TAKEOVER_S = 10


class Broken(ServiceError):
    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "BROKEN"


async def finish_second_extension(chat: Chat, turn: pb.StartTurnResponse) -> pb.ListEventsResponse:
    await chat.waiting(turn, "interrupt_ext_2")
    await chat.decide(turn, EXTEND, "interrupt_ext_2")
    return await chat.finished(turn)


def assert_whole(page: pb.ListEventsResponse, peers: ResearchPeers, *, lost: int = 0) -> None:
    """The run ended as one that nothing happened to; a lost reply costs one more call."""
    assert page.state == pb.RUN_STATE_COMPLETED
    assert_told_once(page)
    answer = page.events[-1].answer
    assert (answer.usage.calls, answer.usage.passages) == (3, 4)
    assert [one.quote for one in answer.citations] == [
        f"Finding {number} is clear." for number in (1, 4, 2, 3)
    ]
    assert sum(peers.search.calls[query] for query in QUERIES) <= 3 + lost
    assert len(peers.synth.investigations) <= 6 + lost
    guidance = {
        getattr(one, "pass"): one.guidance for one in peers.synth.investigations if one.guidance
    }
    assert guidance == {1: "Naps."}


async def test_a_death_in_an_extension_is_taken_over_in_time_by_the_other_replica(
    database_url: str, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    gate = asyncio.Event()
    peers.search.gates["memory"] = gate
    async with orchestrator_process(database_url, nats_server.url, peers) as (first, chat):
        turn = await chat.start(QUESTION)
        await chat.waiting(turn)
        await chat.decide(turn, EXTEND, guidance="Naps.")

        async def is_searching() -> bool:
            return peers.search.calls["memory"] == 1

        await eventually(is_searching, "the extension's search")
        async with orchestrator_process(database_url, nats_server.url, peers) as (_, other):
            first.kill()
            await first.wait()
            died = time.monotonic()
            gate.set()
            await other.waiting(turn, "interrupt_ext_2")
            assert time.monotonic() - died < TAKEOVER_S
            page = await finish_second_extension(other, turn)
    assert_whole(page, peers, lost=1)


async def test_a_failure_in_an_extension_keeps_the_decision_for_the_retry(
    database_url: str, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    async with orchestrator(settings_for(database_url, nats_server.url, peers)) as chat:
        turn = await chat.start(QUESTION)
        await chat.waiting(turn)
        peers.synth.errors["Investigate"] = [Broken("The model is out of credit.")]
        await chat.decide(turn, EXTEND, guidance="Naps.")
        failed = await chat.finished(turn)
        assert failed.state == pb.RUN_STATE_FAILED
        assert failed.events[-1].error.code == "BROKEN"
        after = await chat.retry(turn)
        assert after == failed.last_sequence
        page = await finish_second_extension(chat, turn)
    assert_whole(page, peers, lost=1)


async def test_the_late_write_of_a_holder_that_was_replaced_asks_nothing(
    database_url: str, database: Database, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    async with orchestrator(settings_for(database_url, nats_server.url, peers)) as chat:
        turn = await chat.start(QUESTION)
        await chat.waiting(turn)
        await chat.decide(turn, SYNTHESIZE)
        page = await chat.finished(turn)
        (row,) = await database.fetch(text("SELECT lease_epoch FROM run"))
        stale = Lease(run_id=turn.run_id, epoch=row.lease_epoch - 1)
        with pytest.raises(Stale):
            await History(database).record(stale, asking(version=2))
        assert (await chat.page(turn)) == page
    (row,) = await database.fetch(text("SELECT state, version FROM checkpoint"))
    assert (row.state, row.version) == ("ANSWERED", 1)


async def test_a_reply_that_was_lost_leaves_one_question(
    database: Database, database_url: str, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    async with orchestrator(settings_for(database_url, nats_server.url, peers)) as chat:
        turn = await chat.start(QUESTION)
        await chat.waiting(turn)
        page = await chat.page(turn)
        (row,) = await database.fetch(text("SELECT lease_epoch FROM run"))
        lease = Lease(run_id=turn.run_id, epoch=row.lease_epoch)
        recorded = (await History(database).load(turn.run_id)).steps["pass_0/report"]
        again = replace(asking(), step=recorded)
        written = await History(database).record(lease, again)
        assert written.last_sequence == page.last_sequence
        assert await chat.page(turn) == page
