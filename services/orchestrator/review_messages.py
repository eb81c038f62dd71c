"""Requests of ReviewService as valid values, and reviews as its messages."""

from uuid import uuid4

from services.orchestrator import consent
from services.orchestrator.chat_messages import body_hash, refuse_nul, valid_id, valid_key
from services.orchestrator.checkpoint import PLAN_REVIEW, Choice
from services.orchestrator.control_messages import steering
from services.orchestrator.errors import ApprovalNotFound
from services.orchestrator.plans import Round
from services.orchestrator.store.answers import Answer
from services.orchestrator.store.request_keys import Request
from services.orchestrator.store.reviews import Feedback, Review
from zocrates.events.v1 import event_pb2 as events_pb
from zocrates.orchestrator.v1 import review_pb2 as pb


def feedback_from_proto(request: pb.SendFeedbackRequest, owner: str) -> Feedback:
    """A comment on a plan; raises InvalidRequest."""
    refuse_nul(request.message, "message")
    return Feedback(
        owner=owner,
        session_id="",
        run_id=valid_id(request.run_id, "run_id"),
        message=request.message,
        expected_version=request.expected_version if request.HasField("expected_version") else None,
        token=uuid4().hex,
        request=Request(owner=owner, route="SendFeedback", key="", body_hash=""),
    )


def approval_of(review: Review, owner: str, expected_version: int | None) -> Answer:
    """The decision that confirms a plan."""
    return Answer(
        owner=owner,
        session_id=review.session_id,
        run_id=review.run_id,
        interrupt_id=PLAN_REVIEW,
        choice=Choice.APPROVE,
        guidance="",
        expected_version=expected_version,
        idempotency_key="",
        body_hash="",
    )


def consent_from_proto(request: pb.DecideApprovalRequest, *, owner: str, session_id: str) -> Answer:
    """A decision on a step that needs consent; raises InvalidRequest, ApprovalNotFound."""
    if not consent.is_interrupt_id(request.approval_id):
        raise ApprovalNotFound(f"The run asks for no consent {request.approval_id[:80]!r}.")
    return Answer(
        owner=owner,
        session_id=session_id,
        run_id=request.run_id,
        interrupt_id=request.approval_id,
        choice=Choice.APPROVE if request.approved else Choice.REJECT,
        guidance=steering(request.feedback, "feedback"),
        expected_version=None,
        idempotency_key=valid_key(request.idempotency_key),
        body_hash=body_hash(request),
        modified_action=steering(request.modified_action, "modified_action"),
        approved_by=steering(request.approved_by, "approved_by"),
    )


def review_to_proto(review: Review) -> pb.Review:
    """A review as it is now."""
    plan = review.plan
    message = pb.Review(
        status=pb.ReviewStatus.Value(f"REVIEW_STATUS_{review.status}"),
        run_id=review.run_id,
        query=plan.query,
        round=plan.round,
        version=review.version,
        intent=events_pb.PlanIntent.Value(f"PLAN_INTENT_{plan.intent}"),
        current_plan=plan.current_plan,
        rounds=[_round(one) for one in review.rounds],
        feedback_in_progress=review.is_in_flight,
    )
    if review.expires_at is not None:
        message.expires_at.FromDatetime(review.expires_at)
    return message


def _round(one: Round) -> pb.ReviewRound:
    message = pb.ReviewRound(
        author=pb.ReviewAuthor.Value(f"REVIEW_AUTHOR_{one.author}"), message=one.message
    )
    if one.time is not None:
        message.time.FromDatetime(one.time)
    return message
