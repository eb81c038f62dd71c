"""A run that stops again and again, and what dies or hurries meanwhile: each part is done once."""

import asyncio
import itertools

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from sqlalchemy import text

from services.chassis.telemetry import tracer_provider
from services.orchestrator.ceilings import Harness
from services.orchestrator.settings import Settings
from services.orchestrator.store.database import Database
from services.orchestrator.store.evidence import unpacked
from tests.fakes.deep_question import QUESTION
from tests.fakes.research_peers import ResearchPeers, call, conclude, passage
from tests.integration.orchestrator_stage import (
    EXTEND,
    SYNTHESIZE,
    assert_told_once,
    eventually,
    kinds,
    orchestrator,
    settings_for,
)
from tests.servers import NatsServer, PostgresServer
from zocrates.orchestrator.v1 import chat_pb2 as pb

PAUSES = 6
# Words that a parser of meanings would take for a refusal; they are steering, nothing else.
GUIDANCE = "No. Stop: not enough novel work, do not search; synthesize {number}."


def set_endless_question(peers: ResearchPeers) -> None:
    """Each pass finds one passage more and leaves a gap."""
    peers.search.hits = {f"q{number}": [passage(number + 1)] for number in range(PAUSES + 1)}
    peers.synth.script = [
        move
        for number in range(PAUSES + 1)
        for move in (
            [call("search_corpus", query=f"q{number}")],
            [conclude(f"Pass {number}.", [f"gap {number}"])],
        )
    ]


async def test_a_run_is_resumed_as_often_as_it_stops_and_each_answer_is_used_once(
    settings: Settings,
    peers: ResearchPeers,
    database: Database,
    database_url: str,
    nats_server: NatsServer,
) -> None:
    set_endless_question(peers)
    harness = Harness(max_extensions=PAUSES, budget_increment=1)
    # Configured otherwise, as after a change: a run keeps the numbers that it began with.
    frugal = Harness(max_extensions=0, budget_increment=9, hitl_enabled=False)
    other = settings_for(database_url, nats_server.url, peers)
    async with orchestrator(settings, harness) as one, orchestrator(other, frugal) as two:
        turn = await one.start(QUESTION)
        for number in range(PAUSES):
            caller, name = (one, two)[number % 2], f"interrupt_ext_{number + 1}"
            asked = await caller.waiting(turn, name)
            assert asked.budget.extension_number == number + 1
            assert list(asked.budget.gaps) == [f"gap {number}"]
            assert (asked.budget.limits.calls, asked.budget.next_limits.calls) == (
                10 + number,
                11 + number,
            )
            await caller.decide(turn, EXTEND, name, guidance=GUIDANCE.format(number=number))
        page = await one.finished(turn)
    assert_told_once(page)
    assert page.state == pb.RUN_STATE_COMPLETED
    assert kinds(page).count("request_input") == kinds(page).count("checkpoint_answered") == PAUSES
    assert peers.search.calls == {f"q{number}": 1 for number in range(PAUSES + 1)}
    # Every pass still has the question itself, the gap left before it and the answer given to it.
    told = {
        (one.question, getattr(one, "pass"), tuple(one.remaining_gaps), one.guidance)
        for one in peers.synth.investigations
    }
    assert told == {
        (QUESTION, 0, (), ""),
        *(
            (QUESTION, number, (f"gap {number - 1}",), GUIDANCE.format(number=number - 1))
            for number in range(1, PAUSES + 1)
        ),
    }
    await assert_pauses_cost_the_same(database)


async def assert_pauses_cost_the_same(database: Database) -> None:
    """A later checkpoint holds the ids of what was found since and nothing else more."""
    rows = await database.fetch(
        text("""
            SELECT length(payload::text) AS shown, length(snapshot::text) AS kept
            FROM checkpoint ORDER BY interrupt_id
        """)
    )
    assert len(rows) == PAUSES
    for earlier, later in itertools.pairwise(rows):
        assert later.shown - earlier.shown < 20
        assert later.kept - earlier.kept < 100
    kept = await database.fetch(text("SELECT step_key, content FROM evidence"))
    found = [one.passage.id for row in kept for one in unpacked(row.step_key, row.content)]
    assert len(found) == len(set(found)) == PAUSES + 1


def words_of(page: pb.ListEventsResponse) -> list[int]:
    """The words of each tool result, in order."""
    return [one.tool_result.words for one in page.events if one.HasField("tool_result")]


async def test_a_later_turn_is_asked_and_decided_by_itself(
    settings: Settings, peers: ResearchPeers
) -> None:
    async with orchestrator(settings) as chat:
        first = await chat.start(QUESTION)
        await chat.waiting(first)
        await chat.decide(first, EXTEND, guidance="Of the first turn.", idempotency_key="click")
        await chat.waiting(first, "interrupt_ext_2")
        await chat.decide(first, SYNTHESIZE, "interrupt_ext_2")
        before = await chat.finished(first)
        peers.synth.investigations.clear()
        second = await chat.start(QUESTION, session_id=first.session_id)
        # The questions have the names of the first turn's, which were answered otherwise.
        await chat.waiting(second)
        await chat.decide(second, EXTEND)
        asked = await chat.waiting(second, "interrupt_ext_2")
        assert (asked.version, asked.budget.limits.calls) == (1, 15)
        await chat.decide(second, EXTEND, "interrupt_ext_2")
        page = await chat.finished(second)
        assert await chat.page(first) == before
    assert_told_once(page)
    assert {one.guidance for one in peers.synth.investigations} == {""}
    # What the first turn had seen is new to the second, and charged to it.
    assert words_of(page)[: len(words_of(before))] == words_of(before)
    assert (page.events[-1].answer.usage.calls, before.events[-1].answer.usage.calls) == (3, 2)
    assert page.events[-1].answer.usage.passages == 4
    assert len(peers.synth.investigations[0].transcript) == 0


async def test_replies_in_any_order_are_charged_and_recorded_in_the_agents(
    settings: Settings, peers: ResearchPeers
) -> None:
    queries = ("sleep", "memory", "age")
    peers.synth.script = [[call("search_corpus", query=one) for one in queries], [conclude()]]
    peers.search.gates = {one: asyncio.Event() for one in queries}
    async with orchestrator(settings) as chat:
        turn = await chat.start(QUESTION)

        async def all_are_asked() -> bool:
            return all(peers.search.calls[one] for one in queries)

        await eventually(all_are_asked, "the parallel searches")
        peers.search.gates["age"].set()
        peers.search.gates["memory"].set()
        # What came early waits for its place: nothing is told of it before.
        assert "tool_result" not in kinds(await chat.page(turn))
        peers.search.gates["sleep"].set()
        page = await chat.finished(turn)
    results = [one.tool_result for one in page.events if one.HasField("tool_result")]
    assert [one.step_id for one in results[:3]] == [f"pass_0/turn_1/call_{n}" for n in range(3)]
    found = [[hit.passage_id[-1] for hit in one.passages] for one in results[:3]]
    assert found == [["1", "2"], ["2", "3"], ["4"]]
    totals = [one.words_total for one in results]
    assert totals == sorted(totals)
    assert sum(one.words for one in results) == totals[-1]


async def test_a_death_between_parallel_calls_keeps_those_that_were_recorded(
    settings: Settings, peers: ResearchPeers, database_url: str, nats_server: NatsServer
) -> None:
    queries = ("sleep", "memory", "age")
    peers.synth.script = [[call("search_corpus", query=one) for one in queries], [conclude()]]
    peers.search.gates = {"age": asyncio.Event()}
    leaving = settings.model_copy(update={"drain_s": 0.05})
    async with orchestrator(leaving) as chat:
        turn = await chat.start(QUESTION)

        async def two_are_recorded() -> bool:
            return kinds(await chat.page(turn)).count("tool_result") == 2

        await eventually(two_are_recorded, "two of three results")
    peers.search.gates["age"].set()
    async with orchestrator(settings_for(database_url, nats_server.url, peers)) as chat:
        page = await chat.finished(turn)
    assert_told_once(page)
    assert kinds(page).count("tool_result") - kinds(page).count("report") == 3
    assert peers.search.calls == {"sleep": 1, "memory": 1, "age": 2}
    assert page.events[-1].answer.usage.calls == 3


async def test_a_run_is_taken_up_although_the_database_was_away_at_the_first_try(
    settings: Settings, peers: ResearchPeers, postgres: PostgresServer
) -> None:
    peers.search.gates = {"sleep": asyncio.Event()}
    leaving = settings.model_copy(update={"drain_s": 0.05})
    async with orchestrator(leaving) as chat:
        turn = await chat.start(QUESTION)

        async def is_searching() -> bool:
            return peers.search.calls["sleep"] == 1

        await eventually(is_searching, "the first search")
    peers.search.gates["sleep"].set()
    postgres.kill()
    async with orchestrator(settings) as chat:
        # It serves before its database does.
        await asyncio.to_thread(postgres.start)
        await chat.waiting(turn)


async def test_a_pause_neither_ends_the_trace_nor_is_an_error_in_it(
    settings: Settings, peers: ResearchPeers, monkeypatch: pytest.MonkeyPatch
) -> None:
    exporter, provider = InMemorySpanExporter(), tracer_provider("test", is_recording=True)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    async with orchestrator(settings) as chat:
        with trace.get_tracer("test").start_as_current_span("request") as request:
            turn = await chat.start(QUESTION)
        await chat.waiting(turn)
        await chat.decide(turn, EXTEND)
        await chat.waiting(turn, "interrupt_ext_2")
        await chat.decide(turn, SYNTHESIZE, "interrupt_ext_2")
        await chat.finished(turn)
    wanted = request.get_span_context().trace_id
    ours = [one for one in exporter.get_finished_spans() if one.context.trace_id == wanted]
    names = [one.name for one in ours]
    # All in the trace of the question, each wait and each pass once.
    wanted_names = ("search_initial", "checkpoint_0", "search_extension_1", "checkpoint_1")
    for name in (*wanted_names, "synthesizer_agent", "coordinator_agent"):
        assert names.count(name) == 1, name
    assert {one.name for one in ours if one.status.status_code is StatusCode.ERROR} == set()
