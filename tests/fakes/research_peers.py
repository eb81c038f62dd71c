"""Search, rerank and synth as scripted servicers on real gRPC, for tests of the orchestrator."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc

from services.chassis.errors import ServiceError
from services.chassis.server import Context, serving
from tests.fakes.scripted_rerank import ScriptedRerank
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.rerank.v1 import rerank_pb2_grpc as rerank_rpc
from zocrates.search.v1 import encoder_pb2
from zocrates.search.v1 import search_pb2 as search
from zocrates.search.v1 import search_pb2_grpc as search_rpc
from zocrates.synth.v1 import synth_pb2 as synth
from zocrates.synth.v1 import synth_pb2_grpc as synth_rpc

Move = Sequence[synth.ToolCall]


class UnknownDocument(ServiceError):
    """What the real search says of a document that it does not have."""

    code, reason = grpc.StatusCode.NOT_FOUND, "UNKNOWN_DOCUMENT"


def call(tool: str, **arguments: object) -> synth.ToolCall:
    """A well-formed tool call."""
    return synth.ToolCall(call_id=f"c{id(arguments)}", tool=tool, arguments=json.dumps(arguments))


def conclude(summary: str = "Covered.", gaps: Sequence[str] = ()) -> synth.ToolCall:
    """The call that ends a pass."""
    return call("conclude_search", summary=summary, gaps=list(gaps))


def passage(number: int, text: str = "", *, library: str = "user") -> corpus.Passage:
    """A passage on two pages, the second from its middle on."""
    text = text or f"Finding {number} is clear. Sleep improves memory in study {number}."
    middle = len(text) // 2
    return corpus.Passage(
        passage_id=f"{number:032x}",
        document=corpus.Document(
            document_id=f"{library}/ATTACH{number:02}",
            item=corpus.ItemRef(library=library, key=f"ITEM{number:04}"),
            attachment_key=f"ATTACH{number:02}",
            title=f"Sleep study {number}",
            creators=["Ada Meyer", "Bo Chen"],
            year="2019",
            kind=corpus.DOCUMENT_KIND_PDF,
            reading_state=corpus.READING_STATE_FULL,
            page_count=9,
        ),
        section_path=["Results"],
        text=text,
        page_spans=[
            corpus.PageSpan(start=0, end=middle, page_index=3, page_label="iv"),
            corpus.PageSpan(start=middle, end=len(text), page_index=4, page_label="v"),
        ],
    )


@dataclass
class ScriptedSearch(search_rpc.SearchServiceServicer):
    """Answers queries from a table; a table entry may be an error to raise."""

    hits: dict[str, Sequence[corpus.Passage] | ServiceError] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    # Awaited before a query is answered, for tests that hold a call.
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    # Scopes of the searches, in order.
    scopes: list[corpus.Scope] = field(default_factory=list)
    find_error: ServiceError | None = None
    bridged: Sequence[str] = ()

    async def DescribeEncoder(
        self, request: encoder_pb2.DescribeEncoderRequest, context: Context
    ) -> encoder_pb2.DescribeEncoderResponse:
        return encoder_pb2.DescribeEncoderResponse(
            encoder_id="scripted", bridged_languages=self.bridged
        )

    async def SearchCorpus(
        self, request: search.SearchCorpusRequest, context: Context
    ) -> search.SearchCorpusResponse:
        self.calls[request.query] += 1
        self.scopes.append(request.scope)
        if (gate := self.gates.get(request.query)) is not None:
            await gate.wait()
        hits = self.hits.get(request.query, ())
        if isinstance(hits, ServiceError):
            raise hits
        return search.SearchCorpusResponse(
            hits=[search.Hit(passage=one, score=1, similarity=0.5) for one in hits]
        )

    async def GetDocumentToc(
        self, request: search.GetDocumentTocRequest, context: Context
    ) -> search.GetDocumentTocResponse:
        self.calls[f"toc {request.document_id}"] += 1
        entry = search.TocEntry(section_id="s1", title="Results of the study", level=1)
        return search.GetDocumentTocResponse(entries=[entry])

    async def ReadDocument(
        self, request: search.ReadDocumentRequest, context: Context
    ) -> search.ReadDocumentResponse:
        self.calls[f"read {request.document_id}"] += 1
        found = self.hits.get(request.document_id)
        if found is None:
            raise UnknownDocument(f"There is no document {request.document_id!r}.")
        assert not isinstance(found, ServiceError)
        return search.ReadDocumentResponse(passages=found)

    async def FindQuote(
        self, request: search.FindQuoteRequest, context: Context
    ) -> search.FindQuoteResponse:
        if self.find_error is not None:
            raise self.find_error
        reply = search.FindQuoteResponse()
        for one in request.text.passages:
            start = one.text.find(request.quote)
            if start < 0:
                continue
            span = next(span for span in one.page_spans if span.start <= start < span.end)
            reply.matches.add(
                passage_id=one.passage_id,
                kind=search.QUOTE_MATCH_KIND_EXACT,
                page_index=span.page_index,
                page_label=span.page_label,
                start=start,
                end=start + len(request.quote),
                text=request.quote,
            )
        return reply


def quoting(request: synth.SynthesizeRequest) -> synth.SynthesizeResult:
    """An answer that quotes the first sentence of each passage."""
    lines, citations = [], []
    for number, one in enumerate(request.evidence, start=1):
        quote = one.passage.text.split(". ")[0] + "."
        statement = f"Ada Meyer and Bo Chen (2019) report: “{quote}”"
        lines.append(f"{statement} [{number}]")
        citations.append(
            synth.DraftCitation(
                number=number,
                passage_id=one.passage.passage_id,
                quote=quote,
                statement=statement,
            )
        )
    return synth.SynthesizeResult(
        markdown="\n\n".join(lines) or "The library does not answer this.",
        citations=citations,
        gaps=request.gaps,
        answered=bool(lines),
        usage=synth.TokenUsage(input_tokens=7, output_tokens=5),
        model="scripted",
    )


def unmended(request: synth.RepairRequest) -> synth.RepairResult:
    """The answer as it was, or without what is to be dropped."""
    if request.drop_only:
        return synth.RepairResult(dropped_sentences=1, model="scripted")
    return synth.RepairResult(
        markdown=request.markdown, citations=request.citations, model="scripted"
    )


@dataclass
class ScriptedSynth(synth_rpc.SynthServiceServicer):
    """Plays one move a turn; a turn beyond the script concludes. Stateless, as the real one."""

    script: Sequence[Move] = ()
    answer: Callable[[synth.SynthesizeRequest], synth.SynthesizeResult] = quoting
    mend: Callable[[synth.RepairRequest], synth.RepairResult] = unmended
    # Tokens of each move of the search agent.
    move_tokens: int = 0
    # Errors for the next calls of an rpc, first come first served.
    errors: dict[str, list[ServiceError]] = field(default_factory=dict)
    # Held after the first delta until set.
    writing_gate: asyncio.Event | None = None
    asking_gate: asyncio.Event | None = None
    planning_gate: asyncio.Event | None = None
    # How many calls were ended by their caller while they were held.
    cancelled: int = 0
    conversations: list[synth.ConverseRequest] = field(default_factory=list)
    plans: list[synth.DraftPlanRequest] = field(default_factory=list)
    investigations: list[synth.InvestigateRequest] = field(default_factory=list)
    syntheses: list[synth.SynthesizeRequest] = field(default_factory=list)
    repairs: list[synth.RepairRequest] = field(default_factory=list)

    async def Converse(
        self, request: synth.ConverseRequest, context: Context
    ) -> AsyncIterator[synth.ConverseResponse]:
        self.conversations.append(request)
        self._raise_next("Converse")
        result = synth.ConverseResult(
            model="scripted", usage=synth.TokenUsage(input_tokens=3, output_tokens=2)
        )
        if request.prompt == "hello":
            result.answer.markdown = "Hello."
        else:
            result.research.question = request.prompt
            result.research.active_items.extend(request.active_items)
        yield synth.ConverseResponse(thought="Considering.")
        yield synth.ConverseResponse(result=result)

    async def DraftPlan(
        self, request: synth.DraftPlanRequest, context: Context
    ) -> AsyncIterator[synth.DraftPlanResponse]:
        self.plans.append(request)
        self._raise_next("DraftPlan")
        if self.planning_gate is not None:
            await self.planning_gate.wait()
        # A comment, or without any the question, that ends so is asked back.
        said = request.rounds[-1].message if request.rounds else request.question
        asks = said.endswith("Hm?") and not request.definitive
        number = 1 + sum(one.author == synth.PLAN_AUTHOR_PERSON for one in request.rounds)
        yield synth.DraftPlanResponse(
            result=synth.DraftPlanResult(
                message=f"Which one? ({number})" if asks else f"1. Look for it. (plan {number})",
                intent=synth.PLAN_INTENT_FEEDBACK if asks else synth.PLAN_INTENT_READY,
                usage=synth.TokenUsage(input_tokens=11, output_tokens=13),
                model="scripted",
            )
        )

    async def Investigate(
        self, request: synth.InvestigateRequest, context: Context
    ) -> AsyncIterator[synth.InvestigateResponse]:
        self.investigations.append(request)
        self._raise_next("Investigate")
        if self.asking_gate is not None:
            try:
                await self.asking_gate.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        turn = len(request.transcript)
        calls = self.script[turn] if turn < len(self.script) else [conclude()]
        yield synth.InvestigateResponse(
            result=synth.InvestigateResult(
                calls=calls,
                model="scripted",
                usage=synth.TokenUsage(input_tokens=self.move_tokens),
            )
        )

    async def Synthesize(
        self, request: synth.SynthesizeRequest, context: Context
    ) -> AsyncIterator[synth.SynthesizeResponse]:
        self.syntheses.append(request)
        result = self.answer(request)
        half = len(result.markdown) // 2
        yield synth.SynthesizeResponse(answer_delta=result.markdown[:half])
        self._raise_next("Synthesize")
        if self.writing_gate is not None:
            await self.writing_gate.wait()
        yield synth.SynthesizeResponse(answer_delta=result.markdown[half:])
        yield synth.SynthesizeResponse(result=result)

    async def Repair(
        self, request: synth.RepairRequest, context: Context
    ) -> AsyncIterator[synth.RepairResponse]:
        self.repairs.append(request)
        self._raise_next("Repair")
        yield synth.RepairResponse(result=self.mend(request))

    async def DescribeMinds(
        self, request: synth.DescribeMindsRequest, context: Context
    ) -> synth.DescribeMindsResponse:
        return synth.DescribeMindsResponse(
            coordinator="scripted", search_agent="scripted", writer="scripted"
        )

    def _raise_next(self, rpc: str) -> None:
        if pending := self.errors.get(rpc):
            raise pending.pop(0)


class ResearchPeers:
    """The three scripts and where they are served; each can be stopped and started again."""

    def __init__(self) -> None:
        self.search = ScriptedSearch()
        self.rerank = ScriptedRerank()
        self.synth = ScriptedSynth()
        self.ports: dict[str, int] = {}
        self._serving: dict[str, AsyncExitStack] = {}

    def target(self, name: str) -> str:
        """Where a peer listens, or listened."""
        return f"127.0.0.1:{self.ports[name]}"

    async def start(self, name: str, port: int = 0) -> None:
        """Serve a peer."""
        stack = AsyncExitStack()
        running = await stack.enter_async_context(
            serving(self._services(name), port=port, drain_s=0)
        )
        self.ports[name] = running.port
        self._serving[name] = stack

    async def stop(self, name: str) -> int:
        """Stop a peer at once, breaking its calls; returns the port it had."""
        await self._serving.pop(name).aclose()
        return self.ports[name]

    async def close(self) -> None:
        """Stop what still runs."""
        for name in list(self._serving):
            await self.stop(name)

    def _services(self, name: str) -> dict[str, Any]:
        match name:
            case "search":
                return {
                    "zocrates.search.v1.SearchService": lambda server: (
                        search_rpc.add_SearchServiceServicer_to_server(self.search, server)
                    )
                }
            case "rerank":
                return {
                    "zocrates.rerank.v1.RerankService": lambda server: (
                        rerank_rpc.add_RerankServiceServicer_to_server(self.rerank, server)
                    )
                }
            case _:
                return {
                    "zocrates.synth.v1.SynthService": lambda server: (
                        synth_rpc.add_SynthServiceServicer_to_server(self.synth, server)
                    )
                }


@asynccontextmanager
async def research_peers() -> AsyncIterator[ResearchPeers]:
    """All three served on ports of the system's choice."""
    peers = ResearchPeers()
    try:
        for name in ("search", "rerank", "synth"):
            await peers.start(name)
        yield peers
    finally:
        await peers.close()
