"""What can go wrong in the orchestrator, for callers and between its own layers."""

from grpc import StatusCode

from services.chassis.errors import ServiceError


class UnknownSession(ServiceError):
    """No such session, or another owner's."""

    code, reason = StatusCode.NOT_FOUND, "UNKNOWN_SESSION"


class UnknownRun(ServiceError):
    """No such run, or another owner's."""

    code, reason = StatusCode.NOT_FOUND, "UNKNOWN_RUN"


class UnknownPassage(ServiceError):
    """The run gathered no such passage."""

    code, reason = StatusCode.NOT_FOUND, "UNKNOWN_PASSAGE"


class RunActive(ServiceError):
    """The session has a run that is not finished."""

    code, reason = StatusCode.FAILED_PRECONDITION, "RUN_ACTIVE"


class PendingCheckpoint(ServiceError):
    """The session waits for an answer."""

    code, reason = StatusCode.FAILED_PRECONDITION, "PENDING_CHECKPOINT"


class NoPendingCheckpoint(ServiceError):
    """The run waits for no answer."""

    code, reason = StatusCode.NOT_FOUND, "NO_PENDING_CHECKPOINT"


class StaleInterrupt(ServiceError):
    """The run does not wait for this answer, or no more; the facts say what was decided."""

    code, reason = StatusCode.FAILED_PRECONDITION, "STALE_INTERRUPT"


class NotAsked(StaleInterrupt):
    """The run has never asked that."""


class VersionConflict(ServiceError):
    """The person saw another version of the question."""

    code, reason = StatusCode.ABORTED, "VERSION_CONFLICT"


class CheckpointExpired(ServiceError):
    """The time to answer is over."""

    code, reason = StatusCode.FAILED_PRECONDITION, "CHECKPOINT_EXPIRED"


class ActionNotOffered(ServiceError):
    """The checkpoint cannot be answered so."""

    code, reason = StatusCode.INVALID_ARGUMENT, "ACTION_NOT_OFFERED"


class ReviewNotFound(ServiceError):
    """The run has no plan under review: not yet, not any more, or not for this owner."""

    code, reason = StatusCode.NOT_FOUND, "REVIEW_NOT_FOUND"


class ReviewApproved(ServiceError):
    """The plan was approved and takes no comments any more."""

    code, reason = StatusCode.FAILED_PRECONDITION, "REVIEW_APPROVED"


class FeedbackInProgress(ServiceError):
    """The planner is at work on a comment."""

    code, reason = StatusCode.ABORTED, "FEEDBACK_IN_PROGRESS"


class MessageRequired(ServiceError):
    """A comment on a plan needs words."""

    code, reason = StatusCode.INVALID_ARGUMENT, "MESSAGE_REQUIRED"


class MessageTooLong(ServiceError):
    """The comment has too many bytes."""

    code, reason = StatusCode.INVALID_ARGUMENT, "MESSAGE_TOO_LONG"


class RoundsUsed(ServiceError):
    """The plan is definitive: it can be approved only."""

    code, reason = StatusCode.FAILED_PRECONDITION, "ROUNDS_USED"


class PlannerFailed(ServiceError):
    """The planner gave no reply; nothing has changed. Not UNAVAILABLE, which channels repeat."""

    code, reason = StatusCode.ABORTED, "PLANNER_FAILED"


class NoPlan(ServiceError):
    """There is nothing to approve yet."""

    code, reason = StatusCode.FAILED_PRECONDITION, "NO_PLAN"


class ApprovalNotFound(ServiceError):
    """The run asks for no such consent."""

    code, reason = StatusCode.NOT_FOUND, "APPROVAL_NOT_FOUND"


class NotInThisState(ServiceError):
    """The run's state does not allow it; the facts say what it allows."""

    code, reason = StatusCode.FAILED_PRECONDITION, "WRONG_STATE"


class IdempotencyMismatch(ServiceError):
    """The key was used for another request."""

    code, reason = StatusCode.FAILED_PRECONDITION, "IDEMPOTENCY_MISMATCH"


class InvalidCursor(ServiceError):
    """The cursor did not come from this server."""

    code, reason = StatusCode.INVALID_ARGUMENT, "INVALID_CURSOR"


class InvalidPosition(ServiceError):
    """The sequence is no position of the run."""

    code, reason = StatusCode.INVALID_ARGUMENT, "INVALID_POSITION"


class DatabaseDown(ServiceError):
    """The database cannot be reached now; what was asked may be asked again."""

    code, reason = StatusCode.UNAVAILABLE, "DATABASE_UNAVAILABLE"

    def __init__(self, cause: str) -> None:
        super().__init__("The database cannot be reached now; try again in a moment.")
        self.cause = cause


class Stale(Exception):
    """The lease's epoch is over: somebody else holds the run, and this write did nothing."""

    def __init__(self, run_id: str, epoch: int) -> None:
        super().__init__(f"Run {run_id!r} is no longer held with epoch {epoch}.")
        self.run_id, self.epoch = run_id, epoch


class HandOver(Exception):
    """The process is stopping, or the run is to pause: it is given back at a step's border."""


class Asked(Exception):
    """The run asks a person: it waits, and its holder has left it."""


class PeerError(Exception):
    """A peer did not do its work. `code` is for programs, the text for the person who asked."""

    code = "PEER_ERROR"
    retryable = False

    def __init__(self, peer: str, message: str) -> None:
        super().__init__(message)
        self.peer = peer


class PeerUnavailable(PeerError):
    """A peer cannot be reached, after all retries that the deadline allows."""

    code, retryable = "PEER_UNAVAILABLE", True

    def __init__(self, peer: str) -> None:
        super().__init__(peer, f"The {peer} process cannot be reached; try again in a moment.")


class PeerTimeout(PeerError):
    """A peer did not answer in time."""

    code, retryable = "PEER_TIMEOUT", True

    def __init__(self, peer: str, seconds: float) -> None:
        super().__init__(peer, f"The {peer} process gave no answer within {seconds:g} seconds.")


class PeerRefused(PeerError):
    """A peer answered with an error of its own, which is kept as it is."""

    def __init__(self, peer: str, reason: str, message: str, *, retryable: bool) -> None:
        super().__init__(peer, message)
        self.code = reason
        self.retryable = retryable
