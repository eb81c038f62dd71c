"""One trace leads from the HTTP request through every process to the last event."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from gateway.serving import serve
from gateway.settings import ApiKey
from gateway.settings import Settings as GatewaySettings
from services.chassis.bus import Bus, Msg
from services.chassis.telemetry import tracer_provider
from tests.fakes.deep_question import set_deep_question
from tests.fakes.gateway_stage import ADA, Frame, frames, until
from tests.fakes.research_peers import ResearchPeers, call, passage, research_peers
from tests.integration.orchestrator_stage import orchestrator, settings_for
from tests.servers import NatsServer, free_port

CALLER_TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER_SPAN = "b7ad6b7169203331"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = tracer_provider("test", is_recording=True)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    return exporter


@pytest.fixture
async def peers() -> AsyncIterator[ResearchPeers]:
    async with research_peers() as served:
        served.search.hits = {"sleep": [passage(1), passage(2)]}
        served.synth.script = [[call("search_corpus", query="sleep")]]
        yield served


@pytest.fixture
async def gateway_url(
    spans: InMemorySpanExporter, database_url: str, nats_server: NatsServer, peers: ResearchPeers
) -> AsyncIterator[str]:
    settings = settings_for(database_url, nats_server.url, peers)
    port = free_port()
    stop = asyncio.Event()
    async with orchestrator(settings):
        serving = asyncio.create_task(
            serve(
                GatewaySettings(
                    port=port,
                    nats_url=nats_server.url,
                    orchestrator_target=f"127.0.0.1:{settings.port}",
                    search_target=peers.target("search"),
                    keys=(ApiKey.model_validate({"key": ADA, "owner": "ada"}),),
                ),
                stop,
            )
        )
        url = f"http://127.0.0.1:{port}"
        await until(lambda: answers(url))
        yield url
        stop.set()
        await serving


async def answers(url: str) -> bool:
    try:
        async with httpx.AsyncClient() as client:
            return (await client.get(f"{url}/health")).status_code == 200
    except httpx.TransportError:
        return False


def ancestors(span: ReadableSpan, by_id: dict[int, ReadableSpan]) -> list[str]:
    """Names from the span's parent to the outermost one that was recorded."""
    names = []
    while span.parent is not None and span.parent.span_id in by_id:
        span = by_id[span.parent.span_id]
        names.append(span.name)
    return names


def recorded(spans: InMemorySpanExporter) -> dict[int, ReadableSpan]:
    """The spans of the caller's trace, each once."""
    ours = [
        span
        for span in spans.get_finished_spans()
        if trace.format_trace_id(span.context.trace_id) == CALLER_TRACE
    ]
    by_id = {span.context.span_id: span for span in ours}
    assert len(by_id) == len(ours), "a span was told twice"
    return by_id


def names(spans: InMemorySpanExporter) -> set[str]:
    return {span.name for span in recorded(spans).values()}


def assert_whole(by_id: dict[int, ReadableSpan]) -> None:
    """Nothing hangs in the air: every parent was told too, up to the caller's own span."""
    for span in by_id.values():
        assert span.parent is not None
        outside = trace.format_span_id(span.parent.span_id) == CALLER_SPAN
        assert outside or span.parent.span_id in by_id, span.name


async def streamed(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> list[Frame]:
    async with client.stream("POST", path, json=body) as reply:
        assert reply.status_code == 200, await reply.aread()
        return [frame async for frame in frames(reply)]


def as_caller(gateway_url: str) -> httpx.AsyncClient:
    headers = {"X-API-Key": ADA, "traceparent": f"00-{CALLER_TRACE}-{CALLER_SPAN}-01"}
    return httpx.AsyncClient(base_url=gateway_url, headers=headers, timeout=20)


async def test_one_trace_leads_from_the_http_request_to_the_last_event(
    gateway_url: str, spans: InMemorySpanExporter, bus: Bus
) -> None:
    heard: list[Msg] = []

    async def hear(message: Msg) -> None:
        heard.append(message)

    await until(lambda: bus.is_connected)
    await bus.subscribe("zocrates.events.>", hear)
    await bus.settled()
    async with as_caller(gateway_url) as client:
        told = await streamed(client, "/chat", {"prompt": "Does sleep help memory?"})
    rows = {frame.data["sequence"] for frame in told if frame.name not in ("answer_delta", "done")}
    await until(lambda: len(heard) == len(rows))
    assert told[-1].data["state"] == "COMPLETED"
    await until(lambda: {"POST /chat", "coordinator_agent"} <= names(spans))
    by_id = recorded(spans)
    for message in heard:
        assert message.headers is not None
        assert message.headers["traceparent"].split("-")[1] == CALLER_TRACE
    assert_whole(by_id)
    chains = {span.name: ancestors(span, by_id) for span in by_id.values()}
    pipeline = ["search_library_pipeline_node", "search_library", "coordinator_agent", "POST /chat"]
    assert chains["search_initial"] == pipeline
    assert chains["synthesizer_agent"] == pipeline
    assert chains["rerank_evidence"] == pipeline
    assert chains["verify_citations"] == pipeline
    assert chains["execute_tool: search_corpus"] == ["search_initial", *pipeline]
    assert chains["retrieve"] == ["execute_tool: search_corpus", "search_initial", *pipeline]
    served = "/zocrates.search.v1.SearchService/SearchCorpus"
    assert "retrieve" in chains[served]
    session_id = told[0].data["session_id"]
    for span in by_id.values():
        assert span.attributes is not None
        assert span.attributes.get("session.id") == session_id, span.name


async def test_a_pause_is_a_span_of_its_own_in_the_same_trace(
    gateway_url: str, spans: InMemorySpanExporter, peers: ResearchPeers
) -> None:
    set_deep_question(peers)
    async with as_caller(gateway_url) as client:
        told = await streamed(client, "/chat", {"prompt": "How do sleep and age go together?"})
        asked = next(frame.data for frame in told if frame.name == "request_input")
        # While it waits nothing is told of what is not over.
        assert "coordinator_agent" not in names(spans)
        run = {key: asked[key] for key in ("session_id", "invocation_id", "interrupt_id")}
        decided = {**run, "response": {"action": "synthesize", "guidance": "Adults only."}}
        told = await streamed(client, "/chat/resume", decided)
    assert told[-1].data["state"] == "COMPLETED"
    await until(lambda: {"POST /chat", "POST /chat/resume", "coordinator_agent"} <= names(spans))
    by_id = recorded(spans)
    assert_whole(by_id)
    chains = {span.name: ancestors(span, by_id) for span in by_id.values()}
    assert chains["checkpoint_0"] == chains["search_initial"] == chains["synthesizer_agent"]
    assert chains["adk_request_input"][0] == "checkpoint_0"
    by_name = {span.name: span for span in by_id.values()}
    wait, before = by_name["checkpoint_0"], by_name["search_initial"]
    assert before.end_time is not None
    assert wait.start_time is not None
    assert before.end_time <= wait.start_time
    assert wait.status.status_code is not StatusCode.ERROR
    kinds = {
        span.name: (span.attributes or {}).get("openinference.span.kind") for span in by_id.values()
    }
    assert kinds["checkpoint_0"] == kinds["search_library_pipeline_node"] == "CHAIN"
    assert kinds["rerank_evidence"] == "RERANKER"
    assert kinds["retrieve"] == "RETRIEVER"
