"""Search, rerank and synth that answer at once: `python -m tests.bench.turn_stages`.

A process of its own, as cheap as real gRPC allows: replies are made and serialised beforehand. It
writes its port as one line, and at its end when each extension pass and each rerank was begun.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

import grpc

from services.chassis.server import new_event_loop
from tests.bench import turn_script
from zocrates.rerank.v1 import rerank_pb2 as rerank
from zocrates.search.v1 import encoder_pb2
from zocrates.search.v1 import search_pb2 as search
from zocrates.synth.v1 import synth_pb2 as synth

TOGETHER = "together"


class Stages:
    """The replies, and when a question came to a stage first."""

    def __init__(self, *, together: bool) -> None:
        script = turn_script.script()
        self.begun: dict[str, float] = {}
        self._results = {
            f"aspect {place}": result.SerializeToString()
            for place, result in enumerate(script.results)
        }
        self._moves = {
            (number, taken): _result_of(turn_script.move(number, taken, together=together))
            for number, steps in enumerate(turn_script.PASSES)
            for taken in range(steps + 1)
        }
        drafted = synth.DraftPlanResult(
            message="1. Look for it.\n2. Look for what speaks against it.",
            intent=synth.PLAN_INTENT_READY,
            usage=synth.TokenUsage(input_tokens=400, output_tokens=60),
            model="scripted",
        )
        self._plan = synth.DraftPlanResponse(result=drafted).SerializeToString()
        self._writing = [
            *(synth.SynthesizeResponse(answer_delta=delta) for delta in script.deltas),
            synth.SynthesizeResponse(result=script.answer),
        ]
        self._written = [one.SerializeToString() for one in self._writing]
        self._taken = dict.fromkeys(range(len(turn_script.PASSES)), 0)
        self._turns = [1 if together else steps for steps in turn_script.PASSES]

    async def converse(self, request: synth.ConverseRequest, context: Any) -> AsyncIterator[bytes]:
        """The prompt is the question."""
        yield synth.ConverseResponse(
            result=synth.ConverseResult(
                research=synth.ResearchRequest(question=request.prompt),
                usage=synth.TokenUsage(input_tokens=300, output_tokens=20),
                model="scripted",
            )
        ).SerializeToString()

    async def draft_plan(self, request: bytes, context: Any) -> AsyncIterator[bytes]:
        """A plan."""
        yield self._plan

    async def investigate(
        self, request: synth.InvestigateRequest, context: Any
    ) -> AsyncIterator[bytes]:
        """The next move of the pass; the transcript tells which."""
        number = getattr(request, "pass")
        earlier = sum(turns + 1 for turns in self._turns[:number])
        taken = len(request.transcript) - earlier
        if number and not taken:
            self.begun[f"{request.question} {number}"] = time.monotonic()
        yield self._moves[number, taken]

    async def synthesize(self, request: bytes, context: Any) -> AsyncIterator[bytes]:
        """The answer in its pieces."""
        for piece in self._written:
            yield piece

    async def search_corpus(self, request: search.SearchCorpusRequest, context: Any) -> bytes:
        """The passages of a tool step."""
        return self._results[request.query]

    async def describe_encoder(self, request: bytes, context: Any) -> bytes:
        """An encoder of one language."""
        return encoder_pb2.DescribeEncoderResponse(encoder_id="scripted").SerializeToString()

    async def find_quote(self, request: search.FindQuoteRequest, context: Any) -> bytes:
        """The quote where it stands."""
        reply = search.FindQuoteResponse()
        for one in request.text.passages:
            start = one.text.find(request.quote)
            reply.matches.add(
                passage_id=one.passage_id,
                kind=search.QUOTE_MATCH_KIND_EXACT,
                page_index=one.page_spans[0].page_index,
                page_label=one.page_spans[0].page_label,
                start=start,
                end=start + len(request.quote),
                text=request.quote,
            )
        return reply.SerializeToString()

    async def rank(self, request: rerank.RerankRequest, context: Any) -> bytes:
        """The candidates in their order."""
        self.begun[f"{request.query} {len(self._turns)}"] = time.monotonic()
        kept = request.candidates[: request.max_passages]
        return rerank.RerankResponse(
            kept=[rerank.RankedPassage(passage_id=one.passage_id, score=0.5) for one in kept],
            considered=len(request.candidates),
            words_kept=sum(one.words for one in kept),
            scorer=rerank.Scorer(model="scripted", calibrated=True),
        ).SerializeToString()


def _result_of(calls: list[synth.ToolCall]) -> bytes:
    result = synth.InvestigateResult(calls=calls, model="scripted")
    return synth.InvestigateResponse(result=result).SerializeToString()


def handlers(stages: Stages) -> list[grpc.GenericRpcHandler]:
    """The rpcs that a turn calls; replies are bytes already."""
    streams: dict[str, tuple[Any, Any]] = {
        "Converse": (stages.converse, synth.ConverseRequest.FromString),
        "DraftPlan": (stages.draft_plan, None),
        "Investigate": (stages.investigate, synth.InvestigateRequest.FromString),
        "Synthesize": (stages.synthesize, None),
    }
    one_reply: dict[str, dict[str, tuple[Any, Any]]] = {
        "zocrates.search.v1.SearchService": {
            "SearchCorpus": (stages.search_corpus, search.SearchCorpusRequest.FromString),
            "DescribeEncoder": (stages.describe_encoder, None),
            "FindQuote": (stages.find_quote, search.FindQuoteRequest.FromString),
        },
        "zocrates.rerank.v1.RerankService": {
            "Rerank": (stages.rank, rerank.RerankRequest.FromString),
        },
    }
    return [
        grpc.method_handlers_generic_handler(
            "zocrates.synth.v1.SynthService",
            {
                name: grpc.unary_stream_rpc_method_handler(call, request_deserializer=read)
                for name, (call, read) in streams.items()
            },
        ),
        *(
            grpc.method_handlers_generic_handler(
                service,
                {
                    name: grpc.unary_unary_rpc_method_handler(call, request_deserializer=read)
                    for name, (call, read) in calls.items()
                },
            )
            for service, calls in one_reply.items()
        ),
    ]


async def serve() -> None:
    """Serve until standard input ends, then print the times."""
    stages = Stages(together=TOGETHER in sys.argv[1:])
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", 64 * 1024**2)])
    server.add_generic_rpc_handlers(handlers(stages))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    print(json.dumps(stages.begun), flush=True)
    await server.stop(0)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(serve())
