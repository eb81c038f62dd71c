"""What travels as JSON about sessions on the task wire."""

from datetime import datetime

from pydantic import Field

from gateway.tasks.wire import Absent, Context, Reply, Request, TaskStatus, Words

MOST_TITLE = 60


class TaskSession(Reply):
    """A session with what its runs came to."""

    session_id: str
    user_id: str
    title: str | None = Absent
    task_count: int
    tokens_used: int
    created_at: datetime
    updated_at: datetime
    context: Context | None = Absent
    is_research_session: bool
    research_strategy: str | None = Absent


class ListedSession(TaskSession):
    """A session in a list."""

    last_activity_at: datetime
    is_active: bool
    successful_tasks: int
    failed_tasks: int
    success_rate: float | None = Absent
    total_cost_usd: float
    average_cost_per_task: float | None = Absent
    latest_task_query: str | None = Absent
    latest_task_status: TaskStatus | None = Absent
    first_task_mode: str | None = Absent


class SessionPage(Reply):
    """A page of sessions, the latest first."""

    sessions: list[ListedSession]
    total_count: int


class PastTask(Reply):
    """A task in the history of its session; the status is without its prefix here."""

    task_id: str
    workflow_id: str
    query: str
    status: str
    mode: str | None = Absent
    result: str | None = Absent
    error_message: str | None = Absent
    total_tokens: int
    total_cost_usd: float
    duration_ms: int | None = Absent
    agents_used: int
    tools_invoked: int
    started_at: datetime
    completed_at: datetime | None = Absent
    metadata: Context


class SessionHistory(Reply):
    """The tasks of a session, the oldest first."""

    session_id: str
    tasks: list[PastTask]
    total: int


class TurnEvent(Reply):
    """An event of a turn; its payload is JSON as text here."""

    workflow_id: str
    type: str
    agent_id: str | None = Absent
    message: str | None = Absent
    payload: str | None = Absent
    timestamp: datetime
    seq: int
    stream_id: str


class Turn(Reply):
    """A task of a session with its events."""

    turn: int
    task_id: str
    user_query: str
    final_output: str
    timestamp: datetime
    events: list[TurnEvent]
    metadata: Context


class SessionTurns(Reply):
    """A page of a session's turns; `count` counts those of all pages."""

    session_id: str
    count: int
    turns: list[Turn]


class TitleRequest(Request):
    """A session's new title, 1 to 60 characters."""

    title: Words = Field(default="", json_schema_extra={"minLength": 1, "maxLength": MOST_TITLE})


class Titled(Reply):
    """A session and its title."""

    session_id: str
    title: str
