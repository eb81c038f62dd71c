"""Replies to comments on plans: the planner is called here, in the process that got the comment.

Whoever sent it may go away: the call goes on to its end and its result is written. A call that
fails changes nothing, and one that dies with its process leaves a claim that lapses.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from services.chassis.telemetry import EventLog
from services.orchestrator import checkpoint, events
from services.orchestrator.errors import DatabaseDown, PeerError, PlannerFailed
from services.orchestrator.ledger import until_up
from services.orchestrator.peers.synth import PlanReply
from services.orchestrator.planning import Planner
from services.orchestrator.plans import Author, Plan, Round, is_definitive, planner_round, revised
from services.orchestrator.store.reviews import (
    Claimed,
    Feedback,
    Review,
    Reviews,
    Revision,
    Settled,
    Status,
)

log = EventLog(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """The review with the planner's reply; the run's events go on after this sequence."""

    review: Review
    after_sequence: int


class Reviewing:
    """The comments that this process works on."""

    def __init__(
        self,
        reviews: Reviews,
        planner: Planner,
        *,
        deadline_s: float,
        window_s: float,
        on_write: Callable[[], None],
    ) -> None:
        self._reviews = reviews
        self._planner = planner
        self._deadline_s = deadline_s
        self._window_s = window_s
        self._on_write = on_write
        self._working: set[asyncio.Task[Replied]] = set()

    async def feedback(self, feedback: Feedback) -> Replied:
        """Let the planner reply; goes on when the caller is cancelled.

        Raises what `Reviews.claim` does, PlannerFailed, ReviewNotFound when the run was cancelled
        meanwhile, IdempotencyMismatch.
        """
        task = asyncio.create_task(self._take(feedback))
        self._working.add(task)
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    async def repeated(self, feedback: Feedback) -> int | None:
        """The sequence that the same request had gone on after. Raises IdempotencyMismatch."""
        known = await self._reviews.known(feedback.request)
        return known.reply["after_sequence"] if known is not None else None

    async def close(self) -> None:
        """Give up what is left of the work."""
        working = list(self._working)
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)

    def _forget(self, task: asyncio.Task[Replied]) -> None:
        self._working.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            # Its caller has it too, unless that went away.
            log.info("feedback_refused", reason=getattr(error, "reason", type(error).__name__))

    async def _take(self, feedback: Feedback) -> Replied:
        claimed = await self._reviews.claim(feedback, window_s=self._window_s)
        try:
            spoken = await self._asked(claimed)
            revision = _revision(claimed, spoken)
            settled = await until_up(lambda: self._reviews.settle(claimed, revision))
        except BaseException:
            await self._release(claimed)
            raise
        if settled is None:
            # Somebody cancelled the run, or took the claim for dead.
            seen = replace(feedback, expected_version=claimed.version)
            raise await self._reviews.refusal(seen)
        self._on_write()
        return _replied(claimed, revision, settled)

    async def _asked(self, claimed: Claimed) -> PlanReply:
        """The planner's reply. Raises PlannerFailed."""
        comment = Round(author=Author.PERSON, message=claimed.feedback.message)
        try:
            async with asyncio.timeout(self._deadline_s):
                return await self._planner.draft_plan(
                    claimed.plan.query,
                    claimed.items,
                    conversation=[*claimed.rounds, comment],
                    current_plan=claimed.plan.current_plan,
                    definitive=is_definitive(claimed.plan),
                )
        except (PeerError, TimeoutError) as error:
            code = getattr(error, "code", "DEADLINE")
            log.warning("planner_failed", run_id=claimed.feedback.run_id, code=code)
            raise PlannerFailed(
                "The planner gave no reply and the plan is as it was; try again.", cause=code
            ) from error

    async def _release(self, claimed: Claimed) -> None:
        # A claim that cannot be given up now lapses by itself.
        with suppress(DatabaseDown):
            await self._reviews.release(claimed)


def _revision(claimed: Claimed, reply: PlanReply) -> Revision:
    """What the reply makes of the plan."""
    feedback = claimed.feedback
    plan: Plan = revised(claimed.plan, reply.reply)
    version = claimed.version + 1
    question = checkpoint.plan_question(plan, version=version, expires_at=claimed.expires_at)
    told = events.plan_commented(plan, version, message=feedback.message, by=feedback.owner)
    return Revision(
        plan=plan,
        question=question,
        rounds=[Round(author=Author.PERSON, message=feedback.message), planner_round(plan)],
        events=[
            told,
            *events.thought("planner", reply.spoken.thought),
            events.plan_drafted(plan, version),
            events.input_requested(question),
        ],
        usage=reply.spoken.added_to(claimed.usage),
    )


def _replied(claimed: Claimed, revision: Revision, settled: Settled) -> Replied:
    added = [replace(one, time=settled.time) for one in revision.rounds]
    review = Review(
        run_id=claimed.feedback.run_id,
        session_id=claimed.session_id,
        status=Status.REVIEWING,
        version=revision.question.version,
        plan=revision.plan,
        rounds=[*claimed.rounds, *added],
        expires_at=claimed.expires_at,
        is_in_flight=False,
    )
    return Replied(review=review, after_sequence=settled.after_sequence)
