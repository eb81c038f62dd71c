"""The trace that a request belongs to: taken over from the caller, and told in the reply."""

import re
from collections.abc import Mapping

from opentelemetry import trace
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.chassis.spans import tell_session
from services.chassis.telemetry import context_from

# Where callers name a trace that do not speak of parents; the first one counts.
NAMED = ("x-trace-id", "x-request-id")
TRACE_ID = re.compile("[0-9a-f]{32}")
NOBODY = "0" * 16


def session_told(request: Request) -> None:
    """The request's span is of the session that its path names, if it names one."""
    tell_session(str(request.path_params.get("session_id", "")))


class TraceContext:
    """Takes over the caller's trace or begins one, so that logs and peers name it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._tracer = trace.get_tracer(__name__)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request within its trace."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        carried = {key: headers[key] for key in ("traceparent", "tracestate") if key in headers}
        with self._tracer.start_as_current_span("request", context=context_from(carried)):
            await self._app(scope, receive, send)


class NamedTrace:
    """Lets a request that names a trace in another way carry it in the usual one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http":
            parent = parent_named(Headers(scope=scope))
            if parent is not None:
                carried = (b"traceparent", parent.encode())
                scope = {**scope, "headers": [*scope["headers"], carried]}
        await self._app(scope, receive, send)


class ToldTrace:
    """Says on each reply of the application which trace and span it belongs to."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        span = trace.get_current_span().get_span_context()
        if scope["type"] != "http" or not span.is_valid:
            await self._app(scope, receive, send)
            return

        async def telling(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["X-Trace-ID"] = trace.format_trace_id(span.trace_id)
                headers["X-Span-ID"] = trace.format_span_id(span.span_id)
            await send(message)

        await self._app(scope, receive, telling)


def parent_named(headers: Mapping[str, str]) -> str | None:
    """The `traceparent` of a request without one that names a trace: 32 digits, or a UUID."""
    named = next((headers[name] for name in NAMED if name in headers), "")
    trace_id = named.strip().lower().replace("-", "")
    if "traceparent" in headers or TRACE_ID.fullmatch(trace_id) is None:
        return None
    # There has to be a parent, of which nothing is known: half of the trace's id stands for it.
    half = trace_id[16:] if trace_id[16:] != NOBODY else trace_id[:16]
    return None if half == NOBODY else f"00-{trace_id}-{half}-01"
