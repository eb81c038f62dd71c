"""The outermost ring: host, origin, counting, and an answer of ours whatever goes wrong inside."""

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.errors import GatewayError, internal_error
from gateway.metrics import Metrics
from gateway.settings import Settings
from services.chassis.telemetry import EventLog

log = EventLog(__name__)

# Asked by machines that know the process by an address of their own.
PROBES = frozenset({"/health", "/readiness", "/metrics"})
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Guard:
    """Lets in only requests that a web page of somebody else cannot have made."""

    def __init__(self, app: ASGIApp, *, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in settings.allowed_hosts)
        self._origins = frozenset(settings.allowed_origins)
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        outcome = _Outcome(send)
        try:
            self._check(Headers(scope=scope), scope["path"])
            await self._app(scope, receive, outcome.send)
        except GatewayError as error:
            await reply_with(error)(scope, receive, outcome.send)
        except Exception as error:  # the process edge: a bug must not leak or kill the server
            log.error("request_failed", error, path=scope["path"])
            if outcome.status == 0:
                await reply_with(internal_error())(scope, receive, outcome.send)
            elif not outcome.is_complete:
                # Half a reply cannot be taken back; the server drops the connection.
                raise
        finally:
            self._metrics.requests.add(
                # Made-up methods must not make new series.
                method=scope["method"] if scope["method"] in METHODS else "other",
                route=getattr(scope.get("route"), "path", "unmatched"),
                status=str(outcome.status),
            )

    def _check(self, headers: Headers, path: str) -> None:
        if path not in PROBES:
            self._check_host(headers.get("host", ""))
        if (origin := headers.get("origin")) is not None:
            self._check_origin(origin, headers.get("host", ""))

    def _check_host(self, host: str) -> None:
        name = _host_name(host)
        if not (_is_loopback(name) or name in self._hosts or host.lower() in self._hosts):
            raise GatewayError(
                "INVALID_HOST",
                f"The gateway does not answer under the host name {name[:100]!r}; "
                "add it to GATEWAY_ALLOWED_HOSTS if it should.",
            )

    def _check_origin(self, origin: str, host: str) -> None:
        # Behind a proxy that ends TLS the page's scheme differs from ours, its host does not.
        if origin in self._origins or (host and _host_of_page(origin) == host.lower()):
            return
        raise GatewayError(
            "FORBIDDEN_ORIGIN",
            f"Pages of {origin[:100]!r} may not use the gateway; "
            "add it to GATEWAY_ALLOWED_ORIGINS if they should.",
        )


class _Outcome:
    """Watches what is sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0
        self.is_complete = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["type"] == "http.response.body":
            self.is_complete = not message.get("more_body", False)
        await self._send(message)


def reply_with(error: GatewayError) -> JSONResponse:
    """The error as a reply."""
    return JSONResponse(error.body(), status_code=error.status, headers=error.headers)


def _host_name(host: str) -> str:
    """The name in a Host header without its port, in lower case, without the brackets of IPv6."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _is_loopback(name: str) -> bool:
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _host_of_page(origin: str) -> str | None:
    """Host and port of an http origin; None for `null` and anything else."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return None
    return parts.netloc.lower() if parts.scheme in ("http", "https") else None
