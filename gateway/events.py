"""The data of the events of a run, as published in the OpenAPI description."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

StageName = Literal["unspecified", "converse", "plan", "search", "rerank", "synthesize", "verify"]
StrategyName = Literal["unspecified", "quick", "standard", "deep", "academic"]
PlanIntentName = Literal["unspecified", "ready", "feedback"]
SupportName = Literal["unspecified", "verified", "weak", "unsupported", "unchecked"]
# What there is none of is not there, as in the events themselves.
LEFT_OUT = Field(exclude_if=lambda value: value is None)


class Data(BaseModel):
    """Part of an event."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True
    )


class Event(Data):
    """What the data of every event of a run holds."""

    session_id: str
    invocation_id: str
    sequence: int
    time: datetime


class Ceilings(Data):
    """Limits of a run, cumulative over its passes; without `tokens` language models have none."""

    calls: int
    words: int
    passages: int
    tokens: int = 0


class RunOptions(Data):
    """The options as applied."""

    max_extensions: int
    hitl_enabled: bool
    strategy: StrategyName = "unspecified"
    review_plan: bool = False


class RunStarted(Data):
    """The run began."""

    prompt: str
    options: RunOptions | None = None
    ceilings: Ceilings | None = None
    warnings: list[str]


class Stage(Data):
    """The run entered a stage."""

    stage: StageName
    in_pass: int = Field(alias="pass")


class Thought(Data):
    """Reasoning of a model."""

    agent: str
    text: str


class ToolCall(Data):
    """A tool is called; `call_number` is 0 for a call that is not counted."""

    step_id: str
    in_pass: int = Field(alias="pass")
    tool: str
    arguments: dict[str, JsonValue]
    call_number: int
    call_limit: int


class ItemRef(Data):
    """A Zotero item."""

    library: str
    key: str


class FoundPassage(Data):
    """A passage beside a tool result."""

    passage_id: str
    item: ItemRef | None = None
    title: str
    page_label: str
    snippet: str


class ToolResult(Data):
    """What a call returned and what the run has used so far."""

    step_id: str
    ok: bool
    passages: list[FoundPassage]
    words: int
    words_total: int
    word_limit: int
    notice: str | None = None


class Report(Data):
    """A pass ended."""

    in_pass: int = Field(alias="pass")
    covered_summary: str
    gaps: list[str]
    automatic: bool
    reason: str | None = None


class Reranked(Data):
    """The evidence was ranked."""

    considered: int
    kept: int
    words_kept: int
    model: str


class BudgetUsed(Data):
    """What the run has used when it asks; `documents` counts those among the passages found."""

    calls: int
    words: int
    passages_found: int
    documents: int
    tokens: int = 0


class BudgetCheckpoint(Data):
    """What a budget checkpoint is about; the passages of limits are those kept for the answer."""

    extension_number: int
    max_extensions: int
    trigger: Literal["unspecified", "agent", "gaps"]
    covered_summary: str
    gaps: list[str]
    used: BudgetUsed | None = None
    limits: Ceilings | None = None
    next_limits: Ceilings | None = None
    justification: Annotated[str | None, LEFT_OUT] = None


class Plan(Data):
    """The planner wrote a plan, or asked something before it can (`intent` is `feedback` then).

    `current_plan` is what an approval confirms; it is empty while there is none.
    """

    round: int
    version: int
    intent: PlanIntentName
    text: str
    current_plan: str
    model: str


class PlanFeedback(Data):
    """A person commented on the plan; round and version are those of the reply, the next event."""

    round: int
    version: int
    message: str
    by: str


class PlanCheckpoint(Data):
    """What a plan review is about; with `max_rounds` the plan is definitive."""

    query: str
    round: int
    max_rounds: int
    intent: PlanIntentName
    text: str
    current_plan: str


class ApprovalCheckpoint(Data):
    """What consent is asked for."""

    approval_id: str
    subject: Literal["unspecified", "research", "tool"]
    tool: str
    reason: str
    complexity: Annotated[float | None, LEFT_OUT] = None


class RequestInput(Data):
    """The run stopped and asks a person; `response_schema` is the JSON Schema of the response."""

    interrupt_id: str
    kind: Literal["unspecified", "budget", "plan_review", "approval"]
    version: int
    message: str
    expires_at: Annotated[datetime | None, LEFT_OUT] = None
    response_schema: dict[str, JsonValue]
    payload: BudgetCheckpoint | PlanCheckpoint | ApprovalCheckpoint | None = None


class CheckpointAnswered(Data):
    """A checkpoint was answered; `answered_by` is `expiry` when its time was over, and `strategy`
    when the run decides by itself.
    """

    interrupt_id: str
    action: Literal["unspecified", "extend_budget", "synthesize", "feedback", "approve", "reject"]
    guidance: Annotated[str | None, LEFT_OUT] = None
    answered_by: str
    answered_at: datetime | None = None
    modified_action: Annotated[str | None, LEFT_OUT] = None
    approved_by: Annotated[str | None, LEFT_OUT] = None


class RunStateChanged(Data):
    """Somebody changed the run from outside; or a task ended, which is its last event."""

    change: Literal[
        "unspecified",
        "cancelled",
        "rewound",
        "retried",
        "paused",
        "resumed",
        "completed",
        "failed",
        "expired",
    ]
    by: str
    reason: Annotated[str | None, LEFT_OUT] = None


class AnswerReset(Data):
    """The text streamed so far is void."""

    attempt: int


class AnswerDelta(Data):
    """A piece of the answer; `offset` counts the characters (code points) before it."""

    text: str
    attempt: int
    offset: int


class Citation(Data):
    """A checked citation; `page_index` is physical and 0-based, -1 for a text without pages."""

    number: int
    passage_id: str
    library: str
    item_key: str
    attachment_key: str
    title: str
    creators: list[str]
    year: str
    page_label: str
    page_index: int
    quote: str
    support: SupportName
    score: float
    judged_by: str
    open_uri: str
    select_uri: str
    statement: str
    reading_state: Literal["unspecified", "full", "partial", "abstract_only", "unreadable"]


class SupportCounts(Data):
    """How many citations have each level of support."""

    verified: int
    weak: int
    unsupported: int
    unchecked: int


class Usage(Data):
    """What the run used."""

    calls: int
    words: int
    passages: int
    input_tokens: int
    output_tokens: int
    cost: float | None = None
    seconds: float


class Answer(Data):
    """The final, checked answer; it replaces the streamed text."""

    markdown: str
    citations: list[Citation]
    gaps: list[str]
    support: SupportCounts | None = None
    usage: Usage | None = None
    answered: bool
    model: str


class Failure(Data):
    """The run failed; without an id, only the stream broke off and can be resumed."""

    code: str
    message: str
    retryable: bool


class Done(Data):
    """The stream ends; the run is in this state, `DELETED` when its session is no more."""

    state: Literal[
        "AWAITING_INPUT",
        "PAUSED",
        "COMPLETED",
        "FAILED",
        "CANCELLED",
        "EXPIRED",
        "REWOUND",
        "DELETED",
    ]
