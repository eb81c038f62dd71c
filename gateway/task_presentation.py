"""Tasks, reviews and their events as lines of plain text; pure."""

from collections.abc import Iterable
from datetime import datetime

from gateway.plain_text import clean, one_line, paragraphs
from gateway.sse import ServerEvent
from gateway.tasks import wire

WAYS = {
    "plan_review": "zocrates task review {id}",
    "budget": "zocrates resume {session}",
    "approval": "zocrates resume {session}",
}


# What helps when a command on a task is refused; the wire's own words name its requests instead.
NO_TASK = "There is no task {id!r}; `zocrates task list` shows yours."
SEE = "`zocrates task status {id}` says how the task is."
HELP = {
    "UNKNOWN_RUN": NO_TASK,
    "NOT_FOUND": NO_TASK,
    "REVIEW_NOT_FOUND": f"No plan is under review there; {SEE}",
    "VERSION_CONFLICT": "The plan has another version by now: zocrates task review {id}",
    "FEEDBACK_IN_PROGRESS": "The planner still replies to a comment; try again in a moment.",
    "REVIEW_APPROVED": f"The plan is approved already; {SEE}",
    "ROUNDS_USED": "The plan had its last round; approve it: zocrates task approve {id}",
    "NO_PLAN": "There is no plan to approve yet; answer the planner: zocrates task feedback {id}",
    "MESSAGE_REQUIRED": "The message is empty; say what should be different in the plan.",
    "MESSAGE_TOO_LONG": "The message is longer than 10,240 bytes; shorten it.",
    "CHECKPOINT_EXPIRED": "The review timed out; submit the task again.",
    "PLANNER_FAILED": "The planner gave no reply and the plan is as it was; comment again.",
    "WRONG_STATE": f"It is not the time for that ({{text}}); {SEE}",
}
IDS = frozenset({"task_id", "workflow_id"})


def refused_line(task_id: str, code: str, text: str, field: str = "") -> str:
    """Why a command on a task was refused and what helps; else the gateway's own words."""
    if code == "INVALID_REQUEST" and field in IDS:
        code = "UNKNOWN_RUN"
    shown = one_line(task_id, 40)
    return HELP.get(code, "{text}").format(id=shown, text=text)


def submitted_lines(task: wire.Submitted) -> Iterable[str]:
    """The id of a new task, and what of it was not taken as given."""
    for warning in task.warnings:
        instead = f"; {warning.used} is used" if warning.used else ""
        code = warning.code.lower().replace("_", " ")
        yield f"! {warning.field} {one_line(warning.given, 80)}: {code}{one_line(instead, 80)}"
    yield task.task_id


def task_lines(task: wire.Task) -> Iterable[str]:
    """A task with its answer, or with what it waits for."""
    yield f"Task     {task.task_id}"
    yield f"Status   {_status(task.status)}"
    yield f"Query    {one_line(task.query, 200)}"
    yield f"Session  {task.session_id}"
    yield f"Started  {_when(task.started_at or task.created_at)}"
    if task.waiting_for is not None:
        waits = task.waiting_for
        yield f"Waits    {one_line(waits.message, 200)}"
        way = WAYS.get(waits.kind, WAYS["budget"])
        yield f"         {way.format(id=task.task_id, session=task.session_id)}"
    if task.error:
        yield f"Error    {one_line(task.error, 300)}"
    if task.result:
        yield ""
        yield from clean(task.result).strip().split("\n")


def list_lines(page: wire.TaskList) -> Iterable[str]:
    """Tasks, one a line."""
    for task in page.tasks:
        when, status = _when(task.created_at), _status(task.status)
        yield f"{task.task_id}  {when}  {status:<10}  {one_line(task.query, 80)}"
    if not page.tasks:
        yield 'No tasks; submit one with: zocrates task submit "…"'
    elif page.total_count > len(page.tasks):
        yield f"These are {len(page.tasks)} of {page.total_count}; --limit shows more."


def review_lines(review: wire.Review) -> Iterable[str]:
    """The conversation about a plan and the plan that an approval confirms."""
    yield f"Review   {review.status}, round {review.round}, version {review.version}"
    yield f"Query    {one_line(review.query, 200)}"
    for said in review.rounds:
        yield ""
        yield "Planner" if said.role == "assistant" else "You"
        yield from paragraphs(said.message)
    yield ""
    if not review.current_plan:
        yield "There is no plan to approve yet: answer the planner with feedback."
    elif review.current_plan != review.rounds[-1].message:
        yield "An approval confirms"
        yield from paragraphs(review.current_plan)


def event_lines(event: ServerEvent) -> Iterable[str]:
    """An event of a task's stream; pieces of the answer are left to the whole one."""
    match event.name:
        case "thread.message.delta" | "done":
            return
        case "thread.message.completed":
            yield from ["", *clean(str(event.data.get("response", ""))).strip().split("\n"), ""]
        case name:
            kind = str(event.data.get("type", name))
            agent = event.data.get("agent_id")
            said = one_line(str(event.data.get("message", "")), 200)
            yield f"{kind}{f' [{one_line(str(agent), 40)}]' if agent else ''} {said}".rstrip()


def _status(status: str) -> str:
    return status.removeprefix("TASK_STATUS_").lower()


def _when(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"
