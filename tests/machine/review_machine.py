"""Everything that can happen to the review of a plan, in any order, against a model and a database.

Taking a comment and settling it are two deeds here, so that anything may come between them.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, ClassVar, TypeVar
from uuid import uuid4

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sqlalchemy import text

from services.orchestrator import checkpoint, events
from services.orchestrator.checkpoint import Choice
from services.orchestrator.errors import NotInThisState, ReviewNotFound
from services.orchestrator.plans import Author, Intent, Reply, Round, planner_round, revised
from services.orchestrator.run import Action, Stage
from services.orchestrator.store.answers import Answer
from services.orchestrator.store.control import Target
from services.orchestrator.store.database import Database
from services.orchestrator.store.history import Entry
from services.orchestrator.store.reviews import Claimed, Revision, Status
from services.orchestrator.store.together import Store, store_on
from tests.integration.review_rows import FIRST, comment_on, reviewed_run
from tests.machine.review_model import ROUNDS, ReviewModel

WINDOW_S = 600
# What comes after the end of a review is refused the same way each time: a few of each are enough.
MOST_LATE = 4
DEADLINE = text("UPDATE checkpoint SET expires_at = clock_timestamp() WHERE run_id = :run_id")
LAPSE = text("UPDATE checkpoint SET in_flight_until = clock_timestamp() WHERE run_id = :run_id")
SHARED = text("DELETE FROM session")
ROWS = text("""
    SELECT run.state AS run_state, is_pausing, last_sequence, checkpoint.state, version_, round,
           current_plan, in_flight_token,
           (SELECT array_agg(type ORDER BY sequence) FROM event WHERE run_id = run.id) AS told,
           (SELECT array_agg(sequence ORDER BY sequence) FROM event WHERE run_id = run.id)
               AS sequences,
           (SELECT array_agg(message ORDER BY number) FROM plan_round WHERE run_id = run.id)
               AS said
    FROM run JOIN (
        SELECT *, version AS version_, CAST(payload #>> '{plan,round}' AS int) AS round,
               payload #>> '{plan,current_plan}' AS current_plan
        FROM checkpoint) AS checkpoint ON checkpoint.run_id = run.id
    WHERE run.id = :run_id
""")

Result = TypeVar("Result")


def _is_wanted(machine: "ReviewMachine") -> bool:
    return machine.model.state == "PENDING" or machine.late < MOST_LATE


def _may_be_in_flight(machine: "ReviewMachine") -> bool:
    model = machine.model
    return model.is_in_flight or model.refuses_comment(is_stale=False) is None


class ReviewMachine(RuleBasedStateMachine):
    """One task that waits for a decision on its plan, and whoever has to do with it."""

    # Set by the test: a database that no other test uses, and the loop that its connections are of.
    database: ClassVar[Database]
    loop: ClassVar[asyncio.AbstractEventLoop]

    store: Store
    target: Target

    def wait(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run in the loop of the database's connections."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(timeout=30)

    def refused(self, kind: type[Exception], coroutine: Coroutine[Any, Any, object]) -> None:
        """What must be refused, and how."""
        try:
            result = self.wait(coroutine)
        except kind:
            return
        raise AssertionError(f"{kind.__name__} was expected, not {result!r}")

    @initialize(
        intent=st.sampled_from([Intent.READY, Intent.READY, Intent.FEEDBACK]),
        rounds=st.sampled_from([1, 1, ROUNDS - 1, ROUNDS]),
    )
    def begin(self, intent: Intent, rounds: int) -> None:
        """The first plan, or questions instead of one; maybe much was said about it already."""
        self.store = store_on(self.database)
        self.target = self.wait(reviewed_run(self.store, intent=intent))
        self.model = ReviewModel(said=[FIRST], has_plan=intent is Intent.READY)
        self.claims: list[Claimed] = []
        self.late = 0
        while self.model.round < rounds:
            self.comment("current")
            self._settle(self.claims.pop(), asks=intent is Intent.FEEDBACK)
        if rounds == ROUNDS:
            self.comment("current")

    @precondition(lambda self: self.model.state != "PENDING")
    @rule(
        intent=st.sampled_from([Intent.READY, Intent.FEEDBACK]),
        rounds=st.sampled_from([1, 1, ROUNDS - 1]),
    )
    def begin_anew(self, intent: Intent, rounds: int) -> None:
        """What was decided stays so; another task is reviewed from now on."""
        if self.model.run_state == "QUEUED":
            self.cancel()
        self.begin(intent, rounds)

    # Comments

    @precondition(_is_wanted)
    @rule(seen=st.sampled_from(["none", "current", "stale"]))
    def comment(self, seen: str) -> None:
        """Somebody comments; the planner is at work from now on, or the comment is refused."""
        self._came()
        versions = {"none": None, "current": self.model.version, "stale": self.model.version + 7}
        feedback = comment_on(self.target, f"Say {uuid4().hex}.", version=versions[seen])
        claiming = self.store.reviews.claim(feedback, window_s=WINDOW_S)
        refusal = self.model.refuses_comment(is_stale=seen == "stale")
        if refusal is not None:
            self.refused(refusal, claiming)
            return
        claimed = self.wait(claiming)
        assert (claimed.version, claimed.plan.round) == (self.model.version, self.model.round)
        assert [one.message for one in claimed.rounds] == self.model.said
        self.claims.append(claimed)
        self.model.in_flight, self.model.has_lapsed = feedback.token, False

    @precondition(_may_be_in_flight)
    @rule(seen=st.sampled_from(["none", "current"]), approves=st.booleans())
    def meet(self, seen: str, approves: bool) -> None:
        """Somebody is faster than the planner, and comments or approves meanwhile."""
        self._in_flight()
        if approves:
            self.approve(seen)
        else:
            self.comment(seen)

    @precondition(_may_be_in_flight)
    @rule(
        deed=st.sampled_from(["comment", "comment", "approve", "cancel", "cancel and retry"]),
        has_failed=st.booleans(),
    )
    def overtake(self, deed: str, has_failed: bool) -> None:
        """The planner is given up, somebody goes on without it, and then it comes back."""
        claimed = self._in_flight()
        self.lapse()
        match deed:
            case "comment":
                self.comment("current")
            case "approve":
                self.approve("current")
            case "cancel":
                self.cancel()
            case _:
                self.cancel_and_retry()
        self.claims.remove(claimed)
        if has_failed:
            self._release(claimed)
        else:
            self._settle(claimed, asks=False)

    def _in_flight(self) -> Claimed:
        """The comment that the planner is at work on, if need be a new one."""
        if not self.model.is_in_flight:
            self.comment("current")
        return next(one for one in self.claims if one.feedback.token == self.model.in_flight)

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), asks=st.booleans(), is_lost=st.booleans())
    def settle(self, data: st.DataObject, asks: bool, is_lost: bool) -> None:
        """The planner has replied, maybe too late; or its reply is written a second time."""
        claimed = data.draw(st.sampled_from(self.claims))
        counts = self.model.takes(claimed.feedback.token)
        if counts or not is_lost:
            self.claims.remove(claimed)
        self._settle(claimed, asks=asks)

    def _settle(self, claimed: Claimed, *, asks: bool) -> None:
        revision = _revision(claimed, asks)
        counts = self.model.takes(claimed.feedback.token)
        settled = self.wait(self.store.reviews.settle(claimed, revision))
        assert (settled is not None) == counts
        if settled is None:
            return
        again = self.wait(self.store.reviews.settle(claimed, revision))
        assert again == settled
        self.model.settle(
            [one.message for one in revision.rounds], is_ready=revision.plan.intent is Intent.READY
        )

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def give_up(self, data: st.DataObject) -> None:
        """The planner has failed; only its own claim is given up."""
        claimed = data.draw(st.sampled_from(self.claims))
        self.claims.remove(claimed)
        self._release(claimed)

    def _release(self, claimed: Claimed) -> None:
        self.wait(self.store.reviews.release(claimed))
        if self.model.in_flight == claimed.feedback.token:
            self.model.in_flight, self.model.has_lapsed = "", False

    @precondition(lambda self: self.model.in_flight)
    @rule()
    def lapse(self) -> None:
        """Whoever took a comment is taken for dead."""
        self.wait(self.database.fetch(LAPSE, {"run_id": self.target.run_id}))
        self.model.has_lapsed = True

    # Decisions

    @precondition(_is_wanted)
    @rule(seen=st.sampled_from(["none", "current", "stale", "stale"]))
    def approve(self, seen: str) -> None:
        """Somebody approves."""
        self._came()
        versions = {"none": None, "current": self.model.version, "stale": self.model.version + 7}
        answer = self._approval(versions[seen])
        deciding = self.store.checkpoints.decide(answer)
        refusal = self.model.refuses_approval(is_stale=seen == "stale")
        if refusal is not None:
            self.refused(refusal, deciding)
            return
        self.wait(deciding)
        self.model.approve()

    @precondition(lambda self: self.model.state == "PENDING")
    @rule()
    def pass_deadline(self) -> None:
        """The time to decide is over; nobody has looked yet."""
        self.wait(self.database.fetch(DEADLINE, {"run_id": self.target.run_id}))
        self.model.is_over = True

    @rule()
    def expire(self) -> None:
        """Somebody looks for deadlines that have passed."""
        ended = self.wait(self.store.review_expiry.expire(limit=10))
        assert ended == int(self.model.expires)
        if ended:
            self.model.end("EXPIRED", "EXPIRED")

    # Control

    @precondition(_is_wanted)
    @rule()
    def cancel(self) -> None:
        """Somebody cancels the task."""
        self._came()
        cancelling = self.store.control.cancel(self.target)
        if self.model.run_state in ("EXPIRED", "CANCELLED"):
            self.refused(NotInThisState, cancelling)
            return
        self.wait(cancelling)
        self.model.end("CANCELLED", "WITHDRAWN")

    @precondition(lambda self: self.model.state == "PENDING")
    @rule()
    def cancel_and_retry(self) -> None:
        """Somebody changes their mind, be a comment in flight or not."""
        self.cancel()
        self.retry()

    @precondition(lambda self: self.model.run_state == "CANCELLED")
    @rule()
    def retry(self) -> None:
        """Somebody takes the task up again, and its review goes on where it was."""
        self.wait(self.store.control.retry(self.target))
        self.model.run_state = "QUEUED"
        if self.model.state == "WITHDRAWN":
            self.wait(self._ask_again())
            self.model.ask_again()

    def _came(self) -> None:
        self.late += self.model.state != "PENDING"

    def _approval(self, version: int | None) -> Answer:
        return Answer(
            owner=self.target.owner,
            session_id=self.target.session_id,
            run_id=self.target.run_id,
            interrupt_id=checkpoint.PLAN_REVIEW,
            choice=Choice.APPROVE,
            guidance="",
            expected_version=version,
            idempotency_key="",
            body_hash="",
        )

    async def _ask_again(self) -> None:
        (run,) = await self.store.runs.claim(uuid4().hex, limit=1, lease_s=60)
        recorded = await self.store.history.load(run.id)
        known = recorded.checkpoints[checkpoint.PLAN_REVIEW]
        assert known.plan is not None
        question = checkpoint.plan_question(known.plan, version=known.version + 1, expires_at=None)
        entry = Entry(
            stage=Stage.PLAN,
            pass_number=0,
            usage=run.usage,
            events=[events.input_requested(question)],
            leaving=Action.ASK,
            question=question,
        )
        await self.store.history.record(run.lease, entry)

    # What must be true after each of them

    @invariant()
    def rows_agree_with_the_model(self) -> None:
        """The database holds what the model says, and nothing was told twice or left out."""
        wanted = {"run_id": self.target.run_id}
        row = self.wait(self.database.fetch(ROWS, wanted)).one()
        model = self.model
        assert (row.run_state, row.state) == (model.run_state, model.state)
        assert (row.version_, row.round) == (model.version, model.round)
        assert list(row.said) == model.said
        assert bool(row.current_plan) == model.has_plan
        assert list(row.sequences) == list(range(1, row.last_sequence + 1))
        told = list(row.told)
        assert told.count("plan_feedback") == (len(model.said) - 1) // 2
        assert told.count("plan") == model.round
        assert told.count("request_input") == model.version
        assert told.count("checkpoint_answered") == int(model.state == "ANSWERED")
        assert told.count("error") == int(model.run_state == "EXPIRED")
        assert not row.is_pausing
        self._shown()

    def _shown(self) -> None:
        try:
            review = self.wait(self.store.reviews.show(self.target.owner, self.target.run_id))
        except ReviewNotFound:
            assert self.model.state == "WITHDRAWN"
            return
        assert review.version == self.model.version
        assert [one.message for one in review.rounds] == self.model.said
        assert (review.status is Status.APPROVED) == (self.model.state == "ANSWERED")
        assert review.is_in_flight == self.model.is_in_flight

    def teardown(self) -> None:
        """Leave nothing behind that another example could claim."""
        self.wait(self.database.fetch(SHARED))


def _revision(claimed: Claimed, asks: bool) -> Revision:
    """What the planner's reply makes of the plan."""
    intent = Intent.FEEDBACK if asks else Intent.READY
    plan = revised(claimed.plan, Reply(message=f"2. {uuid4().hex}", intent=intent, model="held"))
    version = claimed.version + 1
    message = claimed.feedback.message
    question = checkpoint.plan_question(plan, version=version, expires_at=claimed.expires_at)
    return Revision(
        plan=plan,
        question=question,
        rounds=[Round(author=Author.PERSON, message=message), planner_round(plan)],
        events=[
            events.plan_commented(plan, version, message=message, by="ada"),
            events.plan_drafted(plan, version),
            events.input_requested(question),
        ],
        usage=claimed.usage,
    )
