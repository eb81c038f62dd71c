"""The ring that counts what a key asks on the task wire, and says on each reply what is left."""

import re
from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.auth import Caller
from gateway.errors import GatewayError
from gateway.guard import reply_with
from gateway.limiter import Limiter
from gateway.metrics import Metrics
from gateway.quota import Allowance, Verdict
from gateway.settings import Settings

ONE = "[^/]+"
# Reading one task, one session or a stream is not counted: clients poll these.
LIMITED = (
    ("POST", "/api/v1/tasks(/stream)?"),
    ("GET", "/api/v1/tasks"),
    ("GET", f"/api/v1/tasks/{ONE}/(events|control-state)"),
    ("POST", f"/api/v1/tasks/{ONE}/(cancel|pause|resume|review)"),
    ("POST", "/api/v1/approvals/decision"),
    ("GET", "/api/v1/sessions"),
    ("PATCH|DELETE", f"/api/v1/sessions/{ONE}"),
)
PATTERN = re.compile("|".join(f"(?:{method}) {path}" for method, path in LIMITED))


class Throttle:
    """Refuses a key that asked too often; a request that cannot be counted is let in."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        limiter: Callable[[], Limiter],
        settings: Settings,
        metrics: Metrics,
    ) -> None:
        self._app = app
        self._limiter = limiter
        self._allowance = Allowance(
            minute=settings.limit_per_minute,
            hour=settings.limit_per_hour,
            day=settings.limit_per_day,
        )
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, or answer it."""
        if scope["type"] != "http" or not is_limited(scope["method"], scope["path"]):
            await self._app(scope, receive, send)
            return
        caller: Caller = scope["state"]["caller"]
        verdict = await self._limiter().count(caller.key or caller.owner, self._allowance)
        if verdict is None:
            await self._app(scope, receive, send)
        elif verdict.exceeded is None:
            await self._app(scope, receive, _telling(verdict, send))
        else:
            self._metrics.limited_requests.add(window=verdict.exceeded)
            await reply_with(_refusal(verdict))(scope, receive, send)


def is_limited(method: str, path: str) -> bool:
    """Whether a request counts."""
    return PATTERN.fullmatch(f"{method} {path}") is not None


def _telling(verdict: Verdict, send: Send) -> Send:
    async def telling(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in verdict.headers.items():
                headers[name] = value
        await send(message)

    return telling


def _refusal(verdict: Verdict) -> GatewayError:
    window = verdict.exceeded or "minute"
    return GatewayError(
        "LIMIT_REACHED",
        "Rate limit exceeded",
        headers={**verdict.headers, "Retry-After": str(verdict.retry_after_s)},
        more={
            "message": f"The requests that a key may make in a {window} are used up; "
            f"come again in {verdict.retry_after_s} s.",
            "window": window,
        },
    )
