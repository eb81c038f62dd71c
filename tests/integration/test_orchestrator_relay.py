"""Events reach NATS in sequence and once; NATS down only delays."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from google.protobuf.json_format import Parse
from nats.aio.msg import Msg
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from services.chassis.bus import MESSAGE_ID_HEADER, Bus, BusDown, open_bus
from services.orchestrator.settings import Settings
from tests.fakes.research_peers import ResearchPeers, call, passage, research_peers
from tests.integration.orchestrator_stage import (
    Chat,
    eventually,
    orchestrator,
    settings_for,
)
from tests.servers import NatsServer
from zocrates.events.v1 import event_pb2


@pytest.fixture
async def peers() -> AsyncIterator[ResearchPeers]:
    async with research_peers() as served:
        served.search.hits = {"sleep": [passage(1), passage(2)]}
        served.synth.script = [[call("search_corpus", query="sleep")]]
        yield served


class Heard:
    """Messages of a subject, in the order of arrival."""

    def __init__(self) -> None:
        self.messages: list[Msg] = []

    async def take(self, message: Msg) -> None:
        self.messages.append(message)

    @property
    def events(self) -> list[event_pb2.Event]:
        return [Parse(message.data, event_pb2.Event()) for message in self.messages]

    async def count(self, number: int) -> None:
        async def enough() -> bool:
            return len(self.messages) >= number

        await eventually(enough, f"{number} messages")


async def listening(bus: Bus, subject: str) -> Heard:
    heard = Heard()

    async def connected() -> bool:
        return bus.is_connected

    async def settled() -> bool:
        # The connection may be that of a server that was just killed.
        with suppress(BusDown):
            await bus.settled()
            return True
        return False

    await eventually(connected, "NATS")
    await bus.subscribe(subject, heard.take)
    await eventually(settled, "the subscription")
    return heard


async def test_a_runs_events_are_published_in_sequence_as_they_are_stored(
    settings: Settings, bus: Bus
) -> None:
    heard = await listening(bus, "zocrates.events.>")
    async with orchestrator(settings) as chat:
        turn = await chat.start("Does sleep help memory?")
        page = await chat.finished(turn)
        await heard.count(len(page.events))
    assert heard.events == list(page.events)
    first = heard.messages[0]
    assert first.subject == f"zocrates.events.{turn.session_id}.{turn.run_id}.run_started"
    assert first.headers is not None
    assert first.headers[MESSAGE_ID_HEADER] == f"{turn.run_id}:1"


async def test_nats_down_delays_events_and_loses_none(
    settings: Settings, nats_server: NatsServer
) -> None:
    nats_server.kill()
    async with orchestrator(settings) as chat:
        page = await chat.finished(await chat.start("Does sleep help memory?"))
        async with open_bus(nats_server.url, "late") as bus:
            nats_server.start()
            heard = await listening(bus, "zocrates.events.>")
            await heard.count(len(page.events))
    assert [event.sequence for event in heard.events] == list(range(1, len(page.events) + 1))


async def test_nats_may_come_back_without_its_data(
    settings: Settings, nats_server: NatsServer, bus: Bus
) -> None:
    async with orchestrator(settings) as chat:
        await chat.answer("Does sleep help memory?")
        nats_server.kill()
        nats_server.forget()
        nats_server.start()
        heard = await listening(bus, "zocrates.events.*.*.answer")
        await chat.answer("And again?")
        await heard.count(1)


async def test_what_a_stopped_orchestrator_wrote_is_published_before_it_goes(
    settings: Settings, bus: Bus
) -> None:
    heard = await listening(bus, "zocrates.events.>")
    async with orchestrator(settings) as chat:
        page = await chat.finished(await chat.start("Does sleep help memory?"))
    await heard.count(len(page.events))


async def test_the_answer_streams_in_pieces_with_their_offsets(
    settings: Settings, bus: Bus
) -> None:
    heard = await listening(bus, "zocrates.deltas.>")
    async with orchestrator(settings) as chat:
        turn = await chat.start("Does sleep help memory?")
        page = await chat.finished(turn)
        answer = page.events[-1].answer

        async def is_whole() -> bool:
            text = "".join(json.loads(message.data)["text"] for message in heard.messages)
            return text == answer.markdown

        await eventually(is_whole, "the whole text")
    deltas = [Parse(message.data, event_pb2.AnswerDelta()) for message in heard.messages]
    offset = 0
    for delta in deltas:
        assert (delta.run_id, delta.attempt, delta.offset) == (turn.run_id, 1, offset)
        offset += len(delta.text)
    entered = max(event.sequence for event in page.events if event.HasField("stage"))
    assert deltas[0].after_sequence == entered - 1


async def test_deltas_are_kept_for_who_comes_late(settings: Settings, bus: Bus) -> None:
    async with orchestrator(settings) as chat:
        turn = await chat.start("Does sleep help memory?")
        await chat.finished(turn)
        kept = await bus.retained(f"zocrates.deltas.{turn.session_id}.{turn.run_id}")
    assert kept


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Spans of this process from here on."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    return exporter


async def test_one_trace_leads_from_the_request_to_the_last_event(
    spans: InMemorySpanExporter, settings: Settings, bus: Bus, peers: ResearchPeers
) -> None:
    heard = await listening(bus, "zocrates.events.>")
    async with orchestrator(settings) as chat:
        with trace.get_tracer("test").start_as_current_span("request") as request:
            turn = await chat.start("Does sleep help memory?")
        page = await chat.finished(turn)
        await heard.count(len(page.events))
    wanted = trace.format_trace_id(request.get_span_context().trace_id)
    for message in heard.messages:
        assert message.headers is not None
        assert message.headers["traceparent"].split("-")[1] == wanted
    names = {
        span.name
        for span in spans.get_finished_spans()
        if trace.format_trace_id(span.context.trace_id) == wanted
    }
    assert names >= {"execute_tool: search_corpus", "retrieve", "rerank_evidence"}


async def test_a_hint_wakes_a_runner_that_would_sleep_for_long(
    database_url: str, nats_server: NatsServer, peers: ResearchPeers, bus: Bus
) -> None:
    settings = settings_for(database_url, nats_server.url, peers, poll_s=30)
    async with orchestrator(settings) as chat:
        await asyncio.wait_for(_answered(chat), 10)


async def _answered(chat: Chat) -> None:
    await chat.answer("Does sleep help memory?")
