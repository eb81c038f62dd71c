"""Search, rerank and synth for the chaos: `python -m tests.chaos.stages <port> <seed> <diary>`.

They are quick, and as stateless as the real ones: all that they say follows from the request. Each
search is a line in the diary, which outlives the process.
"""

import asyncio
import random
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import BinaryIO

from services.chassis.server import Context, serving
from tests.chaos import script
from tests.fakes.research_peers import (
    ScriptedSearch,
    ScriptedSynth,
    call,
    conclude,
    passage,
)
from tests.fakes.scripted_rerank import ScriptedRerank
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.rerank.v1 import rerank_pb2 as rerank
from zocrates.rerank.v1 import rerank_pb2_grpc as rerank_rpc
from zocrates.search.v1 import search_pb2 as search
from zocrates.search.v1 import search_pb2_grpc as search_rpc
from zocrates.synth.v1 import synth_pb2 as synth
from zocrates.synth.v1 import synth_pb2_grpc as synth_rpc

# Long enough that something dies in the middle of a call now and then.
LONGEST_S = 0.2
PIECES = 12


@dataclass
class Pace:
    """How long a stage thinks."""

    chance: random.Random

    async def think(self) -> None:
        """Take a moment."""
        await asyncio.sleep(self.chance.uniform(0, LONGEST_S))


def found(query: str) -> corpus.Passage:
    """The passage that a query finds."""
    one = passage(1, f"{script.finding(query)} Nothing else is known of it.")
    one.passage_id = script.passage_id(query)
    return one


@dataclass
class ChaosSearch(ScriptedSearch):
    """Finds one passage for each query."""

    pace: Pace = field(kw_only=True)
    diary: BinaryIO = field(kw_only=True)

    async def SearchCorpus(
        self, request: search.SearchCorpusRequest, context: Context
    ) -> search.SearchCorpusResponse:
        self.diary.write(f"{request.query}\n".encode())
        await self.pace.think()
        hit = search.Hit(passage=found(request.query), score=1, similarity=0.5)
        return search.SearchCorpusResponse(hits=[hit])


@dataclass
class ChaosRerank(ScriptedRerank):
    """Orders by id: the order in which parallel calls came back does not matter."""

    async def Rerank(
        self, request: rerank.RerankRequest, context: Context
    ) -> rerank.RerankResponse:
        ordered = sorted(request.candidates, key=lambda one: one.passage_id)
        del request.candidates[:]
        request.candidates.extend(ordered)
        return await super().Rerank(request, context)


@dataclass
class ChaosSynth(ScriptedSynth):
    """Searches as the script says, one turn a pass, and writes in pieces."""

    pace: Pace = field(kw_only=True)

    async def Investigate(
        self, request: synth.InvestigateRequest, context: Context
    ) -> AsyncIterator[synth.InvestigateResponse]:
        await self.pace.think()
        number = getattr(request, "pass")
        # Each earlier pass took two turns: the searches, and the conclusion.
        if len(request.transcript) == 2 * number:
            wanted = script.queries(request.question, number, request.guidance)
            calls = [call("search_corpus", query=query) for query in wanted]
        else:
            calls = [conclude(gaps=script.gaps(request.question, number))]
        for place, one in enumerate(calls):
            one.call_id = f"{number}-{place}"
        yield synth.InvestigateResponse(
            result=synth.InvestigateResult(calls=calls, model="scripted")
        )

    async def Synthesize(
        self, request: synth.SynthesizeRequest, context: Context
    ) -> AsyncIterator[synth.SynthesizeResponse]:
        result = self.answer(request)
        size = len(result.markdown) // PIECES + 1
        for start in range(0, len(result.markdown), size):
            await asyncio.sleep(LONGEST_S / PIECES)
            yield synth.SynthesizeResponse(answer_delta=result.markdown[start : start + size])
        yield synth.SynthesizeResponse(result=result)


async def serve(port: int, seed: int, diary: BinaryIO) -> None:
    """Serve until asked to stop."""
    pace = Pace(random.Random(seed))
    searches, ranker, mind = (
        ChaosSearch(pace=pace, diary=diary),
        ChaosRerank(),
        ChaosSynth(pace=pace),
    )
    services = {
        "zocrates.search.v1.SearchService": lambda server: (
            search_rpc.add_SearchServiceServicer_to_server(searches, server)
        ),
        "zocrates.rerank.v1.RerankService": lambda server: (
            rerank_rpc.add_RerankServiceServicer_to_server(ranker, server)
        ),
        "zocrates.synth.v1.SynthService": lambda server: (
            synth_rpc.add_SynthServiceServicer_to_server(mind, server)
        ),
    }
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with serving(services, port=port, drain_s=2):
        await stop.wait()


if __name__ == "__main__":
    with open(sys.argv[3], "ab", buffering=0) as diary:
        asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), diary))
