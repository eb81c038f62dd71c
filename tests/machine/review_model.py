"""What a review must be after what was done to it, worked out without the code under test."""

from dataclasses import dataclass

from services.orchestrator.errors import (
    CheckpointExpired,
    FeedbackInProgress,
    NoPlan,
    ReviewApproved,
    ReviewNotFound,
    RoundsUsed,
    StaleInterrupt,
    VersionConflict,
)

ROUNDS = 10


@dataclass(eq=False, slots=True, kw_only=True)
class ReviewModel:
    """One review."""

    said: list[str]
    has_plan: bool
    run_state: str = "AWAITING_INPUT"
    state: str = "PENDING"
    version: int = 1
    round: int = 1
    # The token of the comment that the planner is at work on, and whether its time is over.
    in_flight: str = ""
    has_lapsed: bool = False
    is_over: bool = False

    @property
    def is_in_flight(self) -> bool:
        """Whether a comment keeps others out."""
        return bool(self.in_flight) and not self.has_lapsed

    @property
    def expires(self) -> bool:
        """Whether the next look at deadlines ends it."""
        return self.state == "PENDING" and self.is_over and not self.is_in_flight

    def takes(self, token: str) -> bool:
        """Whether the reply to this comment still counts."""
        return self.state == "PENDING" and self.in_flight == token

    def refuses_comment(self, *, is_stale: bool) -> type[Exception] | None:
        """Why a comment is refused: the first reason that holds."""
        refusals = (
            (self.state == "WITHDRAWN", ReviewNotFound),
            (self.state == "ANSWERED", ReviewApproved),
            (self.state == "EXPIRED" or self.expires, CheckpointExpired),
            (is_stale, VersionConflict),
            (self.is_in_flight, FeedbackInProgress),
            (self.round >= ROUNDS, RoundsUsed),
        )
        return next((kind for holds, kind in refusals if holds), None)

    def refuses_approval(self, *, is_stale: bool) -> type[Exception] | None:
        """Why an approval is refused: the first reason that holds."""
        refusals = (
            (
                self.state == "EXPIRED" or (self.state == "PENDING" and self.is_over),
                CheckpointExpired,
            ),
            (self.state != "PENDING", StaleInterrupt),
            (is_stale, VersionConflict),
            (self.is_in_flight, FeedbackInProgress),
            (not self.has_plan, NoPlan),
        )
        return next((kind for holds, kind in refusals if holds), None)

    def settle(self, said: list[str], *, is_ready: bool) -> None:
        """The planner's reply was written."""
        self.said += said
        self.version += 1
        self.round += 1
        self.has_plan = self.has_plan or is_ready
        self.in_flight, self.has_lapsed = "", False

    def approve(self) -> None:
        """The plan was approved; nobody works on the run yet."""
        self.state, self.run_state = "ANSWERED", "QUEUED"

    def end(self, run_state: str, state: str) -> None:
        """The run has ended; a decision that was taken before stays."""
        self.run_state = run_state
        if self.state == "PENDING":
            self.state = state

    def ask_again(self) -> None:
        """The question that was withdrawn waits again, without the deadline it had."""
        self.state, self.run_state, self.is_over = "PENDING", "AWAITING_INPUT", False
        self.version += 1
        # A comment on the question that was withdrawn is none on this one.
        self.in_flight, self.has_lapsed = "", False
