"""Deadlines of peers: silence, the whole, and what a caller hears of them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import pytest

from services.chassis.channel import open_channel
from services.chassis.errors import ServiceError
from services.orchestrator.ceilings import Ceilings, Harness
from services.orchestrator.errors import PeerRefused, PeerTimeout, PeerUnavailable
from services.orchestrator.peers.calls import Deadlines
from services.orchestrator.peers.search import SearchPeer
from services.orchestrator.peers.synth import Commission, SynthPeer
from services.orchestrator.tool_calls import Brief
from services.orchestrator.tools import SearchCorpus
from tests.fakes.research_peers import ResearchPeers, passage, research_peers

QUERY = SearchCorpus(query="q", limit=0)
LEFT = Ceilings(calls=1, words=1, passages=1)
BRIEF = Brief(question="q", items=(), scope={}, number=0, ceilings=LEFT, harness=Harness())


class Locked(ServiceError):
    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "LOCKED"


class Bug(Exception):
    """Nothing of ours."""


@pytest.fixture
async def peers() -> AsyncIterator[ResearchPeers]:
    async with research_peers() as served:
        served.search.hits = {"q": [passage(1)]}
        yield served


def deadlines(*, model_s: float = 5, silence_s: float = 5, other_s: float = 5) -> Deadlines:
    return Deadlines(model_s=model_s, silence_s=silence_s, other_s=other_s)


@asynccontextmanager
async def searching(peers: ResearchPeers, limits: Deadlines) -> AsyncIterator[SearchPeer]:
    async with open_channel(peers.target("search")) as channel:
        yield SearchPeer(channel, limits)


@asynccontextmanager
async def thinking(peers: ResearchPeers, limits: Deadlines) -> AsyncIterator[SynthPeer]:
    async with open_channel(peers.target("synth")) as channel:
        yield SynthPeer(channel, limits)


async def test_a_passage_arrives_as_it_was_sent(peers: ResearchPeers) -> None:
    async with searching(peers, deadlines()) as search:
        (hit,) = await search.search(QUERY, {})
    assert hit.similarity == 0.5
    assert hit.passage.text == passage(1).text
    assert hit.passage.page_at(0) == (3, "iv")
    assert hit.passage.document.creators == ("Ada Meyer", "Bo Chen")


async def test_a_peer_that_does_not_answer_in_time_is_named(peers: ResearchPeers) -> None:
    peers.search.gates["q"] = asyncio.Event()
    async with searching(peers, deadlines(other_s=0.3)) as search:
        with pytest.raises(PeerTimeout, match=r"search process gave no answer within 0\.3 seconds"):
            await search.search(QUERY, {})


async def test_silence_ends_a_model_call_before_its_deadline(peers: ResearchPeers) -> None:
    peers.synth.asking_gate = asyncio.Event()
    async with thinking(peers, deadlines(silence_s=0.2)) as synth:
        with pytest.raises(PeerTimeout, match=r"within 0\.2 seconds"):
            await synth.investigate(BRIEF, (), LEFT)


async def test_a_model_that_keeps_talking_is_ended_by_the_deadline(peers: ResearchPeers) -> None:
    peers.synth.writing_gate = asyncio.Event()
    async with thinking(peers, deadlines(model_s=0.3)) as synth:
        with pytest.raises(PeerTimeout):
            async for _ in synth.synthesize(Commission(question="q", evidence=())):
                pass


async def test_an_explained_refusal_keeps_its_words(peers: ResearchPeers) -> None:
    peers.search.hits["q"] = Locked("The library is locked.")
    async with searching(peers, deadlines()) as search:
        with pytest.raises(PeerRefused, match="The library is locked") as caught:
            await search.search(QUERY, {})
    assert (caught.value.code, caught.value.retryable) == ("LOCKED", False)


async def test_a_bug_of_a_peer_is_told_without_its_inside(peers: ResearchPeers) -> None:
    def broken(request: object) -> object:
        raise Bug("secret")

    peers.synth.answer = broken  # type: ignore[assignment]  # a bug in place of an answer
    async with thinking(peers, deadlines()) as synth:
        with pytest.raises(PeerRefused) as caught:
            async for _ in synth.synthesize(Commission(question="q", evidence=())):
                pass
    assert (caught.value.code, caught.value.retryable) == ("PEER_ERROR", True)
    assert "secret" not in str(caught.value)


async def test_an_absent_peer_is_waited_for_and_then_named(peers: ResearchPeers) -> None:
    await peers.stop("search")
    async with searching(peers, deadlines(other_s=3)) as search:
        with pytest.raises(PeerUnavailable, match="search process cannot be reached"):
            await search.search(QUERY, {})


async def test_a_peer_that_comes_back_in_time_is_not_noticed(peers: ResearchPeers) -> None:
    port = await peers.stop("search")
    async with searching(peers, deadlines()) as search:
        asking = asyncio.create_task(search.search(QUERY, {}))
        await peers.start("search", port)
        assert len(await asking) == 1
