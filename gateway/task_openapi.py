"""What the framework does not know of the task wire: its streams, headers and limits."""

from typing import Any

from pydantic import BaseModel

from gateway.tasks import wire
from gateway.tasks.frames import CONTROL, END_MARK, FRAME_NAMES
from gateway.throttle import is_limited

# JSON of the OpenAPI specification, whose shape no type of ours describes.
Json = dict[str, Any]

STREAM_PATH = "/api/v1/stream/sse"
STREAM = "TaskStream"
MODELS: tuple[type[BaseModel], ...] = (
    wire.TaskEventBody,
    wire.PieceBody,
    wire.ResponseBody,
    wire.ControlBody,
    wire.LimitedBody,
)
# Every other frame is called by the type of its event and holds it.
BODIES: dict[str, type[BaseModel]] = {
    FRAME_NAMES["LLM_PARTIAL"]: wire.PieceBody,
    FRAME_NAMES["LLM_OUTPUT"]: wire.ResponseBody,
    **{FRAME_NAMES[kind]: wire.ControlBody for kind in sorted(CONTROL)},
}
RATE_HEADERS = {
    "X-RateLimit-Limit-Minute": "Requests that the key may make in a minute.",
    "X-RateLimit-Remaining-Minute": "How many of them are left.",
    "X-RateLimit-Limit-Hour": "Requests that the key may make in an hour.",
    "X-RateLimit-Remaining-Hour": "How many of them are left.",
    "X-RateLimit-Reset": "When the minute ends, in seconds since 1970.",
}
REPLAY_HEADERS = {
    "X-Idempotency-Cached": "`true` when the key was known.",
    "X-Idempotency-Key": "The key, when it was known.",
}
SUBMIT_HEADERS = {
    "X-Workflow-ID": "The id of the task.",
    "X-Session-ID": "The id of its session, as the caller chose it if it did.",
    **REPLAY_HEADERS,
}
# By operation: the success and what its reply carries beside the body.
HEADERS = {
    ("/api/v1/tasks", "post"): ("200", SUBMIT_HEADERS),
    ("/api/v1/tasks/stream", "post"): (
        "201",
        {**SUBMIT_HEADERS, "Link": "The address of the events, with `rel=stream`."},
    ),
    ("/api/v1/tasks/{task_id}", "get"): ("200", {"X-Workflow-ID": "The id of the task."}),
    ("/api/v1/tasks/{task_id}/cancel", "post"): ("202", REPLAY_HEADERS),
    ("/api/v1/tasks/{task_id}/pause", "post"): ("202", REPLAY_HEADERS),
    ("/api/v1/tasks/{task_id}/resume", "post"): ("202", REPLAY_HEADERS),
    ("/api/v1/tasks/{workflow_id}/review", "get"): (
        "200",
        {"ETag": "The version of the review, as a bare number."},
    ),
    ("/api/v1/tasks/{workflow_id}/review", "post"): (
        "200",
        {"ETag": "After feedback the new version, as a bare number."},
    ),
    ("/api/v1/approvals/decision", "post"): ("200", REPLAY_HEADERS),
}
# Where ids of a reply lead: to these operations, as this parameter, from this place of the body.
TASK = "/api/v1/tasks/{task_id}"
OF_A_TASK = (
    (TASK, "get", "task_id"),
    (f"{TASK}/events", "get", "task_id"),
    (f"{TASK}/control-state", "get", "task_id"),
    (f"{TASK}/pause", "post", "task_id"),
    (f"{TASK}/resume", "post", "task_id"),
    (f"{TASK}/cancel", "post", "task_id"),
    ("/api/v1/tasks/{workflow_id}/review", "get", "workflow_id"),
    ("/api/v1/tasks/{workflow_id}/review", "post", "workflow_id"),
)
OF_A_SESSION = (
    ("/api/v1/sessions/{session_id}", "get", "session_id"),
    ("/api/v1/sessions/{session_id}/history", "get", "session_id"),
    ("/api/v1/sessions/{session_id}/events", "get", "session_id"),
    ("/api/v1/sessions/{session_id}", "patch", "session_id"),
    ("/api/v1/sessions/{session_id}", "delete", "session_id"),
    ("/sessions/{session_id}", "get", "session_id"),
)
LINKS = (
    ("/api/v1/tasks", "post", "200", "/task_id", OF_A_TASK),
    ("/api/v1/tasks/stream", "post", "201", "/task_id", OF_A_TASK),
    ("/api/v1/tasks", "get", "200", "/tasks/0/task_id", OF_A_TASK),
    ("/api/v1/sessions", "get", "200", "/sessions/0/session_id", OF_A_SESSION),
)
REDIRECT = ("/api/v1/tasks/{task_id}/stream", "get")


def complete(operation: Json, path: str, method: str, reference: str) -> None:
    """Add to an operation of this wire what its replies carry; `reference` names a schema."""
    responses = operation["responses"]
    if (found := HEADERS.get((path, method))) is not None:
        status, headers = found
        responses[status]["headers"] = _headers(headers)
    if (path, method) == REDIRECT:
        responses["307"] = {
            "description": "The events are there.",
            "headers": _headers({"Location": "The address of the events."}),
        }
    if is_limited(method.upper(), path):
        responses["429"] = {
            "description": "The key asked too often; `Retry-After` says when to come again.",
            "headers": _headers({"Retry-After": "Seconds to wait.", **RATE_HEADERS}),
            "content": {
                "application/json": {"schema": {"$ref": reference.format(model="LimitedBody")}}
            },
        }
        for status, response in responses.items():
            if status.startswith("2"):
                response.setdefault("headers", {}).update(_headers(RATE_HEADERS))


def link(document: Json) -> None:
    """Say in the description where the ids of some replies lead."""
    paths = document["paths"]
    for path, method, status, pointer, targets in LINKS:
        links = paths[path][method]["responses"][status].setdefault("links", {})
        for target, verb, parameter in targets:
            operation = paths[target][verb]["operationId"]
            links[operation] = {
                "operationId": operation,
                "parameters": {parameter: f"$response.body#{pointer}"},
            }


def stream_schema(reference: str) -> Json:
    """The frames of a task's stream."""
    named = [_frame({"const": name}, reference, model) for name, model in BODIES.items()]
    others = {"type": "string", "not": {"enum": [*BODIES, FRAME_NAMES["STREAM_END"]]}}
    standard = _frame(others, reference, wire.TaskEventBody)
    end = {
        "type": "object",
        "required": ["event", "data"],
        "properties": {
            "id": {"type": "string"},
            "event": {"const": FRAME_NAMES["STREAM_END"]},
            "data": {"const": END_MARK},
        },
    }
    return {"oneOf": [*named, standard, end]}


def json_text(schema: Json) -> Json:
    """One line of JSON, as the data of a frame is."""
    return {"type": "string", "contentMediaType": "application/json", "contentSchema": schema}


def _frame(name: Json, reference: str, model: type[BaseModel]) -> Json:
    return {
        "type": "object",
        "required": ["id", "event", "data"],
        "properties": {
            "id": {"type": "string"},
            "event": name,
            "data": json_text({"$ref": reference.format(model=model.__name__)}),
        },
    }


def _headers(told: dict[str, str]) -> Json:
    return {
        name: {"description": text, "schema": {"type": "string"}} for name, text in told.items()
    }
