"""ReviewService: validate, call the store or the planner, answer."""

from services.chassis.server import Context, owner_of
from services.orchestrator.chat_messages import valid_id
from services.orchestrator.errors import (
    ApprovalNotFound,
    CheckpointExpired,
    NotAsked,
    ReviewNotFound,
    StaleInterrupt,
    UnknownRun,
)
from services.orchestrator.review_messages import (
    approval_of,
    consent_from_proto,
    feedback_from_proto,
    review_to_proto,
)
from services.orchestrator.reviewing import Reviewing
from services.orchestrator.signals import Signals
from services.orchestrator.store.checkpoints import Checkpoints
from services.orchestrator.store.reviews import Review, Reviews, Status
from services.orchestrator.store.sessions import Sessions
from zocrates.orchestrator.v1 import review_pb2 as pb
from zocrates.orchestrator.v1 import review_pb2_grpc as rpc

SERVICE = "zocrates.orchestrator.v1.ReviewService"


class ReviewServicer(rpc.ReviewServiceServicer):
    """Reviews by run id alone; what belongs to another owner does not exist."""

    def __init__(
        self,
        reviews: Reviews,
        checkpoints: Checkpoints,
        sessions: Sessions,
        reviewing: Reviewing,
        signals: Signals,
    ) -> None:
        self._reviews = reviews
        self._checkpoints = checkpoints
        self._sessions = sessions
        self._reviewing = reviewing
        self._signals = signals

    async def GetReview(
        self, request: pb.GetReviewRequest, context: Context
    ) -> pb.GetReviewResponse:
        """A review as it is now."""
        review = await self._reviews.show(owner_of(context), valid_id(request.run_id, "run_id"))
        return pb.GetReviewResponse(review=review_to_proto(review))

    async def SendFeedback(
        self, request: pb.SendFeedbackRequest, context: Context
    ) -> pb.SendFeedbackResponse:
        """Let the planner reply to a comment."""
        replied = await self._reviewing.feedback(feedback_from_proto(request, owner_of(context)))
        return pb.SendFeedbackResponse(
            message=replied.review.plan.text, review=review_to_proto(replied.review)
        )

    async def Approve(self, request: pb.ApproveRequest, context: Context) -> pb.ApproveResponse:
        """Confirm the current plan; the run goes on at once."""
        owner, run_id = owner_of(context), valid_id(request.run_id, "run_id")
        expected = request.expected_version if request.HasField("expected_version") else None
        review = await self._decidable(owner, run_id)
        if review.status is Status.APPROVED:
            return pb.ApproveResponse(already=True)
        try:
            await self._checkpoints.decide(approval_of(review, owner, expected))
        except (StaleInterrupt, UnknownRun) as error:
            # Somebody was faster: approved the plan too, or withdrew the question.
            if (await self._decidable(owner, run_id)).status is Status.APPROVED:
                return pb.ApproveResponse(already=True)
            raise ReviewNotFound(f"Run {run_id!r} has no plan under review.") from error
        await self._signals.work()
        return pb.ApproveResponse(already=False)

    async def DecideApproval(
        self, request: pb.DecideApprovalRequest, context: Context
    ) -> pb.DecideApprovalResponse:
        """Give or refuse consent; the run goes on at once."""
        owner, run_id = owner_of(context), valid_id(request.run_id, "run_id")
        try:
            session_id = await self._sessions.session_of(owner, run_id)
            answer = consent_from_proto(request, owner=owner, session_id=session_id)
            decided = await self._checkpoints.decide(answer)
        except (UnknownRun, NotAsked) as error:
            name = request.approval_id[:80]
            raise ApprovalNotFound(f"Run {run_id!r} asks for no consent {name!r}.") from error
        await self._signals.work()
        return pb.DecideApprovalResponse(
            session_id=session_id,
            after_sequence=decided.after_sequence,
            replayed=decided.replayed,
        )

    async def _decidable(self, owner: str, run_id: str) -> Review:
        """A review that is not over. Raises ReviewNotFound, CheckpointExpired."""
        review = await self._reviews.show(owner, run_id)
        if review.status is Status.EXPIRED:
            raise CheckpointExpired("The time to review the plan is over.")
        return review
