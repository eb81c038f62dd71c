"""The published description: what FastAPI knows, plus our errors and the events of the streams."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from gateway import events, library_wire, task_openapi, wire

REFERENCE = "#/components/schemas/{model}"
STREAMS = {
    ("/chat", "post"): "RunStream",
    ("/chat/resume", "post"): "RunStream",
    ("/sessions/{session_id}/retry", "post"): "RunStream",
    ("/sessions/{session_id}/runs/{invocation_id}/events", "get"): "RunStream",
    ("/library/sync", "post"): "SyncStream",
    (task_openapi.STREAM_PATH, "get"): task_openapi.STREAM,
}
PLAIN_TEXT = {("/metrics", "get")}
OPEN = frozenset({"/health", "/readiness", "/metrics", "/page-key"})

EVENT_DATA: dict[str, type[BaseModel]] = {
    "run_started": events.RunStarted,
    "stage": events.Stage,
    "thought": events.Thought,
    "tool_call": events.ToolCall,
    "tool_result": events.ToolResult,
    "report": events.Report,
    "rerank": events.Reranked,
    "plan": events.Plan,
    "plan_feedback": events.PlanFeedback,
    "request_input": events.RequestInput,
    "checkpoint_answered": events.CheckpointAnswered,
    "run_state": events.RunStateChanged,
    "answer_reset": events.AnswerReset,
    "answer_delta": events.AnswerDelta,
    "answer": events.Answer,
    "snapshot": wire.Message,
    "error": events.Failure,
    "done": events.Done,
}

# JSON of the OpenAPI specification, whose shape no type of ours describes.
Json = dict[str, Any]


def describe(app: FastAPI) -> None:
    """Make the application publish the complete description."""
    app.openapi = lambda: _description(app)  # type: ignore[method-assign]  # FastAPI's documented way


def _description(app: FastAPI) -> Json:
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, routes=app.routes)
        components = document.setdefault("components", {})
        schemas = components.setdefault("schemas", {})
        _drop_framework_errors(document, schemas)
        schemas.update(_schemas())
        components["securitySchemes"] = {
            "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            "bearer": {"type": "http", "scheme": "bearer"},
            "address": {"type": "apiKey", "in": "query", "name": "api_key"},
            "token": {"type": "apiKey", "in": "query", "name": "token"},
        }
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                _complete(operation, path, method)
        task_openapi.link(document)
        app.openapi_schema = document
    return app.openapi_schema


def _drop_framework_errors(document: Json, schemas: Json) -> None:
    """The framework promises 422 bodies that the gateway never sends."""
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for operations in document["paths"].values():
        for operation in operations.values():
            operation["responses"].pop("422", None)


def _complete(operation: Json, path: str, method: str) -> None:
    responses = operation["responses"]
    if (stream := STREAMS.get((path, method))) is not None:
        responses["200"] = {
            "description": "Server-sent events; the schema describes each frame.",
            "content": {"text/event-stream": {"schema": {"$ref": _reference(stream)}}},
        }
    if (path, method) in PLAIN_TEXT:
        responses["200"]["content"] = {"text/plain": {"schema": {"type": "string"}}}
    responses["default"] = {
        "description": "Any failure; `code` is stable, `error` is for people.",
        "content": {"application/json": {"schema": {"$ref": _reference("ErrorBody")}}},
    }
    task_openapi.complete(operation, path, method, REFERENCE)
    operation["security"] = [] if path in OPEN else [{"key": []}, {"bearer": []}]
    if path == task_openapi.STREAM_PATH:
        operation["security"] += [{"address": []}, {"token": []}]


def _schemas() -> Json:
    """The error body, the data of each event, and the frames of each stream."""
    data: list[type[BaseModel]] = [wire.ErrorBody, library_wire.SyncProgress, events.Event]
    data += [*EVENT_DATA.values(), *task_openapi.MODELS]
    _, document = models_json_schema(
        [(model, "serialization") for model in data], ref_template=REFERENCE
    )
    schemas: Json = document["$defs"]
    frames = {name: _frame(name, model, schemas) for name, model in EVENT_DATA.items()}
    schemas.update({f"Frame_{name}": frame for name, frame in frames.items()})
    schemas["RunStream"] = {"oneOf": [{"$ref": _reference(f"Frame_{name}")} for name in frames]}
    schemas[task_openapi.STREAM] = task_openapi.stream_schema(REFERENCE)
    progress, failure = (
        {"$ref": _reference(model.__name__)}
        for model in (library_wire.SyncProgress, events.Failure)
    )
    schemas["SyncStream"] = {
        "oneOf": [_plain_frame("progress", progress), _plain_frame("error", failure)]
    }
    return schemas


def _frame(name: str, model: type[BaseModel], schemas: Json) -> Json:
    frame = _plain_frame(name, _joined(schemas["Event"], schemas[model.__name__]))
    position = {"type": "string", "description": "Send it as Last-Event-ID to go on from here."}
    frame["properties"]["id"] = position
    return frame


def _joined(head: Json, body: Json) -> Json:
    """An object with the fields of both, each of which allows no others."""
    return {
        **body,
        "properties": {**head["properties"], **body["properties"]},
        "required": list(dict.fromkeys([*head["required"], *body.get("required", [])])),
    }


def _plain_frame(name: str, data: Json) -> Json:
    return {
        "type": "object",
        "required": ["event", "data"],
        "properties": {
            "event": {"type": "string", "const": name},
            "data": task_openapi.json_text(data),
        },
    }


def _reference(model: str) -> str:
    return REFERENCE.format(model=model)
