"""Reviews by run id alone: what is shown, the order of refusals, and what becomes of a deadline."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import grpc
import pytest
from sqlalchemy import text

from services.orchestrator.settings import Settings
from services.orchestrator.store.database import Database
from tests.fakes.deep_question import QUESTION
from tests.fakes.research_peers import ResearchPeers
from tests.integration.orchestrator_stage import Chat, eventually, kinds, refusal
from tests.integration.task_calls import TaskCaller, task_caller
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2, review_pb2

REVIEWED = chat_pb2.TurnOptions(review_plan=True)
EXPIRE = text("UPDATE checkpoint SET expires_at = clock_timestamp() WHERE run_id = :run_id")
AGE = text("""
    UPDATE checkpoint SET answered_at = answered_at - interval '300 s' WHERE run_id = :run_id
""")
# As if the process that had the comment died so long ago.
LAPSE = text("""
    UPDATE checkpoint SET in_flight_token = 'dead', in_flight_until = clock_timestamp() + :left
    WHERE run_id = :run_id
""")


@pytest.fixture
async def tasks(chat: Chat, settings: Settings) -> AsyncIterator[TaskCaller]:
    async with task_caller(settings) as caller:
        yield caller


async def reviewed(tasks: TaskCaller, **fields: object) -> str:
    """A task that waits for a decision on its plan."""
    run_id = (await tasks.submit(QUESTION, options=REVIEWED, **fields)).run_id
    await tasks.waiting(run_id)
    return run_id


async def test_a_review_shows_its_plan_and_all_that_was_said(tasks: TaskCaller) -> None:
    run_id = await reviewed(tasks)
    first = await tasks.review(run_id)
    assert first.status == review_pb2.REVIEW_STATUS_REVIEWING
    assert (first.round, first.version, first.query) == (1, 1, QUESTION)
    assert first.intent == event_pb2.PLAN_INTENT_READY
    assert [one.message for one in first.rounds] == [first.current_plan]
    # Nobody said how long it waits: fifteen minutes.
    waits = first.expires_at.ToDatetime(UTC) - first.rounds[0].time.ToDatetime(UTC)
    assert abs(waits - timedelta(seconds=900)) < timedelta(seconds=5)
    reply = await tasks.comment(run_id, "Naps too.", 1)
    assert reply.message == reply.review.current_plan == "1. Look for it. (plan 2)"
    again = await tasks.review(run_id)
    assert again == reply.review
    assert (again.round, again.version, len(again.rounds)) == (2, 2, 3)
    assert [one.author for one in again.rounds] == [
        review_pb2.REVIEW_AUTHOR_PLANNER,
        review_pb2.REVIEW_AUTHOR_PERSON,
        review_pb2.REVIEW_AUTHOR_PLANNER,
    ]
    assert again.expires_at == first.expires_at


async def test_an_approved_review_stays_readable_and_approving_again_changes_nothing(
    tasks: TaskCaller,
) -> None:
    run_id = await reviewed(tasks)
    assert not (await tasks.approve(run_id)).already
    assert (await tasks.approve(run_id, 7)).already
    await tasks.completed(run_id)
    review = await tasks.review(run_id)
    assert review.status == review_pb2.REVIEW_STATUS_APPROVED
    assert (review.round, review.version) == (1, 1)
    failure = await refusal(tasks.comment(run_id, "", 7))
    assert failure.reason == "REVIEW_APPROVED"


async def test_there_is_no_review_of_a_task_without_one_nor_before_its_plan(
    tasks: TaskCaller, peers: ResearchPeers
) -> None:
    peers.synth.planning_gate = asyncio.Event()
    early = (await tasks.submit(QUESTION, options=REVIEWED)).run_id
    plain = (await tasks.submit(QUESTION)).run_id
    for run_id in (early, plain, "f" * 32):
        for attempt in (tasks.review(run_id), tasks.comment(run_id, ""), tasks.approve(run_id)):
            assert (await refusal(attempt)).reason == "REVIEW_NOT_FOUND"
    peers.synth.planning_gate.set()


async def test_feedback_is_refused_for_the_first_reason_that_holds(
    tasks: TaskCaller, peers: ResearchPeers, database: Database
) -> None:
    run_id = await reviewed(tasks)
    wanted = {"run_id": run_id, "left": timedelta(seconds=60)}
    await database.fetch(LAPSE, wanted)
    # A stale version before a comment in flight, and that before the comment itself.
    assert (await refusal(tasks.comment(run_id, "", 9))).reason == "VERSION_CONFLICT"
    assert (await refusal(tasks.comment(run_id, "", 1))).reason == "FEEDBACK_IN_PROGRESS"
    assert (await refusal(tasks.approve(run_id, 9))).reason == "VERSION_CONFLICT"
    assert (await refusal(tasks.approve(run_id, 1))).reason == "FEEDBACK_IN_PROGRESS"
    await database.fetch(LAPSE, {**wanted, "left": timedelta()})
    assert (await refusal(tasks.comment(run_id, " ", 1))).reason == "MESSAGE_REQUIRED"
    assert (await refusal(tasks.comment(run_id, "é" * 5_121))).reason == "MESSAGE_TOO_LONG"
    await database.fetch(
        text("UPDATE checkpoint SET payload = jsonb_set(payload, '{plan,round}', '10')")
    )
    assert (await refusal(tasks.comment(run_id, "", 1))).reason == "MESSAGE_REQUIRED"
    assert (await refusal(tasks.comment(run_id, "More.", 1))).reason == "ROUNDS_USED"
    assert len(peers.synth.plans) == 1


async def test_a_claim_whose_process_died_lapses_and_blocks_nobody_for_ever(
    tasks: TaskCaller, database: Database
) -> None:
    run_id = await reviewed(tasks)
    await database.fetch(LAPSE, {"run_id": run_id, "left": timedelta()})
    assert not (await tasks.review(run_id)).feedback_in_progress
    assert (await tasks.comment(run_id, "Naps too.", 1)).review.version == 2


async def test_a_reply_that_comes_after_its_claim_was_taken_over_changes_nothing(
    tasks: TaskCaller, peers: ResearchPeers, database: Database
) -> None:
    run_id = await reviewed(tasks)
    peers.synth.planning_gate = asyncio.Event()
    late = asyncio.create_task(refusal(tasks.comment(run_id, "Late.", 1)))

    async def is_planning() -> bool:
        return len(peers.synth.plans) == 2

    await eventually(is_planning, "the planner at work")
    await database.fetch(text("UPDATE checkpoint SET in_flight_until = clock_timestamp()"))
    await tasks.approve(run_id, 1)
    peers.synth.planning_gate.set()
    assert (await late).reason == "REVIEW_APPROVED"
    assert (await tasks.review(run_id)).version == 1
    context = (await tasks.completed(run_id)).context
    assert "Late." not in context


async def test_an_expired_review_ends_its_task_which_says_why(
    tasks: TaskCaller, database: Database
) -> None:
    run_id = await reviewed(tasks)
    await database.fetch(EXPIRE, {"run_id": run_id})
    task = await tasks.until(run_id, chat_pb2.RUN_STATE_EXPIRED)
    assert task.error.code == "REVIEW_EXPIRED"
    assert task.error.message == "research plan review timed out"
    assert not task.HasField("answer")
    assert task.HasField("finish_time")
    error, end = (await tasks.events(run_id))[-2:]
    assert error.error == task.error
    assert (end.run_state.change, end.run_state.by) == (
        event_pb2.RUN_STATE_CHANGE_EXPIRED,
        "expiry",
    )
    assert (await tasks.review(run_id)).status == review_pb2.REVIEW_STATUS_EXPIRED
    for attempt in (tasks.comment(run_id, "", 9), tasks.approve(run_id)):
        assert (await refusal(attempt)).reason == "CHECKPOINT_EXPIRED"
    await database.fetch(AGE, {"run_id": run_id})
    for asking in (tasks.review(run_id), tasks.comment(run_id, ""), tasks.approve(run_id)):
        failure = await refusal(asking)
        assert (failure.code, failure.reason) == (grpc.StatusCode.NOT_FOUND, "REVIEW_NOT_FOUND")
    assert (await refusal(tasks.cancel(run_id))).reason == "WRONG_STATE"


async def test_a_deadline_is_not_looked_at_while_feedback_is_in_flight(
    tasks: TaskCaller, peers: ResearchPeers, database: Database
) -> None:
    run_id = await reviewed(tasks)
    peers.synth.planning_gate = asyncio.Event()
    sending = asyncio.create_task(tasks.comment(run_id, "Naps too.", 1))

    async def is_planning() -> bool:
        return len(peers.synth.plans) == 2

    await eventually(is_planning, "the planner at work")
    await database.fetch(EXPIRE, {"run_id": run_id})
    other = await reviewed_and_over(tasks, peers, database)
    # The one without a comment has ended: its deadline, which came later, was looked at.
    await tasks.until(other, chat_pb2.RUN_STATE_EXPIRED)
    assert (await tasks.review(run_id)).status == review_pb2.REVIEW_STATUS_REVIEWING
    peers.synth.planning_gate.set()
    assert (await sending).review.version == 2
    await tasks.until(run_id, chat_pb2.RUN_STATE_EXPIRED)


async def reviewed_and_over(tasks: TaskCaller, peers: ResearchPeers, database: Database) -> str:
    gate, peers.synth.planning_gate = peers.synth.planning_gate, None
    run_id = await reviewed(tasks)
    peers.synth.planning_gate = gate
    await database.fetch(EXPIRE, {"run_id": run_id})
    return run_id


async def test_an_expired_review_of_a_chat_ends_with_its_error(
    chat: Chat, tasks: TaskCaller
) -> None:
    options = chat_pb2.TurnOptions(review_plan=True)
    options.review_timeout.FromMilliseconds(200)
    turn = await chat.start(QUESTION, options=options)

    async def is_over() -> bool:
        return (await chat.page(turn)).state == chat_pb2.RUN_STATE_EXPIRED

    await eventually(is_over, "the end of the review")
    page = await chat.page(turn)
    assert kinds(page)[-2:] == ["request_input", "error"]
    asked, error = page.events[-2:]
    assert asked.request_input.expires_at.ToDatetime(UTC) <= datetime.now(UTC)
    assert error.error.code == "REVIEW_EXPIRED"
    # The session is free for the next turn.
    await chat.start("hello", session_id=turn.session_id)
