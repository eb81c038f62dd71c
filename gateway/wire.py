"""What travels over HTTP as JSON; requests refuse what they do not know."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from gateway.events import (
    Answer,
    CheckpointAnswered,
    Failure,
    Plan,
    Report,
    RequestInput,
    Reranked,
    RunStarted,
    RunStateChanged,
    Thought,
    ToolCall,
    ToolResult,
)

RunStateName = Literal[
    "QUEUED",
    "RUNNING",
    "AWAITING_INPUT",
    "PAUSED",
    "COMPLETED",
    "FAILED",
    "CANCELLED",
    "EXPIRED",
    "REWOUND",
]


MOST_SECONDS = 10 * 365 * 86_400


def without_nul(text: str) -> str:
    """The text, if it has no NUL character; raises ValueError."""
    if "\0" in text:
        raise ValueError("must not contain the NUL character")
    return text


def _within_order(years: "Years") -> "Years":
    if years.first is not None and years.last is not None and years.first > years.last:
        raise ValueError("'from' must not be after 'to'")
    return years


Text = Annotated[str, AfterValidator(without_nul)]
# The constraints stand first, so that white space is stripped before the length is checked.
Name = Annotated[str, StringConstraints(min_length=1, max_length=500), AfterValidator(without_nul)]
Prompt = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000),
    AfterValidator(without_nul),
]
Id = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
PassageId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8,64}$")]
LibraryName = Annotated[str, StringConstraints(pattern=r"^(user|groups/[0-9]{1,18})$")]
ItemKey = Annotated[str, StringConstraints(pattern=r"^[A-Z0-9]{8}$")]
CollectionPath = Annotated[
    str, StringConstraints(pattern=r"^(user|groups/[0-9]{1,18})/[A-Z0-9]{8}$")
]
Year = Annotated[int, Field(ge=1, le=9999)]


class Request(BaseModel):
    """A body that a client sends: types are taken as they are, unknown fields are an error."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Reply(BaseModel):
    """A body that the gateway sends."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, serialize_by_alias=True)


class ItemRef(Request):
    """A Zotero item."""

    library: LibraryName
    key: ItemKey


class Years(Request):
    """Inclusive bounds; an item without a year is outside any bound."""

    first: Year | None = Field(default=None, alias="from")
    last: Year | None = Field(default=None, alias="to")


class Scope(Request):
    """What part of the library is searched; absent restricts nothing, an empty list is nothing."""

    libraries: list[LibraryName] | None = Field(default=None, max_length=100)
    collections: list[CollectionPath] | None = Field(default=None, max_length=100)
    tags: list[Name] | None = Field(default=None, max_length=100)
    years: Annotated[Years, AfterValidator(_within_order)] | None = None
    items: list[ItemRef] | None = Field(default=None, max_length=500)
    saved_searches: list[CollectionPath] | None = Field(default=None, max_length=100)
    prefer_marked: bool = False


class TurnOptions(Request):
    """Choices for one run; what exceeds the configured limit is lowered and told as a warning."""

    max_extensions: Annotated[int, Field(ge=0, le=100)] | None = None
    hitl_enabled: bool | None = None
    strategy: Literal["quick", "standard", "deep", "academic"] | None = None
    review_plan: bool = False
    review_timeout: Annotated[int, Field(ge=1, le=MOST_SECONDS)] | None = Field(
        default=None, description="Seconds after which an unanswered review ends the run."
    )


class ChatRequest(Request):
    """A question, in a new session when none is named."""

    prompt: Prompt
    session_id: Id | None = None
    active_items: list[ItemRef] = Field(default_factory=list, max_length=100)
    scope: Scope | None = None
    options: TurnOptions | None = None


class SyncRequest(Request):
    """Asks to bring the index up to date; `full` reads the unchanged documents again too,
    `retry_failed` those that could not be read.
    """

    full: bool = False
    retry_failed: bool = False


class PageKeyRequest(Request):
    """The token of a one-time address."""

    token: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{20,100}$")]


class ErrorBody(Reply):
    """Every error: a text for a person, a stable code for a program, and facts."""

    error: str
    code: str
    detail: dict[str, str] = Field(default_factory=dict)


class PageLink(Reply):
    """An address that opens the page with its key, once, within ten minutes."""

    url: str


class PageKey(Reply):
    """The key for the page."""

    key: str


class SessionSummary(Reply):
    """A session in the list; `state` is its last run's, null before the first."""

    id: str
    title: str
    created_at: datetime
    updated_at: datetime
    state: RunStateName | None
    pending: bool


class SessionList(Reply):
    """Sessions, the latest first; `next_cursor` is null on the last page."""

    sessions: list[SessionSummary]
    next_cursor: str | None


class Step(ToolCall):
    """A tool call with its result, null while it runs."""

    result: ToolResult | None = None


class PendingCheckpoint(RequestInput):
    """The checkpoint that a run waits at."""

    invocation_id: str


class PastCheckpoint(RequestInput):
    """A checkpoint of a run; `answered` is null while it waits and when it was withdrawn."""

    answered: CheckpointAnswered | None


class PlanRound(Reply):
    """One message of the conversation about a plan."""

    author: Literal["planner", "person"]
    round: int
    message: str
    time: datetime


class ReviewedPlan(Plan):
    """The latest plan of a run, with the conversation that led to it."""

    rounds: list[PlanRound]


class Message(Reply):
    """A run as a message of its session; `last_event_id` is where to follow it from.

    `pending_hitl` is there exactly while the run waits for an answer.
    """

    invocation_id: str
    prompt: str
    created_at: datetime
    state: RunStateName
    stage: str | None
    last_event_id: str
    started: RunStarted | None
    steps: list[Step]
    thoughts: list[Thought]
    checkpoints: list[PastCheckpoint]
    pending_hitl: PendingCheckpoint | None = Field(
        default=None, exclude_if=lambda pending: pending is None
    )
    changed: RunStateChanged | None = None
    plan: ReviewedPlan | None = None
    report: Report | None = None
    rerank: Reranked | None = None
    answer: Answer | None = None
    error: Failure | None = None


class Session(Reply):
    """A session with its runs, the oldest first."""

    id: str
    title: str
    messages: list[Message]


class PageSpan(Reply):
    """Characters of a text that stand on one page; `page_index` is physical and 0-based."""

    start: int
    end: int
    page_index: int
    page_label: str


class Neighbour(Reply):
    """A passage before or after the one asked for."""

    passage_id: str
    section_path: list[str]
    text: str
    page_spans: list[PageSpan]


class Evidence(Neighbour):
    """A passage with its document."""

    document_id: str
    library: str
    item_key: str
    attachment_key: str
    title: str
    creators: list[str]
    year: str
    kind: str
    reading_state: str
    reading_reason: str
    open_uri: str | None
    select_uri: str


class Passage(Evidence):
    """A passage with its neighbours; `origin` says where it comes from."""

    origin: Literal["run", "index"]
    before: list[Neighbour]
    after: list[Neighbour]


class Liveness(Reply):
    """The process runs; what it needs of others is for the readiness to say."""

    status: Literal["healthy"] = "healthy"
    version: str
    time: datetime
    checks: dict[str, str] = Field(default_factory=dict)


class Readiness(Reply):
    """Whether questions can be taken now, and the state of each process that this needs."""

    status: Literal["ready", "not ready"]
    peers: dict[str, Literal["serving", "not_serving", "unreachable"]]
    missing: list[str] = Field(
        description="Each part of the installation that another one needs and does not reach."
    )
    live_events: bool
