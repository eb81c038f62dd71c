"""Reviews of plans: feedback is claimed, then settled, each by one conditional write.

Between the two no transaction is open and nothing is locked: the planner is at work. The claim is
a token in the checkpoint's row. Whoever settles must still find it there; a claim that nobody
settles lapses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from asyncpg import UniqueViolationError
from sqlalchemy import text

from services.chassis.errors import ServiceError
from services.orchestrator import plans
from services.orchestrator.checkpoint import PLAN_REVIEW, CheckpointState, Question
from services.orchestrator.errors import (
    CheckpointExpired,
    FeedbackInProgress,
    MessageRequired,
    MessageTooLong,
    ReviewApproved,
    ReviewNotFound,
    RoundsUsed,
)
from services.orchestrator.events import NewEvent
from services.orchestrator.plans import Author, Intent, Plan, Round
from services.orchestrator.run import Usage
from services.orchestrator.store import request_keys
from services.orchestrator.store.database import Database, Rows, as_json
from services.orchestrator.store.refusals import version_conflict
from services.orchestrator.store.request_keys import Earlier, Request

# How long an expired review can still be read.
READABLE_S = 300.0


class Status(StrEnum):
    """Where a review is; the values are the words of the wire."""

    REVIEWING = "REVIEWING"
    APPROVED = "APPROVED"
    EXPIRED = "EXPIRED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A review as its owner may read it."""

    run_id: str
    session_id: str
    status: Status
    version: int
    plan: Plan
    rounds: Sequence[Round]
    expires_at: datetime | None
    is_in_flight: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """A comment on a plan, not yet judged."""

    owner: str
    # Empty when the caller names the run alone.
    session_id: str
    run_id: str
    message: str
    expected_version: int | None
    token: str
    # With what a repetition of the request is known; without a key it never is.
    request: Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """Feedback that nobody else may work on, and what the planner needs for it."""

    feedback: Feedback
    session_id: str
    version: int
    plan: Plan
    rounds: Sequence[Round]
    items: Sequence[Mapping[str, Any]]
    usage: Usage
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What a comment came to: the plan and the question from now on, and all that was told."""

    plan: Plan
    question: Question
    # The comment and the reply.
    rounds: Sequence[Round]
    events: Sequence[NewEvent]
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The run's events go on after this sequence with the comment."""

    after_sequence: int
    time: datetime


SHOW = text("""
    SELECT run.session_id, checkpoint.state, checkpoint.version, payload -> 'plan' AS plan,
           expires_at, answered_at < clock_timestamp() - make_interval(secs => :readable_s)
                       AS is_forgotten,
           COALESCE(expires_at <= clock_timestamp(), false) AS is_over,
           COALESCE(in_flight_until > clock_timestamp(), false) AS is_in_flight,
           (SELECT json_agg(json_build_array(author, message, intent, time) ORDER BY number)
            FROM plan_round WHERE plan_round.run_id = run.id) AS rounds
    FROM run JOIN checkpoint ON checkpoint.run_id = run.id AND interrupt_id = :interrupt_id
    WHERE run.id = :run_id AND owner = :owner AND run.state <> 'REWOUND'
      AND checkpoint.state <> 'WITHDRAWN'
""")
# The lock on the run comes first, as everywhere.
CLAIM = text("""
    WITH held AS (
        SELECT id, session_id, usage FROM run
        WHERE id = :run_id AND owner = :owner
          AND (:session_id = '' OR session_id = :session_id) FOR UPDATE
    ), claimed AS (
        UPDATE checkpoint SET
            in_flight_token = :token,
            in_flight_until = clock_timestamp() + make_interval(secs => :window_s)
        FROM held
        WHERE checkpoint.run_id = held.id AND interrupt_id = :interrupt_id
          AND checkpoint.state = 'PENDING'
          AND (CAST(:version AS int) IS NULL OR checkpoint.version = CAST(:version AS int))
          AND COALESCE(expires_at > clock_timestamp(), true)
          AND COALESCE(in_flight_until <= clock_timestamp(), true)
          AND CAST(payload #>> '{plan,round}' AS int) < :max_rounds
        RETURNING checkpoint.version, payload -> 'plan' AS plan, expires_at
    )
    SELECT session_id, usage, version, plan, expires_at,
           (SELECT json_agg(json_build_array(author, message, intent, time) ORDER BY number)
            FROM plan_round WHERE run_id = held.id) AS rounds,
           (SELECT output -> 'items' FROM step WHERE run_id = held.id AND key = 'converse')
           AS active_items
    FROM held, claimed
""")
SETTLE = text("""
    WITH held AS (
        SELECT id FROM run WHERE id = :run_id FOR UPDATE
    ), revised AS (
        UPDATE checkpoint SET version = :version, payload = CAST(:payload AS jsonb),
                              in_flight_token = NULL, in_flight_until = NULL
        FROM held
        WHERE checkpoint.run_id = held.id AND interrupt_id = :interrupt_id
          AND checkpoint.state = 'PENDING' AND in_flight_token = :token
        RETURNING checkpoint.run_id
    ), moved AS (
        UPDATE run SET
            version = run.version + 1, usage = CAST(:usage AS jsonb), relay_due = true,
            update_time = clock_timestamp(),
            last_sequence = last_sequence + jsonb_array_length(CAST(:events AS jsonb))
        FROM revised WHERE run.id = revised.run_id
        RETURNING id, owner, update_time,
                  last_sequence - jsonb_array_length(CAST(:events AS jsonb)) AS after_sequence
    ), noted AS (
        INSERT INTO plan_round (run_id, number, author, message, intent, token, time)
        SELECT moved.id, one.number, one.author, one.message, one.intent, :token, moved.update_time
        FROM moved, jsonb_to_recordset(CAST(:rounds AS jsonb)) AS one(
            number int, author text, message text, intent text)
    ), told AS (
        INSERT INTO event (run_id, sequence, type, payload, time)
        SELECT moved.id, moved.after_sequence + told.place, told.event ->> 'type',
               told.event -> 'payload', moved.update_time
        FROM moved,
             jsonb_array_elements(CAST(:events AS jsonb)) WITH ORDINALITY AS told(event, place)
    ), kept AS (
        INSERT INTO request_key (owner, route, key, body_hash, run_id, reply)
        SELECT owner, :route, CAST(:key AS text), :body_hash, id,
               jsonb_build_object('after_sequence', after_sequence)
        FROM moved WHERE CAST(:key AS text) <> ''
    )
    SELECT after_sequence, update_time FROM moved
""")
# Was it this settlement, whose reply was lost? Its events are the first after the comment's.
SETTLED = text("""
    SELECT event.sequence - 1 AS after_sequence, event.time AS update_time
    FROM plan_round JOIN event ON event.run_id = plan_round.run_id
     AND event.type = 'plan_feedback' AND event.time = plan_round.time
    WHERE plan_round.run_id = :run_id AND token = :token AND author = 'PERSON'
""")
RELEASE = text("""
    UPDATE checkpoint SET in_flight_token = NULL, in_flight_until = NULL
    WHERE run_id = :run_id AND interrupt_id = :interrupt_id AND in_flight_token = :token
    RETURNING run_id
""")


class Reviews:
    """Shows reviews and takes feedback on them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def show(self, owner: str, run_id: str) -> Review:
        """A review as it is now. Raises ReviewNotFound."""
        wanted = {**_named(run_id), "owner": owner, "readable_s": READABLE_S}
        row = (await self._database.fetch(SHOW, wanted)).first()
        if row is None or (row.state == CheckpointState.EXPIRED and row.is_forgotten):
            raise ReviewNotFound(f"Run {run_id!r} has no plan under review.")
        return Review(
            run_id=run_id,
            session_id=row.session_id,
            status=_status(row),
            version=row.version,
            plan=plans.plan_from_json(row.plan),
            rounds=rounds_from_rows(row.rounds),
            expires_at=row.expires_at,
            is_in_flight=row.is_in_flight,
        )

    async def claim(self, feedback: Feedback, *, window_s: float) -> Claimed:
        """Take a comment to work on, for so long at most.

        Raises ReviewNotFound, ReviewApproved, CheckpointExpired, VersionConflict,
        FeedbackInProgress, MessageRequired, MessageTooLong, RoundsUsed: the first that holds.
        """
        if _unsuitable(feedback.message) is None:
            parameters = {
                **_named(feedback.run_id),
                "owner": feedback.owner,
                "session_id": feedback.session_id,
                "token": feedback.token,
                "window_s": window_s,
                "version": feedback.expected_version,
                "max_rounds": plans.MAX_ROUNDS,
            }
            for row in await self._database.fetch(CLAIM, parameters):
                return Claimed(
                    feedback=feedback,
                    session_id=row.session_id,
                    version=row.version,
                    plan=plans.plan_from_json(row.plan),
                    rounds=rounds_from_rows(row.rounds),
                    items=row.active_items or (),
                    usage=Usage(**row.usage),
                    expires_at=row.expires_at,
                )
        raise await self.refusal(feedback)

    async def settle(self, claimed: Claimed, revision: Revision) -> Settled | None:
        """Write the planner's reply, once; None when the claim is not there any more.

        The same revision may be written again when the reply to the first try was lost. Raises
        IdempotencyMismatch.
        """
        feedback = claimed.feedback
        named = _named(feedback.run_id)
        parameters = {
            **named,
            "token": feedback.token,
            "version": revision.question.version,
            "payload": as_json(revision.question.payload),
            "usage": as_json(asdict(revision.usage)),
            "rounds": as_json(_numbered(revision)),
            "events": as_json([asdict(one) for one in revision.events]),
            **feedback.request.place,
            "body_hash": feedback.request.body_hash,
        }
        rows: Rows = []
        try:
            rows = await self._database.fetch(SETTLE, parameters)
        except UniqueViolationError:
            await self.known(feedback.request)
        if not rows:
            by_token = {"run_id": feedback.run_id, "token": feedback.token}
            rows = await self._database.fetch(SETTLED, by_token)
        for row in rows:
            return Settled(after_sequence=row.after_sequence, time=row.update_time)
        return None

    async def release(self, claimed: Claimed) -> None:
        """Give a claim up; nothing else has changed."""
        feedback = claimed.feedback
        await self._database.fetch(RELEASE, {**_named(feedback.run_id), "token": feedback.token})

    async def known(self, request: Request) -> Earlier | None:
        """What the request's key did before. Raises IdempotencyMismatch."""
        async with self._database.transaction() as connection:
            return await request_keys.find(connection, request)

    async def refusal(self, feedback: Feedback) -> ServiceError:
        """Why a comment cannot be taken."""
        try:
            now = await self.show(feedback.owner, feedback.run_id)
        except ReviewNotFound as error:
            return error
        if now.status is Status.APPROVED:
            return ReviewApproved("The plan is approved already and takes no comments.")
        if now.status is Status.EXPIRED:
            return CheckpointExpired("The time to review the plan is over.")
        if feedback.expected_version not in (None, now.version):
            return version_conflict(PLAN_REVIEW, now.version, feedback.expected_version)
        if now.is_in_flight:
            return _in_progress()
        if (unsuitable := _unsuitable(feedback.message)) is not None:
            return unsuitable
        if now.plan.round >= plans.MAX_ROUNDS:
            return RoundsUsed(f"The plan had its {plans.MAX_ROUNDS} rounds; approve it.")
        # Whatever was in the way a moment ago is gone.
        return _in_progress()


def _status(row: Any) -> Status:  # a row of SHOW
    match row.state:
        case CheckpointState.ANSWERED:
            return Status.APPROVED
        case CheckpointState.EXPIRED:
            return Status.EXPIRED
        case _:
            # An expiry that is due comes in a moment.
            return Status.EXPIRED if row.is_over and not row.is_in_flight else Status.REVIEWING


def _unsuitable(message: str) -> ServiceError | None:
    """Why no planner could answer such a comment."""
    if not message.strip():
        return MessageRequired("message is required; say what is to change in the plan.")
    size = len(message.encode())
    if size > plans.MAX_MESSAGE_BYTES:
        return MessageTooLong(
            f"message has {size} bytes; the most it may have is {plans.MAX_MESSAGE_BYTES}."
        )
    return None


def _in_progress() -> FeedbackInProgress:
    return FeedbackInProgress("Another comment is being worked on; wait for the reply.")


def _named(run_id: str) -> dict[str, str]:
    return {"run_id": run_id, "interrupt_id": PLAN_REVIEW}


def rounds_from_rows(rows: Sequence[Any]) -> tuple[Round, ...]:
    """The conversation about a plan as JSON arrays of author, message, intent and time."""
    return tuple(
        Round(
            author=Author(author),
            message=message,
            intent=Intent(intent) if intent else None,
            time=datetime.fromisoformat(time),
        )
        for author, message, intent, time in rows
    )


def _numbered(revision: Revision) -> list[dict[str, Any]]:
    """The rows of a comment and of the reply: after the first plan each round has two."""
    return [
        {
            "number": 2 * revision.plan.round - 2 + place,
            "author": one.author,
            "message": one.message,
            "intent": one.intent,
        }
        for place, one in enumerate(revision.rounds)
    ]
