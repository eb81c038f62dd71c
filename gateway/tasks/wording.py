"""How the task wire says no: its own texts and statuses beside the codes of both wires."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from gateway.errors import GatewayError

CONFLICT, NOT_THERE, MALFORMED = 409, 404, 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A refusal as this wire has it."""

    status: int
    text: str


Wording = Mapping[str, Said]

NO_TASK = "Task not found"
NO_SESSION = "Session not found"
NO_REVIEW = "Review session not found or expired"
NO_APPROVAL = "Workflow or approval not found"

TASK: Wording = {
    "UNKNOWN_RUN": Said(status=NOT_THERE, text=NO_TASK),
    "UNKNOWN_SESSION": Said(status=NOT_THERE, text=NO_SESSION),
}
REVIEW: Wording = {
    "UNKNOWN_RUN": Said(status=NOT_THERE, text=NO_REVIEW),
    "REVIEW_NOT_FOUND": Said(status=NOT_THERE, text=NO_REVIEW),
    "CHECKPOINT_EXPIRED": Said(
        status=CONFLICT, text="The review timed out; submit the task again."
    ),
}
FEEDBACK: Wording = {
    **REVIEW,
    "REVIEW_APPROVED": Said(status=CONFLICT, text="Review already approved"),
    "VERSION_CONFLICT": Said(status=CONFLICT, text="Conflict: state has been modified"),
    "FEEDBACK_IN_PROGRESS": Said(
        status=CONFLICT, text="Another feedback request is in progress. Please wait."
    ),
    "MESSAGE_REQUIRED": Said(status=MALFORMED, text="message is required for feedback"),
    "MESSAGE_TOO_LONG": Said(status=MALFORMED, text="message exceeds maximum length (10KB)"),
    "ROUNDS_USED": Said(
        status=CONFLICT, text="Maximum review rounds reached. Please approve the plan."
    ),
    "PLANNER_FAILED": Said(status=502, text="Failed to generate updated plan"),
}
APPROVE: Wording = {
    **REVIEW,
    "VERSION_CONFLICT": Said(
        status=CONFLICT,
        text="Conflict: plan has been updated. Please review the latest version.",
    ),
    "FEEDBACK_IN_PROGRESS": Said(
        status=CONFLICT,
        text="A feedback request is in progress. Please wait and try again.",
    ),
    "NO_PLAN": Said(
        status=MALFORMED,
        text="No research plan to approve. Please provide feedback to generate a plan first.",
    ),
}
APPROVAL: Wording = {
    "UNKNOWN_RUN": Said(status=NOT_THERE, text=NO_APPROVAL),
    "APPROVAL_NOT_FOUND": Said(status=NOT_THERE, text=NO_APPROVAL),
    "CHECKPOINT_EXPIRED": Said(status=CONFLICT, text="The time to decide is over."),
}

BODY = "Invalid request body"
PLACES = {
    ("path", "task_id"): "Invalid task ID format",
    ("path", "workflow_id"): "Invalid workflow ID format",
    ("path", "session_id"): "Invalid session ID format",
    ("query", "workflow_id"): "Invalid or missing workflow_id",
    ("query", "last_event_id"): "Invalid last_event_id",
}


@contextmanager
def worded(wording: Wording) -> Iterator[None]:
    """Say what goes wrong inside in these words; what has none is said as on the other wire."""
    try:
        yield
    except GatewayError as error:
        if (said := wording.get(error.code)) is None:
            raise
        raise GatewayError(
            error.code,
            said.text,
            status=said.status,
            detail=error.detail,
            headers=error.headers,
        ) from error


def invalid(place: str, found: GatewayError) -> GatewayError:
    """What is malformed in a request, as this wire says it: where, then what the other wire says.

    Its clients know the beginning; a body that is no JSON object has no more to it.
    """
    field = found.detail.get("field", "")
    text = BODY if place == "body" else PLACES.get((place, field), f"Invalid {field}")
    if field and (place, field) not in PLACES:
        text = f"{text}: {found.text[0].lower()}{found.text[1:]}"
    return GatewayError(found.code, text, detail=found.detail)


def malformed(text: str, field: str = "") -> GatewayError:
    """A request that is well formed but cannot be meant."""
    return GatewayError("INVALID_REQUEST", text, detail={"field": field} if field else {})
