"""The tokens of a run are a ceiling like the others, and the answer gets what is kept back."""

from collections.abc import AsyncIterator

import pytest

from services.orchestrator.ceilings import Harness
from services.orchestrator.settings import Settings
from tests.fakes.research_peers import ResearchPeers, call, conclude, passage, research_peers
from tests.integration.orchestrator_stage import Chat, orchestrator
from zocrates.orchestrator.v1 import chat_pb2 as pb

HARNESS = Harness(hard_token_ceiling=60_000, token_increment=30_000)


@pytest.fixture
async def peers() -> AsyncIterator[ResearchPeers]:
    async with research_peers() as served:
        served.search.hits = {"sleep": [passage(1)], "age": [passage(2)]}
        # A talkative agent: each of its moves takes a third of what there is.
        served.synth.move_tokens = 20_000
        served.synth.script = [
            [call("search_corpus", query="sleep")],
            [call("search_corpus", query="nothing on sex")],
            [call("search_corpus", query="age")],
            [conclude()],
        ]
        yield served


@pytest.fixture
async def chat(settings: Settings) -> AsyncIterator[Chat]:
    async with orchestrator(settings, HARNESS) as caller:
        yield caller


async def test_a_search_that_used_its_tokens_ends_with_a_report_and_a_checkpoint(
    chat: Chat, peers: ResearchPeers
) -> None:
    turn = await chat.start("Does sleep help memory?")
    asked = await chat.waiting(turn)
    page = await chat.page(turn)
    assert len(peers.synth.investigations) == 2
    (report,) = [event.report for event in page.events if event.HasField("report")]
    assert report.automatic
    assert "tokens" in report.reason
    assert list(report.gaps) == ["nothing on sex"]
    budget = asked.budget
    assert budget.used.tokens == 40_000 + 5
    assert (budget.limits.tokens, budget.next_limits.tokens) == (60_000, 90_000)


async def test_an_extension_grants_more_tokens_and_the_answer_gets_its_part(
    chat: Chat, peers: ResearchPeers
) -> None:
    turn = await chat.start("Does sleep help memory?")
    await chat.waiting(turn)
    await chat.decide(turn)
    page = await chat.finished(turn)
    assert page.state == pb.RUN_STATE_COMPLETED
    assert len(peers.synth.investigations) == 4
    assert len(peers.synth.syntheses) == 1
    assert page.events[-1].answer.answered


async def test_the_ceiling_is_told_when_the_run_begins(chat: Chat) -> None:
    turn = await chat.start("Does sleep help memory?")
    await chat.waiting(turn)
    page = await chat.page(turn)
    assert page.events[0].run_started.ceilings.tokens == 60_000


async def test_without_a_ceiling_nothing_is_counted_against(
    settings: Settings, peers: ResearchPeers
) -> None:
    peers.synth.move_tokens = 900_000
    async with orchestrator(settings, Harness(hard_token_ceiling=0)) as chat:
        await chat.answer("Does sleep help memory?")
    assert len(peers.synth.investigations) == 4
