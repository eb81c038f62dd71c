"""Strategies: how far a run goes by itself, and what is told of it."""

import asyncio

import pytest

from tests.fakes.deep_question import QUERIES, QUESTION
from tests.fakes.research_peers import ResearchPeers
from tests.integration.orchestrator_stage import (
    Chat,
    assert_told_once,
    eventually,
    kinds,
    orchestrator,
    settings_for,
)
from tests.servers import NatsServer
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2 as pb

EXTENDED = event_pb2.DECISION_ACTION_EXTEND_BUDGET


def options(strategy: event_pb2.Strategy.ValueType) -> pb.TurnOptions:
    return pb.TurnOptions(strategy=strategy)


def decisions(page: pb.ListEventsResponse) -> list[tuple[str, int, str]]:
    told = [one.checkpoint_answered for one in page.events if one.HasField("checkpoint_answered")]
    return [(one.interrupt_id, one.action, one.answered_by) for one in told]


@pytest.mark.parametrize(
    "strategy", [event_pb2.STRATEGY_DEEP, event_pb2.STRATEGY_ACADEMIC], ids=["deep", "academic"]
)
async def test_a_deep_run_extends_itself_and_asks_nobody(
    chat: Chat, peers: ResearchPeers, strategy: event_pb2.Strategy.ValueType
) -> None:
    turn = await chat.start(QUESTION, options=options(strategy))
    page = await chat.finished(turn)
    assert page.state == pb.RUN_STATE_COMPLETED
    assert_told_once(page)
    assert decisions(page) == [
        ("interrupt_ext_1", EXTENDED, "strategy"),
        ("interrupt_ext_2", EXTENDED, "strategy"),
    ]
    assert "request_input" not in kinds(page)
    passes = [
        getattr(one.stage, "pass")
        for one in page.events
        if one.stage.stage == event_pb2.STAGE_SEARCH
    ]
    assert passes == [0, 1, 2]
    assert page.events[0].run_started.options.strategy == strategy
    assert [peers.search.calls[query] for query in QUERIES] == [1, 1, 1]
    # Each pass had the ceilings of its extension.
    assert [one.left.calls for one in peers.synth.investigations] == [10, 9, 14, 13, 18, 17]


async def test_a_quick_run_has_half_the_ceilings_never_asks_and_judges_nothing(
    chat: Chat, peers: ResearchPeers
) -> None:
    turn = await chat.start(QUESTION, options=options(event_pb2.STRATEGY_QUICK))
    page = await chat.finished(turn)
    assert page.state == pb.RUN_STATE_COMPLETED
    started = page.events[0].run_started
    assert (started.ceilings.calls, started.ceilings.words, started.ceilings.passages) == (
        5,
        3_750,
        8,
    )
    assert decisions(page) == []
    assert not peers.rerank.pairs
    # What the pass left open is told with the answer.
    assert list(page.events[-1].answer.gaps) == ["memory", "age"]


async def test_a_deep_run_goes_on_in_its_pass_after_a_handover(
    database_url: str, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    peers.search.gates["memory"] = asyncio.Event()
    leaving = settings_for(database_url, nats_server.url, peers, drain_s=0.05)
    async with orchestrator(leaving) as chat:
        turn = await chat.start(QUESTION, options=options(event_pb2.STRATEGY_DEEP))

        async def is_extended() -> bool:
            return peers.search.calls["memory"] == 1

        await eventually(is_extended, "the search of the first extension")
    peers.search.gates["memory"].set()
    async with orchestrator(settings_for(database_url, nats_server.url, peers)) as chat:
        page = await chat.finished(turn)
    assert page.state == pb.RUN_STATE_COMPLETED
    assert_told_once(page)
    assert len(decisions(page)) == 2
