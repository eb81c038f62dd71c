"""The trace that a request belongs to, without recording spans."""

from opentelemetry import trace
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from services.chassis.telemetry import context_from


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
