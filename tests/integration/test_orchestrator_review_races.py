"""Feedback, approval, expiry and cancellation of one plan at the same moment: one legal end."""

import asyncio
from collections import Counter

import pytest
from sqlalchemy import text

from services.orchestrator.errors import (
    CheckpointExpired,
    FeedbackInProgress,
    NotInThisState,
    ReviewApproved,
    ReviewNotFound,
    StaleInterrupt,
    VersionConflict,
)
from services.orchestrator.peers.synth import PlanReply, Spoken
from services.orchestrator.plans import Intent, Reply
from services.orchestrator.review_messages import approval_of
from services.orchestrator.reviewing import Replied, Reviewing
from services.orchestrator.settings import Settings
from services.orchestrator.store.control import Target
from services.orchestrator.store.database import Database
from services.orchestrator.store.together import Store, store_on
from tests.fakes.deep_question import QUESTION
from tests.integration.orchestrator_stage import Chat
from tests.integration.review_rows import comment_on, reviewed_run
from tests.integration.task_calls import task_caller
from zocrates.orchestrator.v1 import chat_pb2

COMMENTS = 50
EXPIRE = text("UPDATE checkpoint SET expires_at = clock_timestamp() WHERE state = 'PENDING'")
# Where a run with one review may stand when everything that was asked is done.
LEGAL = {
    ("AWAITING_INPUT", "PENDING"),
    ("QUEUED", "ANSWERED"),
    ("EXPIRED", "EXPIRED"),
    ("CANCELLED", "WITHDRAWN"),
    # Approved, then cancelled.
    ("CANCELLED", "ANSWERED"),
}
REFUSALS = (
    CheckpointExpired,
    FeedbackInProgress,
    NotInThisState,
    ReviewApproved,
    ReviewNotFound,
    StaleInterrupt,
    VersionConflict,
)


class QuickPlanner:
    """Replies after as many turns of the loop as it is told."""

    def __init__(self, turns: int = 3) -> None:
        self.turns = turns
        self.calls = 0

    async def draft_plan(self, question: str, items: object, **said: object) -> PlanReply:
        self.calls += 1
        for _ in range(self.turns):
            await asyncio.sleep(0)
        spoken = Spoken(thought="", model="quick", input_tokens=1, output_tokens=1)
        reply = Reply(message=f"Plan {self.calls}.", intent=Intent.READY, model="quick")
        return PlanReply(spoken=spoken, reply=reply)


@pytest.fixture
async def store(database: Database) -> Store:
    return store_on(database)


def reviewing_with(store: Store, planner: QuickPlanner) -> Reviewing:
    return Reviewing(store.reviews, planner, deadline_s=5, window_s=90, on_write=lambda: None)


async def test_of_fifty_comments_on_one_version_one_wins(store: Store) -> None:
    target = await reviewed_run(store)
    planner = QuickPlanner()
    reviewing = reviewing_with(store, planner)
    results = await asyncio.gather(
        *(
            reviewing.feedback(comment_on(target, f"Comment {n}.", version=1))
            for n in range(COMMENTS)
        ),
        return_exceptions=True,
    )
    by_kind = Counter(type(one) for one in results)
    assert by_kind[Replied] == 1
    assert by_kind.keys() <= {Replied, FeedbackInProgress, VersionConflict}
    assert planner.calls == 1
    review = await store.reviews.show(target.owner, target.run_id)
    assert (review.version, review.plan.round, len(review.rounds)) == (2, 2, 3)


async def test_of_fifty_comments_over_the_wire_one_wins_and_the_others_are_told(
    chat: Chat, settings: Settings
) -> None:
    async with task_caller(settings) as tasks:
        options = chat_pb2.TurnOptions(review_plan=True)
        run_id = (await tasks.submit(QUESTION, options=options)).run_id
        await tasks.waiting(run_id)
        results = await asyncio.gather(
            *(tasks.comment(run_id, f"Comment {n}.", 1) for n in range(COMMENTS)),
            return_exceptions=True,
        )
        assert sum(not isinstance(one, BaseException) for one in results) == 1
        assert (await tasks.review(run_id)).version == 2


async def test_comments_without_a_version_are_taken_one_after_the_other(store: Store) -> None:
    target = await reviewed_run(store)
    reviewing = reviewing_with(store, QuickPlanner())
    results = await asyncio.gather(
        *(reviewing.feedback(comment_on(target, f"Comment {n}.")) for n in range(8)),
        return_exceptions=True,
    )
    won = [one for one in results if isinstance(one, Replied)]
    review = await store.reviews.show(target.owner, target.run_id)
    assert review.version == 1 + len(won)
    assert len(review.rounds) == 1 + 2 * len(won)
    said = [one.message for one in review.rounds[1::2]]
    assert len(set(said)) == len(said)


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_meets_ends_in_one_legal_state(store: Store, seed: int) -> None:
    target = await reviewed_run(store)
    reviewing = reviewing_with(store, QuickPlanner(turns=seed % 5))
    review = await store.reviews.show(target.owner, target.run_id)
    approval = approval_of(review, target.owner, 1 if seed % 2 else None)

    async def expire() -> None:
        await store.reviews._database.fetch(EXPIRE)
        await store.review_expiry.expire(limit=10)

    deeds = [
        reviewing.feedback(comment_on(target, "Naps too.", version=1)),
        store.checkpoints.decide(approval),
        reviewing.feedback(comment_on(target, "Age too.")),
        *([expire()] if seed % 3 else []),
        *([store.control.cancel(target)] if seed % 4 > 1 else []),
    ]
    turned = deeds[seed % len(deeds) :] + deeds[: seed % len(deeds)]
    results = await asyncio.gather(*turned, return_exceptions=True)
    unexpected = [
        one for one in results if isinstance(one, BaseException) and not isinstance(one, REFUSALS)
    ]
    assert not unexpected
    await assert_legal(store, target)


async def assert_legal(store: Store, target: Target) -> None:
    """The run and its review agree, and what was told is told once."""
    database = store.reviews._database
    (row,) = await database.fetch(
        text("""
            SELECT run.state AS run_state, checkpoint.state, checkpoint.version AS seen,
                   last_sequence,
                   (SELECT count(*) FROM event WHERE run_id = run.id) AS events,
                   (SELECT count(*) FROM plan_round WHERE run_id = run.id) AS rounds,
                   (SELECT count(*) FROM event WHERE run_id = run.id AND type = 'plan') AS plans
            FROM run JOIN checkpoint ON checkpoint.run_id = run.id
            WHERE run.id = :run_id
        """),
        {"run_id": target.run_id},
    )
    assert (row.run_state, row.state) in LEGAL
    assert row.events == row.last_sequence
    assert row.plans == row.seen
    assert row.rounds == 2 * row.seen - 1
