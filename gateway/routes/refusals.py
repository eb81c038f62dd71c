"""Every refusal of the framework in the gateway's own words and shape."""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from gateway.auth import is_task_wire
from gateway.errors import GatewayError, internal_error
from gateway.guard import reply_with
from gateway.tasks.wording import invalid

BODY_ERRORS = {
    "json_invalid": "The body is not valid JSON.",
    "missing": "A JSON body is missing.",
}


def answer(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Register the answers of an application that consists of these routes."""

    @app.exception_handler(GatewayError)
    async def on_error(request: Request, error: GatewayError) -> Response:
        return reply_with(error)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(request: Request, error: RequestValidationError) -> Response:
        errors = error.errors()
        found = invalid_request(errors)
        if is_task_wire(request.url.path):
            found = invalid(str(errors[0]["loc"][0]), found)
        return reply_with(found)

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> Response:
        return reply_with(_http_error(routes, request, error))

    @app.exception_handler(Exception)
    async def on_bug(request: Request, error: Exception) -> Response:
        # Logged by the guard, to which the framework hands the exception after this reply.
        return reply_with(internal_error())


def invalid_request(errors: Sequence[Mapping[str, Any]]) -> GatewayError:
    """The first validation error as one sentence that names the field."""
    # pydantic's errors are dictionaries of whatever was sent, hence Any.
    first = errors[0]
    _place, *path = first["loc"]
    kind = str(first["type"])
    if kind in BODY_ERRORS and (kind == "json_invalid" or not path):
        return GatewayError("INVALID_REQUEST", BODY_ERRORS[kind])
    if not path:
        return GatewayError("INVALID_REQUEST", "The body must be a JSON object.")
    field = ".".join(str(part) for part in path)[:200]
    return GatewayError("INVALID_REQUEST", _sentence(kind, field, first), detail={"field": field})


def _sentence(kind: str, field: str, error: Mapping[str, Any]) -> str:
    match kind:
        case "extra_forbidden":
            return f"The field {field!r} is not known; leave it out."
        case "missing":
            return f"The field {field!r} is missing."
        case "string_pattern_mismatch":
            return f"The field {field!r} must match {error['ctx']['pattern']}."
        case "string_unicode":
            return f"The field {field!r} holds text that is not valid Unicode."
    # pydantic begins with the kind of value ("String should have …"), of which the field is one.
    reason = str(error["msg"]).removeprefix("Value error, ")
    _, expects, what = reason.partition("should ")
    return f"The field {field!r} {expects}{what}." if expects else f"The field {field!r} {reason}."


def _http_error(
    routes: Sequence[BaseRoute], request: Request, error: HTTPException
) -> GatewayError:
    match error.status_code:
        case 400:
            # JSON that the parser gave up on, such as one nested without end.
            return GatewayError("INVALID_REQUEST", "The body cannot be read as JSON.")
        case 404:
            return GatewayError("NOT_FOUND", f"There is nothing at {request.url.path[:200]!r}.")
        case 405:
            methods = _methods_at(routes, request.scope)
            return GatewayError(
                "METHOD_NOT_ALLOWED",
                f"{request.method} does not work here; {methods} would.",
                headers={"Allow": methods},
            )
        case 413:
            return GatewayError("TOO_LARGE", "The body is too large.")
        case 415:
            return GatewayError("UNSUPPORTED_MEDIA_TYPE", "The body must be JSON.")
        case status if 400 <= status < 500:
            return GatewayError("INVALID_REQUEST", "The request cannot be read.")
    return internal_error()


def _methods_at(routes: Sequence[BaseRoute], scope: Scope) -> str:
    """All methods that the routes at this path take together."""
    methods: set[str] = set()
    for route in routes:
        if isinstance(route, Route) and route.matches(scope)[0] is not Match.NONE:
            methods |= route.methods or set()
    if "GET" in methods:
        methods.add("HEAD")
    return ", ".join(sorted(methods))
