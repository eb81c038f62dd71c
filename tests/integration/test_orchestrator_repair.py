"""What nothing supports is mended once, or left out where a strategy wants that."""

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest

from services.chassis.errors import ServiceError
from services.orchestrator.ceilings import Harness
from services.orchestrator.settings import Settings
from tests.fakes.research_peers import (
    ResearchPeers,
    call,
    conclude,
    passage,
    quoting,
    research_peers,
)
from tests.integration.orchestrator_stage import Chat, eventually, orchestrator, settings_for
from tests.servers import NatsServer
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2 as pb
from zocrates.synth.v1 import synth_pb2 as synth

CLAIM, MENDED = "Sleep cures everything.", "Sleep improves memory."


class Broken(ServiceError):
    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "MODEL_REFUSED"


def claiming(request: synth.SynthesizeRequest) -> synth.SynthesizeResult:
    result = quoting(request)
    result.citations[0].statement = CLAIM
    return result


def mending(request: synth.RepairRequest) -> synth.RepairResult:
    """The claim in other words; dropped if it is to be."""
    citations = list(request.citations)
    if request.drop_only:
        citations = [one for one in citations if one.statement not in (CLAIM, MENDED)]
    else:
        citations[0].statement = MENDED
    markdown = " ".join(f"{one.statement} [{one.number}]" for one in citations)
    return synth.RepairResult(
        markdown=markdown,
        citations=citations,
        usage=synth.TokenUsage(input_tokens=20, output_tokens=4),
        model="scripted",
    )


@pytest.fixture
async def peers() -> AsyncIterator[ResearchPeers]:
    async with research_peers() as served:
        served.search.hits = {"sleep": [passage(1), passage(2)]}
        served.synth.script = [[call("search_corpus", query="sleep")], [conclude()]]
        served.synth.answer, served.synth.mend = claiming, mending
        served.rerank.unsupported = frozenset({CLAIM})
        yield served


async def test_an_unsupported_sentence_is_mended_and_judged_again(
    chat: Chat, peers: ResearchPeers
) -> None:
    answer = await chat.answer("Does sleep help memory?")
    (request,) = peers.synth.repairs
    assert (list(request.unsupported), request.drop_only) == ([1], False)
    assert [one.passage.passage_id for one in request.evidence] == [passage(1).passage_id]
    assert answer.citations[0].statement == MENDED
    assert answer.support.unsupported == 0
    assert answer.support.weak == 1
    # Those of the coordinator, the writer and the repair.
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (30, 11)


async def test_a_sentence_that_stays_unsupported_is_not_mended_again(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.rerank.unsupported = frozenset({CLAIM, MENDED})
    answer = await chat.answer("Does sleep help memory?")
    assert len(peers.synth.repairs) == 1
    assert answer.support.unsupported == 1


async def test_a_repair_that_fails_leaves_the_answer_and_its_marks(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.synth.errors["Repair"] = [Broken("The provider refused the request.")]
    answer = await chat.answer("Does sleep help memory?")
    assert answer.citations[0].statement == CLAIM
    assert answer.support.unsupported == 1


async def test_without_an_unsupported_sentence_nothing_is_asked(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.synth.answer = quoting
    await chat.answer("Does sleep help memory?")
    assert not peers.synth.repairs


async def test_an_academic_answer_drops_what_stays_unsupported(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.rerank.unsupported = frozenset({CLAIM, MENDED})
    options = {"strategy": event_pb2.STRATEGY_ACADEMIC}
    answer = await chat.answer("Does sleep help memory?", options=options)
    assert [request.drop_only for request in peers.synth.repairs] == [False, True]
    assert answer.support.unsupported == 0
    assert MENDED not in answer.markdown
    assert answer.answered


async def test_an_academic_answer_of_nothing_else_does_not_answer(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.search.hits = {"sleep": [passage(1)]}
    peers.rerank.unsupported = frozenset({CLAIM, MENDED})
    options = {"strategy": event_pb2.STRATEGY_ACADEMIC}
    answer = await chat.answer("Does sleep help memory?", options=options)
    assert not answer.citations
    assert not answer.answered


async def test_a_quick_answer_is_neither_judged_nor_mended(
    chat: Chat, peers: ResearchPeers
) -> None:
    options = {"strategy": event_pb2.STRATEGY_QUICK}
    answer = await chat.answer("Does sleep help memory?", options=options)
    assert not peers.rerank.pairs
    assert not peers.synth.repairs
    assert answer.support.unchecked == 1
    assert answer.citations[0].judged_by == "nobody: a quick answer is not checked"


async def test_a_holder_that_dies_behind_the_repair_does_not_make_it_again(
    database_url: str, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    gate = asyncio.Event()
    settings = settings_for(database_url, nats_server.url, peers, drain_s=0.2)
    peers.rerank.gates[MENDED] = gate
    async with orchestrator(settings) as chat:
        turn = await chat.start("Does sleep help memory?")

        async def is_judged_again() -> bool:
            return any(claim == MENDED for claim, _ in peers.rerank.pairs)

        await eventually(is_judged_again, "the second look at the sentence")
    gate.set()
    async with orchestrator(settings_for(database_url, nats_server.url, peers)) as chat:
        page = await chat.finished(turn)
    assert page.state == pb.RUN_STATE_COMPLETED
    assert len(peers.synth.repairs) == 1
    assert page.events[-1].answer.citations[0].statement == MENDED


@pytest.mark.parametrize(("move_tokens", "repairs"), [(0, 1), (50_000, 0)])
async def test_a_repair_is_made_only_with_tokens_left(
    settings: Settings, peers: ResearchPeers, move_tokens: int, repairs: int
) -> None:
    peers.synth.move_tokens = move_tokens
    async with orchestrator(settings, Harness(hard_token_ceiling=40_000)) as chat:
        await chat.answer("Does sleep help memory?")
    assert len(peers.synth.repairs) == repairs
