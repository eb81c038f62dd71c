"""What travels as JSON on the task wire; fields that are not known are ignored in requests."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    model_validator,
)

from gateway.wire import without_nul

ID_PATTERN = r"^[A-Za-z0-9:_\-.]{1,128}$"
MOST_REASON = 2_000

WireId = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
Words = Annotated[str, AfterValidator(without_nul)]
Reason = Annotated[str, StringConstraints(max_length=MOST_REASON), AfterValidator(without_nul)]
# What there is none of is left out.
Absent = Field(default=None, exclude_if=lambda value: value is None)

TaskStatus = Literal[
    "TASK_STATUS_UNSPECIFIED",
    "TASK_STATUS_QUEUED",
    "TASK_STATUS_RUNNING",
    "TASK_STATUS_PAUSED",
    "TASK_STATUS_COMPLETED",
    "TASK_STATUS_FAILED",
    "TASK_STATUS_CANCELLED",
    "TASK_STATUS_TIMEOUT",
]
# JSON of whoever submitted the task.
Context = dict[str, JsonValue]


def allowed(*values: str) -> dict[str, Any]:
    """Published with a field; what else is sent is refused in the words of this wire."""
    return {"json_schema_extra": {"enum": list(values)}}


class Request(BaseModel):
    """A body that a client sends: types are taken as they are."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, body: Any) -> Any:
        # Whatever was sent, hence Any. A field that is null is one that was left out.
        if not isinstance(body, dict):
            return body
        return {name: value for name, value in body.items() if value is not None}


class Reply(BaseModel):
    """A body that the gateway sends."""

    model_config = ConfigDict(frozen=True)


class TaskRequest(Request):
    """A task to submit."""

    query: Words = Field(default="", max_length=20_000, json_schema_extra={"minLength": 1})
    session_id: Words = Field(default="", json_schema_extra={"pattern": ID_PATTERN})
    context: Context | None = None
    mode: Words = Field(default="", **allowed("simple", "standard", "complex", "supervisor"))
    skill: Words = Field(default="", description="None is known here, so any is refused.")
    model_tier: Words = Field(default="", **allowed("small", "medium", "large"))
    model_override: Words = Field(default="", max_length=200)
    provider_override: Words = ""
    research_strategy: Words = Field(default="", **allowed("quick", "standard", "deep", "academic"))
    max_iterations: int | None = Field(
        default=None, json_schema_extra={"minimum": 1, "maximum": 50}
    )
    max_concurrent_agents: int | None = Field(
        default=None, json_schema_extra={"minimum": 1, "maximum": 20}
    )
    enable_verification: bool | None = None


class Warned(Reply):
    """Something of a request that was not taken as it was given."""

    code: str
    field: str
    given: str
    used: str


class Submitted(Reply):
    """A task was submitted; `status` says that the call went well, not how the task is."""

    task_id: str
    workflow_id: str
    status: Literal["STATUS_CODE_OK"] = "STATUS_CODE_OK"
    message: str
    created_at: datetime
    warnings: list[Warned]


class SubmittedStream(Submitted):
    """A task was submitted, and its events are at a relative address."""

    stream_url: str


class TokenUsage(Reply):
    """What a task's models read and wrote."""

    total_tokens: int
    input_tokens: int
    output_tokens: int
    estimated_cost: float | None = Absent


class Waiting(Reply):
    """What a task waits for: a review of its plan, consent, or more search."""

    interrupt_id: str
    kind: str
    version: int
    message: str
    expires_at: datetime | None = Absent


class Task(Reply):
    """A task as it is now; `error` and `error_message` are the same, for an end without success."""

    task_id: str
    workflow_id: str
    status: TaskStatus
    result: str | None = Absent
    response: Context | None = Absent
    error: str | None = Absent
    error_message: str | None = Absent
    error_code: str | None = Absent
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None = Absent
    completed_at: datetime | None = Absent
    query: str
    session_id: str
    mode: str | None = Absent
    context: Context | None = Absent
    model_used: str | None = Absent
    provider: str | None = Absent
    usage: TokenUsage | None = Absent
    metadata: Context
    approval_id: str | None = Absent
    waiting_for: Waiting | None = Absent


class ListedUsage(Reply):
    """What a listed task used."""

    total_tokens: int
    cost_usd: float
    prompt_tokens: int
    completion_tokens: int


class ListedTask(Reply):
    """A task in a list."""

    task_id: str
    query: str
    status: TaskStatus
    mode: str
    created_at: datetime
    completed_at: datetime | None = Absent
    total_token_usage: ListedUsage


class TaskList(Reply):
    """A page of tasks, the latest first; `total_count` counts those of all pages."""

    tasks: list[ListedTask]
    total_count: int


class TaskEventBody(Reply):
    """An event as streams and histories hold it."""

    workflow_id: str
    type: str
    agent_id: str | None = Absent
    message: str | None = Absent
    payload: Context | None = Absent
    timestamp: datetime
    seq: int
    stream_id: str


class TaskEvents(Reply):
    """A page of a task's events, in order."""

    events: list[TaskEventBody]
    count: int


class ReasonRequest(Request):
    """Why something is done to a task."""

    reason: Reason = ""


class Controlled(Reply):
    """Whether what was asked for happens."""

    success: bool
    message: str
    task_id: str


class ControlState(Reply):
    """What was done to a task from outside; empty when never."""

    is_paused: bool
    is_cancelled: bool
    paused_at: str
    pause_reason: str
    paused_by: str
    cancel_reason: str
    cancelled_by: str


class ReviewRequest(Request):
    """Feedback on a plan, or its approval."""

    action: Words = Field(default="", **allowed("feedback", "approve"))
    message: Words = Field(default="", description="The feedback, 1 to 10,240 bytes.")


class Round(Reply):
    """One message of the conversation about a plan."""

    role: Literal["assistant", "user"]
    message: str
    timestamp: str


class Review(Reply):
    """A review as it is now; `current_plan` is what an approval confirms."""

    status: Literal["reviewing", "approved"]
    round: int
    version: int
    current_plan: str
    rounds: list[Round]
    query: str
    intent: Literal["feedback", "ready"]


class PlanReply(Reply):
    """What the planner replied to feedback."""

    message: str
    round: int
    version: int
    intent: Literal["feedback", "ready"]


class Revised(Review):
    """A review after feedback."""

    plan: PlanReply


class Approved(Reply):
    """The plan is approved and the research begins."""

    status: Literal["approved"] = "approved"
    message: Literal["Research started"] = "Research started"


class ApprovalRequest(Request):
    """A decision on a step that needs consent; `approved` has no default."""

    workflow_id: Words = ""
    approval_id: Words = ""
    approved: bool | None = None
    run_id: Words = ""
    feedback: Reason = ""
    modified_action: Reason = ""
    approved_by: Reason = ""


class Approval(Reply):
    """The decision was taken."""

    status: Literal["sent"] = "sent"
    success: bool
    message: str
    workflow_id: str
    run_id: str
    approval_id: str


class LimitedBody(Reply):
    """The key asked too often: in which window, and when to come again."""

    error: str
    code: str
    detail: dict[str, str]
    message: str
    window: Literal["minute", "hour", "day"]


class PieceBody(Reply):
    """A piece of the answer while it is written; its ids are those of the last event."""

    delta: str
    workflow_id: str
    agent_id: str
    seq: int
    stream_id: str | None = Absent


class ResponseBody(Reply):
    """The answer, whole."""

    response: str
    workflow_id: str
    agent_id: str
    seq: int
    stream_id: str | None = Absent
    metadata: Context


class ControlBody(Reply):
    """Somebody paused, resumed or cancelled the task; `checkpoint` is the stage it was in."""

    workflow_id: str
    agent_id: str
    message: str
    checkpoint: str | None = Absent
    was_paused: bool | None = Absent
