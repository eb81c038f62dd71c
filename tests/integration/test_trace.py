"""One trace leads from the HTTP request through every process to the last event."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gateway.serving import serve
from gateway.settings import ApiKey
from gateway.settings import Settings as GatewaySettings
from services.chassis.bus import Bus, Msg
from tests.fakes.gateway_stage import ADA, frames, until
from tests.fakes.research_peers import ResearchPeers, call, passage, research_peers
from tests.integration.orchestrator_stage import orchestrator, settings_for
from tests.servers import NatsServer, free_port

CALLER_TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER_SPAN = "b7ad6b7169203331"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
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


async def test_one_trace_leads_from_the_http_request_to_the_last_event(
    gateway_url: str, spans: InMemorySpanExporter, bus: Bus
) -> None:
    heard: list[Msg] = []

    async def hear(message: Msg) -> None:
        heard.append(message)

    await until(lambda: bus.is_connected)
    await bus.subscribe("zocrates.events.>", hear)
    await bus.settled()
    headers = {"X-API-Key": ADA, "traceparent": f"00-{CALLER_TRACE}-{CALLER_SPAN}-01"}
    async with (
        httpx.AsyncClient(base_url=gateway_url, headers=headers, timeout=20) as client,
        client.stream("POST", "/chat", json={"prompt": "Does sleep help memory?"}) as reply,
    ):
        told = [frame async for frame in frames(reply)]
    rows = {frame.data["sequence"] for frame in told if frame.name not in ("answer_delta", "done")}
    await until(lambda: len(heard) == len(rows))
    assert told[-1].data["state"] == "COMPLETED"

    def recorded() -> dict[int, ReadableSpan]:
        ours = [
            span
            for span in spans.get_finished_spans()
            if trace.format_trace_id(span.context.trace_id) == CALLER_TRACE
        ]
        return {span.context.span_id: span for span in ours}

    await until(lambda: "POST /chat" in {span.name for span in recorded().values()})
    by_id = recorded()
    for message in heard:
        assert message.headers is not None
        assert message.headers["traceparent"].split("-")[1] == CALLER_TRACE
    for span in by_id.values():
        # Nothing hangs in the air: every parent was recorded too, up to the caller's own span.
        assert span.parent is not None
        outside = trace.format_span_id(span.parent.span_id) == CALLER_SPAN
        assert outside or span.parent.span_id in by_id, span.name
    chains = {span.name: ancestors(span, by_id) for span in by_id.values()}
    assert chains["run"][-1] == "POST /chat"
    for stage in ("converse", "investigate", "search_corpus", "rerank", "synthesize", "verify"):
        assert "run" in chains[stage], stage
    served = "/zocrates.search.v1.SearchService/SearchCorpus"
    assert "search_corpus" in chains[served]
