"""The gateway's process entry: `python -m gateway`."""

import asyncio
import contextlib
import sys
from collections.abc import Generator

import uvicorn
from pydantic import ValidationError

from gateway.app import build_app
from gateway.settings import Settings
from services.chassis.server import run
from services.chassis.telemetry import telemetry


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
        timeout_graceful_shutdown=round(settings.drain_s),
    )
    server = Server(config)
    serving = asyncio.create_task(server.serve())
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stop.set()
    server.should_exit = True
    await serving
    await stopping


def main() -> None:
    """Read the settings and serve."""
    try:
        settings = Settings()
    except ValidationError as error:
        first = error.errors()[0]
        where = "_".join(str(part) for part in first["loc"])
        sys.exit(f"The gateway cannot start: {where} {first['msg']}".replace("  ", " "))
    with telemetry("gateway", settings.log_level):
        run(lambda stop: serve(settings, stop))


if __name__ == "__main__":
    main()
