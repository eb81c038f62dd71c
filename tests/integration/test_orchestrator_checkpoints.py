"""Stopping with gaps, the researcher's decision, and going on: real Postgres, NATS and gRPC."""

import asyncio

import grpc
import pytest
from sqlalchemy import text

from services.orchestrator.ceilings import Harness
from services.orchestrator.settings import Settings
from services.orchestrator.store.database import Database
from tests.fakes.deep_question import QUERIES, QUESTION, extension
from tests.fakes.research_peers import ResearchPeers, call, conclude
from tests.integration.orchestrator_stage import (
    EXTEND,
    SYNTHESIZE,
    Chat,
    assert_told_once,
    eventually,
    kinds,
    orchestrator,
    refusal,
    settings_for,
)
from tests.servers import NatsServer
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2 as pb

HELD = text("SELECT state, lease_owner, lease_until FROM run")


async def extended_twice(chat: Chat) -> tuple[pb.StartTurnResponse, pb.ListEventsResponse]:
    turn = await chat.start(QUESTION)
    await chat.waiting(turn)
    await chat.decide(turn, EXTEND, guidance="Look at naps first.")
    await chat.waiting(turn, "interrupt_ext_2")
    await chat.decide(turn, EXTEND, "interrupt_ext_2")
    return turn, await chat.finished(turn)


async def test_a_run_stops_twice_and_ends_hard_after_the_second_extension(
    chat: Chat, peers: ResearchPeers
) -> None:
    _, page = await extended_twice(chat)
    assert page.state == pb.RUN_STATE_COMPLETED
    assert kinds(page) == [
        *("run_started", "stage", "thought", "stage"),
        *("tool_call", "tool_result", "tool_call", "tool_result", "report", "request_input"),
        *("checkpoint_answered", "stage"),
        *("tool_call", "tool_result", "tool_call", "tool_result", "report", "request_input"),
        *("checkpoint_answered", "stage"),
        *("tool_call", "tool_result", "tool_call", "tool_result", "report"),
        *("stage", "rerank", "stage", "stage", "answer"),
    ]
    assert_told_once(page)
    stages = [
        (one.stage.stage, getattr(one.stage, "pass")) for one in page.events if one.stage.stage
    ]
    assert [number for stage, number in stages if stage == event_pb2.STAGE_SEARCH] == [0, 1, 2]
    limits = {one.tool_call.call_limit for one in page.events if one.HasField("tool_call")}
    assert limits == {10, 15, 20}
    assert peers.rerank.requests[0].max_passages == 25
    assert peers.rerank.requests[0].max_words == 15_000
    answer = page.events[-1].answer
    assert list(answer.gaps) == ["sex"]
    assert (answer.usage.calls, answer.usage.passages) == (3, 4)
    assert {query: peers.search.calls[query] for query in QUERIES} == dict.fromkeys(QUERIES, 1)


async def test_an_extension_gets_gaps_guidance_and_its_memory_but_never_the_exchange(
    chat: Chat, peers: ResearchPeers
) -> None:
    await extended_twice(chat)
    told = [
        (getattr(one, "pass"), list(one.remaining_gaps), one.guidance)
        for one in peers.synth.investigations
    ]
    assert told == [
        *[(0, [], "")] * 2,
        *[(1, ["memory", "age"], "Look at naps first.")] * 2,
        *[(2, ["age"], "")] * 2,
    ]
    assert [len(one.transcript) for one in peers.synth.investigations] == list(range(6))
    assert [one.left.calls for one in peers.synth.investigations] == [10, 9, 14, 13, 18, 17]
    last = str(peers.synth.investigations[-1])
    assert "Look at naps" not in last
    assert "interrupt_ext" not in last
    assert "extend_budget" not in last.lower()


async def test_the_question_shows_what_was_used_and_what_would_be_added(chat: Chat) -> None:
    turn = await chat.start(QUESTION)
    asked = await chat.waiting(turn)
    assert (asked.kind, asked.version) == (event_pb2.CHECKPOINT_KIND_BUDGET, 1)
    assert not asked.HasField("expires_at")
    assert '"extend_budget"' in asked.response_schema
    budget = asked.budget
    assert (budget.extension_number, budget.max_extensions) == (1, 2)
    assert budget.trigger == event_pb2.EXTENSION_TRIGGER_AGENT
    assert budget.justification == "Two papers need a closer look."
    assert (budget.covered_summary, list(budget.gaps)) == ("Sleep.", ["memory", "age"])
    used = budget.used
    assert (used.calls, used.passages_found, used.documents) == (1, 2, 2)
    assert used.words > 0
    assert (budget.limits.calls, budget.limits.words, budget.limits.passages) == (10, 7_500, 15)
    assert (budget.next_limits.calls, budget.next_limits.words) == (15, 11_250)
    assert budget.next_limits.passages == 20
    await chat.decide(turn)
    second = (await chat.waiting(turn, "interrupt_ext_2")).budget
    assert second.trigger == event_pb2.EXTENSION_TRIGGER_GAPS
    assert not second.HasField("justification")
    assert (second.extension_number, second.limits.calls, second.next_limits.calls) == (2, 15, 20)


async def test_a_waiting_run_is_held_by_nobody_and_its_session_shows_the_question(
    chat: Chat, database: Database
) -> None:
    turn = await chat.start(QUESTION)
    asked = await chat.waiting(turn)
    (row,) = await database.fetch(HELD)
    assert (row.state, row.lease_owner, row.lease_until) == ("AWAITING_INPUT", None, None)
    (message,) = (await chat.session(turn)).messages
    assert message.pending == asked
    (summary,) = await chat.listed()
    assert summary.pending
    await chat.decide(turn, SYNTHESIZE)
    await chat.finished(turn)
    (message,) = (await chat.session(turn)).messages
    assert not message.HasField("pending")
    failure = await refusal(chat.checkpoint(turn))
    assert failure.reason == "NO_PENDING_CHECKPOINT"


async def test_the_snapshot_holds_counts_and_resolves_the_evidence(
    chat: Chat, database: Database
) -> None:
    turn = await chat.start(QUESTION)
    await chat.waiting(turn)
    await chat.decide(turn)
    asked = await chat.waiting(turn, "interrupt_ext_2")
    reply = await chat.checkpoint(turn)
    assert reply.checkpoint == asked
    snapshot = reply.snapshot
    assert (snapshot.covered_summary, list(snapshot.gaps)) == ("Sleep and memory.", ["age"])
    assert (snapshot.extension_count, list(snapshot.completed_extensions)) == (1, [1])
    assert not snapshot.extension_requested
    assert (snapshot.call_count, snapshot.ceilings.calls) == (2, 15)
    assert list(snapshot.seen_passage_ids) == [f"{number:032x}" for number in (1, 2, 3)]
    assert list(snapshot.seen_assets) == ["user/ATTACH01", "user/ATTACH02", "user/ATTACH03"]
    assert [one.passage_id for one in snapshot.evidence] == list(snapshot.seen_passage_ids)
    assert all("Finding" in one.text for one in snapshot.evidence)
    (row,) = await database.fetch(
        text("SELECT snapshot FROM checkpoint WHERE interrupt_id = 'interrupt_ext_2'")
    )
    assert "Finding" not in str(row.snapshot)


async def test_synthesize_goes_straight_to_rerank_under_the_ceilings_so_far(
    chat: Chat, peers: ResearchPeers
) -> None:
    turn = await chat.start(QUESTION)
    await chat.waiting(turn)
    decided = await chat.decide(turn, SYNTHESIZE)
    page = await chat.finished(turn)
    assert kinds(page)[decided.after_sequence :] == [
        *("checkpoint_answered", "stage", "rerank", "stage", "stage", "answer")
    ]
    answered = page.events[decided.after_sequence].checkpoint_answered
    assert (answered.action, answered.answered_by) == (SYNTHESIZE, "ada")
    assert not answered.HasField("guidance")
    assert answered.answered_at.seconds > 0
    assert peers.rerank.requests[0].max_passages == 15
    assert list(page.events[-1].answer.gaps) == ["memory", "age"]
    assert list(peers.synth.syntheses[0].gaps) == ["memory", "age"]


@pytest.mark.parametrize(
    ("harness", "options", "script"),
    [
        (Harness(hitl_enabled=False), {}, [[extension("memory")]]),
        (Harness(), {"hitl_enabled": False}, [[extension("memory")]]),
        (Harness(), {"max_extensions": 0}, [[conclude("Covered.", ["memory"])]]),
        (Harness(), {}, [[call("search_corpus", query="sleep"), extension()]]),
        (Harness(), {}, [[call("search_corpus", query="sleep")], [conclude()]]),
    ],
    ids=["off", "off by request", "no extension left", "asked without a gap", "no gap"],
)
async def test_without_a_reason_to_ask_a_run_goes_straight_on(
    settings: Settings,
    peers: ResearchPeers,
    harness: Harness,
    options: dict[str, object],
    script: list[list[object]],
) -> None:
    peers.synth.script = script  # type: ignore[assignment]
    async with orchestrator(settings, harness) as chat:
        page = await chat.finished(await chat.start(QUESTION, options=options))
    assert page.state == pb.RUN_STATE_COMPLETED
    assert "request_input" not in kinds(page)


async def test_a_new_turn_while_one_waits_is_told_what_it_waits_for(chat: Chat) -> None:
    turn = await chat.start(QUESTION)
    await chat.waiting(turn)
    failure = await refusal(chat.start("And now?", session_id=turn.session_id))
    assert failure.code is grpc.StatusCode.FAILED_PRECONDITION
    assert failure.reason == "PENDING_CHECKPOINT"
    assert failure.facts == {"run_id": turn.run_id, "interrupt_id": "interrupt_ext_1"}
    assert "rewind" in failure.message


async def test_a_later_turn_of_an_extended_session_starts_clean(
    chat: Chat, peers: ResearchPeers
) -> None:
    first, _ = await extended_twice(chat)
    peers.synth.investigations.clear()
    second = await chat.start(QUESTION, session_id=first.session_id)
    asked = await chat.waiting(second)
    begun = peers.synth.investigations[0]
    assert (len(begun.transcript), list(begun.remaining_gaps), begun.guidance) == (0, [], "")
    assert (begun.left.calls, getattr(begun, "pass")) == (10, 0)
    assert asked.budget.used.passages_found == 2
    assert asked.version == 1


async def test_what_an_earlier_pass_answered_is_a_reference_in_the_next(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.synth.script = [
        [call("search_corpus", query="sleep")],
        [conclude("Sleep.", ["memory"])],
        [call("search_corpus", query="sleep"), call("search_corpus", query="memory")],
        [conclude()],
    ]
    turn = await chat.start(QUESTION)
    await chat.waiting(turn)
    await chat.decide(turn)
    page = await chat.finished(turn)
    assert peers.search.calls["sleep"] == 1
    results = [one.tool_result for one in page.events if one.HasField("tool_result")]
    repeated = next(one for one in results if one.step_id == "pass_1/turn_1/call_0")
    assert (repeated.ok, repeated.words) == (True, 0)


async def test_calls_and_words_blocked_before_an_extension_are_free_after_it(
    settings: Settings, peers: ResearchPeers
) -> None:
    peers.synth.script = [
        [call("search_corpus", query="sleep"), call("search_corpus", query="memory")],
        [],
        [call("search_corpus", query="memory")],
        [conclude()],
    ]
    harness = Harness(max_retrieval_tools=1, budget_increment=1)
    async with orchestrator(settings, harness) as chat:
        turn = await chat.start(QUESTION)
        asked = await chat.waiting(turn)
        assert list(asked.budget.gaps) == ["memory"]
        await chat.decide(turn)
        page = await chat.finished(turn)
    assert peers.search.calls["memory"] == 1
    assert page.events[-1].answer.usage.calls == 2
    assert page.events[-1].answer.usage.passages == 3


async def test_gaps_stay_open_when_an_extension_ends_without_a_word(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.synth.script = [
        [call("search_corpus", query="sleep")],
        [conclude("Sleep.", ["memory", "age"])],
        [call("search_corpus", query="memory")],
        [],
    ]
    turn = await chat.start(QUESTION)
    await chat.waiting(turn)
    await chat.decide(turn)
    asked = await chat.waiting(turn, "interrupt_ext_2")
    assert list(asked.budget.gaps) == ["age"]
    assert asked.budget.covered_summary == "Sleep.; memory"


async def test_a_decision_needs_no_nats(chat: Chat, nats_server: NatsServer) -> None:
    turn = await chat.start(QUESTION)
    await chat.waiting(turn)
    nats_server.kill()
    await chat.decide(turn, SYNTHESIZE)
    page = await chat.finished(turn)
    assert page.state == pb.RUN_STATE_COMPLETED


async def test_an_expired_checkpoint_is_answered_by_the_system(
    settings: Settings, peers: ResearchPeers
) -> None:
    hurried = settings.model_copy(update={"checkpoint_hours": 0.5 / 3600})
    async with orchestrator(hurried) as chat:
        turn = await chat.start(QUESTION)
        page = await chat.finished(turn)
        failure = await refusal(chat.decide(turn))
    assert page.state == pb.RUN_STATE_COMPLETED
    asked = next(one.request_input for one in page.events if one.HasField("request_input"))
    answered = next(
        one.checkpoint_answered for one in page.events if one.HasField("checkpoint_answered")
    )
    assert asked.HasField("expires_at")
    assert (answered.action, answered.answered_by) == (SYNTHESIZE, "expiry")
    assert answered.answered_at.ToDatetime() >= asked.expires_at.ToDatetime()
    assert failure.reason == "CHECKPOINT_EXPIRED"
    assert_told_once(page)


async def test_two_replicas_share_the_passes_of_a_run(
    settings: Settings, peers: ResearchPeers, database_url: str, nats_server: NatsServer
) -> None:
    # Nobody dies here: leases that outlast a busy machine, so that each call is made once.
    long = {"lease_s": 60}
    other = settings_for(database_url, nats_server.url, peers).model_copy(update=long)
    settings = settings.model_copy(update=long)
    async with orchestrator(settings) as one, orchestrator(other) as two:
        turns = [await one.start(QUESTION) for _ in range(6)]
        for number, name in enumerate(("interrupt_ext_1", "interrupt_ext_2")):
            caller = (one, two)[number]
            await asyncio.gather(*(caller.waiting(turn, name) for turn in turns))
            await asyncio.gather(*(caller.decide(turn, EXTEND, name) for turn in turns))
        pages = [await two.finished(turn) for turn in turns]
    for page in pages:
        assert page.state == pb.RUN_STATE_COMPLETED
        assert_told_once(page)
        assert page.events[-1].answer.usage.calls == 3
    assert {query: peers.search.calls[query] for query in QUERIES} == dict.fromkeys(QUERIES, 6)


async def test_a_stopped_replica_keeps_nobody_waiting(
    settings: Settings, peers: ResearchPeers, database: Database
) -> None:
    gate = asyncio.Event()
    peers.search.gates["memory"] = gate
    patient = settings.model_copy(update={"lease_s": 60.0, "drain_s": 0.2})
    async with orchestrator(patient) as chat:
        turn = await chat.start(QUESTION)
        await chat.waiting(turn)
        await chat.decide(turn)

        async def is_searching() -> bool:
            return peers.search.calls["memory"] == 1

        await eventually(is_searching, "the extension's search")
    (row,) = await database.fetch(HELD)
    assert (row.state, row.lease_owner) == ("QUEUED", None)
    gate.set()
    async with orchestrator(settings) as chat:
        await chat.waiting(turn, "interrupt_ext_2")
