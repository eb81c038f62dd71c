"""Answers checkpoints whose time is over, found by a query: no timer is kept for a waiting run."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from services.chassis.telemetry import EventLog
from services.orchestrator.errors import DatabaseDown
from services.orchestrator.store.checkpoints import Checkpoints

BATCH = 100

log = EventLog(__name__)


async def expire_regularly(
    checkpoints: Checkpoints,
    stop: asyncio.Event,
    *,
    announce: Callable[[], Awaitable[None]],
    every_s: float,
) -> None:
    """Look for deadlines that have passed until the event is set."""
    while not stop.is_set():
        try:
            while (answered := await checkpoints.expire(limit=BATCH)) > 0:
                log.info("checkpoints_expired", checkpoints=answered)
                await announce()
        except DatabaseDown as error:
            log.warning("expiry_waits_for_database", cause=error.cause)
        with suppress(TimeoutError):
            async with asyncio.timeout(every_s):
                await stop.wait()
