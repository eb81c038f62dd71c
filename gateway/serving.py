"""The application on a socket, from start to drain."""

import asyncio
import contextlib
import math
from collections.abc import Generator

import uvicorn

from gateway.app import build_app
from gateway.settings import Settings

# Clients and proxies keep idle connections for 5 to 60 seconds. Were this less, a request could be
# sent into a connection that is just being closed.
KEEP_IDLE_S = 75


class Server(uvicorn.Server):
    """uvicorn without its signal handlers: the process has its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave the signals alone."""
        yield


async def serve(settings: Settings, stop: asyncio.Event) -> None:
    """Serve until `stop` is set; streams end then, and other requests get the time to finish."""
    config = uvicorn.Config(
        build_app(settings, stop),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_keep_alive=KEEP_IDLE_S,
        timeout_graceful_shutdown=math.ceil(settings.drain_s),
    )
    server = Server(config)
    serving = asyncio.create_task(server.serve())
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stop.set()
    server.should_exit = True
    await serving
    await stopping
