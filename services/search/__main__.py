"""Starts the search process: `python -m services.search`."""

import asyncio
import sys

from services.chassis.server import run, serve
from services.chassis.telemetry import telemetry
from services.search.assembly import assembled
from services.search.encoder import EncoderUnusable
from services.search.settings import Settings


async def main(settings: Settings, stop: asyncio.Event) -> None:
    """Serve until told to stop."""
    async with assembled(settings) as services:
        await serve(settings, services, until=stop)


if __name__ == "__main__":
    settings = Settings()
    with telemetry("search", settings.log_level):
        try:
            run(lambda stop: main(settings, stop))
        except EncoderUnusable as error:
            sys.exit(str(error))
