"""Health and metrics over plain HTTP, for who speaks neither gRPC nor TLS: probes, Prometheus."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from services.chassis.metrics import Metrics
from services.chassis.telemetry import EventLog

REQUEST_S = 5.0
LOOK_UP_S = 3.0
MOST_BYTES = 8 * 1024

log = EventLog(__name__)


class StatusPage:
    """Answers `GET /health` and `GET /metrics`, one request a connection."""

    def __init__(self, metrics: Metrics, is_serving: Callable[[], bool]) -> None:
        self._metrics = metrics
        self._is_serving = is_serving

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read a request, answer it, and close."""
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, ValueError):
            async with asyncio.timeout(REQUEST_S):
                head = await reader.readuntil(b"\r\n\r\n")
                method, path, *_ = head.split(maxsplit=2)
                status, kind, body = await self._reply(method, path.partition(b"?")[0])
                writer.write(
                    f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n"
                    f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
                )
                writer.write(b"" if method == b"HEAD" else body)
                await writer.drain()
        writer.close()

    async def _reply(self, method: bytes, path: bytes) -> tuple[str, str, bytes]:
        if method not in (b"GET", b"HEAD"):
            return "405 Method Not Allowed", "text/plain", b"Only GET is answered.\n"
        if path == b"/health":
            if self._is_serving():
                return "200 OK", "text/plain", b"serving\n"
            return "503 Service Unavailable", "text/plain", b"stopping\n"
        if path == b"/metrics":
            try:
                async with asyncio.timeout(LOOK_UP_S):
                    await self._metrics.look_up()
            except TimeoutError:
                log.warning("metrics_not_looked_up", seconds=LOOK_UP_S)
            return "200 OK", CONTENT_TYPE_PLAIN_0_0_4, generate_latest(self._metrics.registry)
        return "404 Not Found", "text/plain", b"There are /health and /metrics.\n"


@asynccontextmanager
async def status_page(
    metrics: Metrics, is_serving: Callable[[], bool], *, host: str, port: int
) -> AsyncIterator[int]:
    """Serve the page; gives the port. Raises OSError when the port is taken."""
    page = StatusPage(metrics, is_serving)
    server = await asyncio.start_server(page.answer, host, port, limit=MOST_BYTES)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
