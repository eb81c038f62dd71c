"""Deciding at a checkpoint, and changing runs and sessions from outside: what travels as JSON."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from gateway.events import Ceilings
from gateway.wire import (
    Evidence,
    Id,
    PendingCheckpoint,
    Reply,
    Request,
    RunStateName,
    Session,
    Text,
    without_nul,
)

MOST_GUIDANCE = 2_000
MOST_COMMENT = 65_536

Title = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    AfterValidator(without_nul),
]
Steering = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=MOST_GUIDANCE),
    AfterValidator(without_nul),
]
# As long as a body may be: how much a plan takes is for the review to say.
Comment = Annotated[Text, Field(max_length=MOST_COMMENT)]
InterruptId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,79}$")]
Version = Annotated[int, Field(ge=1, le=2**31 - 1)]
Action = Annotated[
    Text,
    Field(
        max_length=100,
        examples=["extend_budget", "synthesize", "feedback", "approve", "reject"],
    ),
]


class Decision(Request):
    """What a person decides: `extend_budget` or `synthesize` at a budget checkpoint, `feedback` or
    `approve` on a plan, `approve` or `reject` where consent is asked for.
    """

    action: Action
    guidance: Steering | None = Field(default=None, description="Steering for the search agent.")
    message: Comment | None = Field(
        default=None, description="The feedback on a plan; nothing else takes one."
    )


class ResumeRequest(Request):
    """The decision on the checkpoint that a run waits at."""

    session_id: Id
    invocation_id: Id
    interrupt_id: InterruptId
    response: Decision
    expected_version: Version | None = Field(
        default=None,
        description="The version of the checkpoint that the person saw; a plan asks for it.",
    )


class RunRequest(Request):
    """Names a run of the session."""

    invocation_id: Id


class RenameRequest(Request):
    """A session's new title."""

    title: Title


class Snapshot(Reply):
    """What a run had found and used when it stopped to ask."""

    covered_summary: str
    gaps: list[str]
    extension_count: int
    call_count: int
    word_count: int
    extension_requested: bool
    completed_extensions: list[int]
    ceilings: Ceilings
    seen_passage_ids: list[str]
    seen_assets: list[str]
    evidence: list[Evidence]


class Checkpoint(PendingCheckpoint):
    """The checkpoint that a run waits at, with what it is about."""

    snapshot: Snapshot


class Rewound(Reply):
    """The runs that were taken back, the oldest first, and the session without them."""

    rewound: list[str]
    session: Session


class RunStanding(Reply):
    """A run and the state that it is now in."""

    session_id: str
    invocation_id: str
    state: RunStateName
