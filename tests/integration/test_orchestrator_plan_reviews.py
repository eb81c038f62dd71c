"""A plan is reviewed before the search: versions, rounds, and what becomes of it afterwards."""

import asyncio

import grpc
import pytest
from sqlalchemy import text

from services.chassis.errors import ServiceError
from services.orchestrator.store.database import Database
from tests.fakes.deep_question import QUESTION
from tests.fakes.research_peers import ResearchPeers
from tests.integration.orchestrator_stage import (
    SYNTHESIZE,
    Chat,
    eventually,
    kinds,
    orchestrator,
    refusal,
    settings_for,
)
from tests.servers import NatsServer
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2 as pb
from zocrates.synth.v1 import synth_pb2 as synth

PLAN = "interrupt_plan"
FEEDBACK = event_pb2.DECISION_ACTION_FEEDBACK
APPROVE = event_pb2.DECISION_ACTION_APPROVE
REVIEWED = pb.TurnOptions(review_plan=True)


class Broken(ServiceError):
    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "BROKEN"


async def comment(
    chat: Chat, turn: pb.StartTurnResponse, message: str, version: int, **more: object
) -> pb.DecideResponse:
    return await chat.decide(
        turn, FEEDBACK, PLAN, message=message, expected_version=version, **more
    )


async def test_the_first_plan_is_a_recorded_step_and_nothing_is_searched_before_approval(
    chat: Chat, peers: ResearchPeers, database: Database
) -> None:
    turn = await chat.start(QUESTION, options=REVIEWED)
    asked = await chat.waiting(turn, PLAN)
    assert (asked.kind, asked.version) == (event_pb2.CHECKPOINT_KIND_PLAN_REVIEW, 1)
    assert (asked.plan.round, asked.plan.max_rounds) == (1, 10)
    assert asked.plan.query == QUESTION
    assert asked.plan.current_plan == asked.plan.text == "1. Look for it. (plan 1)"
    assert not asked.HasField("expires_at")
    page = await chat.page(turn)
    assert kinds(page) == ["run_started", "stage", "thought", "stage", "plan", "request_input"]
    drafted = page.events[-2].plan
    assert (drafted.round, drafted.version, drafted.model) == (1, 1, "scripted")
    assert drafted.intent == event_pb2.PLAN_INTENT_READY
    assert not peers.synth.investigations
    (step,) = await database.fetch(text("SELECT output FROM step WHERE key = 'plan'"))
    assert step.output["current_plan"] == drafted.current_plan


async def test_feedback_is_a_revision_and_the_run_waits_on(
    chat: Chat, peers: ResearchPeers
) -> None:
    turn = await chat.start(QUESTION, options=REVIEWED)
    await chat.waiting(turn, PLAN)
    before = (await chat.page(turn)).last_sequence
    reply = await comment(chat, turn, "Naps too.", 1)
    assert reply.after_sequence == before
    page = await chat.page(turn, before)
    assert kinds(page) == ["plan_feedback", "plan", "request_input"]
    said, drafted, asked = (one for one in page.events)
    assert (said.plan_feedback.round, said.plan_feedback.version) == (2, 2)
    assert (said.plan_feedback.message, said.plan_feedback.by) == ("Naps too.", "ada")
    assert (drafted.plan.round, drafted.plan.version) == (2, 2)
    assert asked.request_input.version == 2
    assert asked.request_input.plan.current_plan == "1. Look for it. (plan 2)"
    assert page.state == pb.RUN_STATE_AWAITING_INPUT
    given = peers.synth.plans[-1]
    assert [(one.author, one.message) for one in given.rounds] == [
        (synth.PLAN_AUTHOR_PLANNER, "1. Look for it. (plan 1)"),
        (synth.PLAN_AUTHOR_PERSON, "Naps too."),
    ]
    assert given.current_plan == "1. Look for it. (plan 1)"
    assert not given.definitive


async def test_an_approved_plan_and_its_conversation_steer_the_passes_and_the_answer(
    chat: Chat, peers: ResearchPeers
) -> None:
    turn = await chat.start(QUESTION, options=REVIEWED)
    await chat.waiting(turn, PLAN)
    await comment(chat, turn, "Naps too.", 1)
    reply = await chat.decide(turn, APPROVE, PLAN, expected_version=2)
    await chat.waiting(turn)
    await chat.decide(turn, SYNTHESIZE)
    page = await chat.finished(turn)
    assert page.state == pb.RUN_STATE_COMPLETED
    after = [one for one in page.events if one.sequence > reply.after_sequence]
    assert after[0].checkpoint_answered.action == APPROVE
    assert (after[1].stage.stage, getattr(after[1].stage, "pass")) == (event_pb2.STAGE_SEARCH, 0)
    for one in peers.synth.investigations:
        assert one.confirmed_plan == "1. Look for it. (plan 2)"
        assert [said.message for said in one.review_conversation] == [
            "1. Look for it. (plan 1)",
            "Naps too.",
            "1. Look for it. (plan 2)",
        ]
    assert peers.synth.syntheses[-1].confirmed_plan == "1. Look for it. (plan 2)"
    # The planner's tokens are the run's: converse 3 + 2, two plans, the writer 7 + 5.
    usage = page.events[-1].answer.usage
    assert (usage.input_tokens, usage.output_tokens) == (3 + 22 + 7, 2 + 26 + 5)


async def test_questions_back_leave_what_can_be_approved_as_it_was(chat: Chat) -> None:
    turn = await chat.start(QUESTION, options=REVIEWED)
    await chat.waiting(turn, PLAN)
    await comment(chat, turn, "Hm?", 1)
    asked = await chat.waiting(turn, PLAN)
    assert asked.plan.intent == event_pb2.PLAN_INTENT_FEEDBACK
    assert (asked.plan.round, asked.version) == (2, 2)
    assert asked.plan.text == "Which one? (2)"
    assert asked.plan.current_plan == "1. Look for it. (plan 1)"


async def test_a_plan_that_only_asks_cannot_be_approved(chat: Chat) -> None:
    turn = await chat.start("Sleep. Hm?", options=REVIEWED)
    asked = await chat.waiting(turn, PLAN)
    assert asked.plan.current_plan == ""
    failure = await refusal(chat.decide(turn, APPROVE, PLAN, expected_version=1))
    assert (failure.code, failure.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NO_PLAN")
    await comment(chat, turn, "Deep sleep.", 1)
    await chat.decide(turn, APPROVE, PLAN, expected_version=2)


async def test_the_tenth_round_is_definitive_and_the_last(chat: Chat, peers: ResearchPeers) -> None:
    turn = await chat.start(QUESTION, options=REVIEWED)
    await chat.waiting(turn, PLAN)
    for version in range(1, 10):
        await comment(chat, turn, "Hm?", version)
    assert [one.definitive for one in peers.synth.plans] == [False] * 9 + [True]
    asked = await chat.waiting(turn, PLAN)
    assert (asked.plan.round, asked.plan.intent) == (10, event_pb2.PLAN_INTENT_READY)
    failure = await refusal(comment(chat, turn, "More.", 10))
    assert failure.reason == "ROUNDS_USED"
    await chat.decide(turn, APPROVE, PLAN, expected_version=10)


async def test_a_planner_that_fails_changes_nothing(
    chat: Chat, peers: ResearchPeers, database: Database
) -> None:
    turn = await chat.start(QUESTION, options=REVIEWED)
    await chat.waiting(turn, PLAN)
    before = await chat.page(turn)
    peers.synth.errors["DraftPlan"] = [Broken("The model is out of credit.")]
    failure = await refusal(comment(chat, turn, "Naps too.", 1))
    assert (failure.code, failure.reason) == (grpc.StatusCode.ABORTED, "PLANNER_FAILED")
    assert await chat.page(turn) == before
    (row,) = await database.fetch(text("SELECT version, in_flight_token FROM checkpoint"))
    assert (row.version, row.in_flight_token) == (1, None)
    await comment(chat, turn, "Naps too.", 1)


async def test_a_slow_planner_is_given_up_and_changes_nothing(
    database_url: str, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    settings = settings_for(database_url, nats_server.url, peers, planner_deadline_s=0.2)
    async with orchestrator(settings) as chat:
        turn = await chat.start(QUESTION, options=REVIEWED)
        await chat.waiting(turn, PLAN)
        peers.synth.planning_gate = asyncio.Event()
        failure = await refusal(comment(chat, turn, "Naps too.", 1))
        assert failure.reason == "PLANNER_FAILED"
        peers.synth.planning_gate.set()
        await comment(chat, turn, "Naps too.", 1)


async def test_a_client_that_goes_away_loses_nothing(chat: Chat, peers: ResearchPeers) -> None:
    turn = await chat.start(QUESTION, options=REVIEWED)
    await chat.waiting(turn, PLAN)
    peers.synth.planning_gate = asyncio.Event()
    sending = asyncio.create_task(comment(chat, turn, "Naps too.", 1))

    async def is_planning() -> bool:
        return len(peers.synth.plans) == 2

    await eventually(is_planning, "the planner at work")
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    peers.synth.planning_gate.set()

    async def is_revised() -> bool:
        return (await chat.page(turn)).events[-1].request_input.version == 2

    await eventually(is_revised, "the reply to nobody")


async def test_a_process_that_stops_gives_up_what_its_planner_did_not_finish(
    database_url: str, database: Database, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    leaving = settings_for(database_url, nats_server.url, peers, drain_s=0.05)
    async with orchestrator(leaving) as chat:
        turn = await chat.start(QUESTION, options=REVIEWED)
        await chat.waiting(turn, PLAN)
        peers.synth.planning_gate = asyncio.Event()
        sending = asyncio.create_task(comment(chat, turn, "Naps too.", 1))

        async def is_planning() -> bool:
            return len(peers.synth.plans) == 2

        await eventually(is_planning, "the planner at work")
        sending.cancel()
    (row,) = await database.fetch(text("SELECT version, in_flight_token FROM checkpoint"))
    assert (row.version, row.in_flight_token) == (1, None)
    peers.synth.planning_gate.set()
    async with orchestrator(settings_for(database_url, nats_server.url, peers)) as chat:
        await comment(chat, turn, "Naps too.", 1)


async def test_one_comment_at_a_time_and_no_approval_beside_it(
    chat: Chat, peers: ResearchPeers
) -> None:
    turn = await chat.start(QUESTION, options=REVIEWED)
    await chat.waiting(turn, PLAN)
    peers.synth.planning_gate = asyncio.Event()
    sending = asyncio.create_task(comment(chat, turn, "Naps too.", 1))

    async def is_planning() -> bool:
        return len(peers.synth.plans) == 2

    await eventually(is_planning, "the planner at work")
    second = await refusal(comment(chat, turn, "Age.", 1))
    approval = await refusal(chat.decide(turn, APPROVE, PLAN, expected_version=1))
    assert second.reason == approval.reason == "FEEDBACK_IN_PROGRESS"
    peers.synth.planning_gate.set()
    await sending
    stale = await refusal(chat.decide(turn, APPROVE, PLAN, expected_version=1))
    assert (stale.reason, stale.facts["version"]) == ("VERSION_CONFLICT", "2")


async def test_cancelling_wins_at_once_over_feedback_in_flight(
    chat: Chat, peers: ResearchPeers
) -> None:
    turn = await chat.start(QUESTION, options=REVIEWED)
    await chat.waiting(turn, PLAN)
    peers.synth.planning_gate = asyncio.Event()
    sending = asyncio.create_task(refusal(comment(chat, turn, "Naps too.", 1)))

    async def is_planning() -> bool:
        return len(peers.synth.plans) == 2

    await eventually(is_planning, "the planner at work")
    await chat.cancel(turn)
    peers.synth.planning_gate.set()
    assert (await sending).reason == "STALE_INTERRUPT"
    page = await chat.page(turn)
    assert page.state == pb.RUN_STATE_CANCELLED
    assert kinds(page)[-1] == "run_state"


async def test_a_review_that_was_cancelled_goes_on_where_it_was(chat: Chat) -> None:
    turn = await chat.start(QUESTION, options=REVIEWED)
    await chat.waiting(turn, PLAN)
    await comment(chat, turn, "Naps too.", 1)
    await chat.cancel(turn)
    await chat.retry(turn)
    asked = await chat.waiting(turn, PLAN)
    assert (asked.version, asked.plan.round) == (3, 2)
    assert asked.plan.current_plan == "1. Look for it. (plan 2)"
    await chat.decide(turn, APPROVE, PLAN, expected_version=3)


async def test_a_review_always_researches(chat: Chat) -> None:
    turn = await chat.start("hello", options=REVIEWED)
    asked = await chat.waiting(turn, PLAN)
    assert asked.plan.query == "hello"


async def test_a_repeated_comment_with_its_key_is_answered_from_the_first(
    chat: Chat, peers: ResearchPeers
) -> None:
    turn = await chat.start(QUESTION, options=REVIEWED)
    await chat.waiting(turn, PLAN)
    first = await comment(chat, turn, "Naps too.", 1, idempotency_key="k")
    again = await comment(chat, turn, "Naps too.", 1, idempotency_key="k")
    assert again.replayed
    assert again.after_sequence == first.after_sequence
    assert len(peers.synth.plans) == 2
    other = await refusal(comment(chat, turn, "Age.", 1, idempotency_key="k"))
    assert other.reason == "IDEMPOTENCY_MISMATCH"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("", "MESSAGE_REQUIRED"),
        (" \n", "MESSAGE_REQUIRED"),
        ("é" * 5_121, "MESSAGE_TOO_LONG"),
        ("\x00", "INVALID_REQUEST"),
    ],
)
async def test_a_comment_has_words_and_not_too_many(chat: Chat, message: str, reason: str) -> None:
    turn = await chat.start(QUESTION, options=REVIEWED)
    await chat.waiting(turn, PLAN)
    assert (await refusal(comment(chat, turn, message, 1))).reason == reason
    await comment(chat, turn, "é" * 5_120, 1)


@pytest.mark.parametrize("action", [FEEDBACK, APPROVE])
async def test_whoever_decides_on_a_plan_says_which_version_was_seen(
    chat: Chat, action: event_pb2.DecisionAction.ValueType
) -> None:
    turn = await chat.start(QUESTION, options=REVIEWED)
    await chat.waiting(turn, PLAN)
    failure = await refusal(chat.decide(turn, action, PLAN, message="Naps."))
    assert failure.reason == "INVALID_REQUEST"
    assert "expected_version" in failure.message
