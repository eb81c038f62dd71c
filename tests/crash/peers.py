"""Peers that play a question with two extensions and count what they are asked, step by step."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.chassis.server import Context
from tests.fakes.deep_question import extension
from tests.fakes.research_peers import (
    ResearchPeers,
    ScriptedSearch,
    call,
    conclude,
    passage,
    quoting,
)
from tests.fakes.scripted_rerank import ScriptedRerank
from zocrates.rerank.v1 import rerank_pb2 as rerank
from zocrates.search.v1 import search_pb2 as search
from zocrates.synth.v1 import synth_pb2 as synth

DOCUMENT = "user/ATTACH01"
# Pass 0 asks for more, pass 1 leaves a gap, pass 2 leaves another. The same for all, ids included.
SCRIPT = [
    [call("search_corpus", query="sleep"), call("get_document_toc", document_id=DOCUMENT)],
    [extension("memory", "age")],
    [
        call("search_corpus", query="memory"),
        call("read_document", document_id=DOCUMENT, section_id="s1"),
    ],
    [conclude("Sleep and memory.", ["age"])],
    [call("search_corpus", query="age")],
    [conclude("Sleep, memory and age.", ["sex"])],
]


class CountingSearch(ScriptedSearch):
    """Counts the quotes that are looked for as well."""

    async def FindQuote(
        self, request: search.FindQuoteRequest, context: Context
    ) -> search.FindQuoteResponse:
        self.calls[f"quote {request.quote}"] += 1
        return await super().FindQuote(request, context)


class CountingRerank(ScriptedRerank):
    """Counts judgements as well."""

    judgements = 0

    async def ScoreSupport(
        self, request: rerank.ScoreSupportRequest, context: Context
    ) -> rerank.ScoreSupportResponse:
        self.judgements += 1
        return await super().ScoreSupport(request, context)


CLAIM, MENDED = "Sleep is said to help.", "Sleep helped in a study."


def answer(request: synth.SynthesizeRequest) -> synth.SynthesizeResult:
    """Quotes, and one sentence in the writer's own words, which has to be judged."""
    result = quoting(request)
    result.citations[0].statement = CLAIM
    return result


def mended(request: synth.RepairRequest) -> synth.RepairResult:
    """The same with other words for that sentence."""
    result = synth.RepairResult(
        markdown=request.markdown,
        citations=request.citations,
        rewritten_sentences=1,
        usage=synth.TokenUsage(input_tokens=3, output_tokens=1),
        model="scripted",
    )
    result.citations[0].statement = MENDED
    return result


@asynccontextmanager
async def counted_peers() -> AsyncIterator[ResearchPeers]:
    """Peers that play the script and are counted."""
    peers = ResearchPeers()
    peers.search, peers.rerank = CountingSearch(), CountingRerank()
    peers.search.hits = {
        "sleep": [passage(1), passage(2)],
        "memory": [passage(2), passage(3)],
        "age": [passage(4)],
        DOCUMENT: [passage(5)],
    }
    peers.synth.answer, peers.synth.mend = answer, mended
    peers.rerank.unsupported = frozenset({CLAIM})
    peers.synth.script = SCRIPT
    try:
        for name in ("search", "rerank", "synth"):
            await peers.start(name)
        yield peers
    finally:
        await peers.close()


def calls_by_step(peers: ResearchPeers) -> Counter[str]:
    """How often each step's call was made since the counts were cleared."""
    steps = Counter(f"search {name}" for name in peers.search.calls.elements())
    steps.update("converse" for _ in peers.synth.conversations)
    steps.update(f"plan after {len(one.rounds)}" for one in peers.synth.plans)
    steps.update(
        f"investigate pass_{getattr(one, 'pass')}/turn_{len(one.transcript) + 1}"
        for one in peers.synth.investigations
    )
    steps.update("synthesize" for _ in peers.synth.syntheses)
    steps.update("repair" for _ in peers.synth.repairs)
    steps.update("rerank" for _ in peers.rerank.requests)
    assert isinstance(peers.rerank, CountingRerank)
    steps["judge"] += peers.rerank.judgements
    return steps


def clear_counts(peers: ResearchPeers) -> None:
    """Count from nothing again."""
    peers.search.calls.clear()
    for asked in (
        peers.synth.conversations,
        peers.synth.plans,
        peers.synth.investigations,
        peers.synth.syntheses,
        peers.synth.repairs,
    ):
        asked.clear()
    peers.rerank.requests.clear()
    assert isinstance(peers.rerank, CountingRerank)
    peers.rerank.judgements = 0
