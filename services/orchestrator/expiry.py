"""Decides on what nobody decided in time, found by queries: no timer is kept for a waiting run."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Protocol

from services.chassis.telemetry import EventLog
from services.orchestrator.errors import DatabaseDown

BATCH = 100

log = EventLog(__name__)


class Deadlines(Protocol):
    """Something that waits for people, and not for ever."""

    async def expire(self, *, limit: int) -> int:
        """Decide on what is over; returns how many."""


async def expire_regularly(
    kinds: Sequence[Deadlines],
    stop: asyncio.Event,
    *,
    announce: Callable[[], Awaitable[None]],
    every_s: float,
) -> None:
    """Look for deadlines that have passed until the event is set."""
    while not stop.is_set():
        try:
            for kind in kinds:
                while (decided := await kind.expire(limit=BATCH)) > 0:
                    log.info("checkpoints_expired", checkpoints=decided)
                    await announce()
        except DatabaseDown as error:
            log.warning("expiry_waits_for_database", cause=error.cause)
        with suppress(TimeoutError):
            async with asyncio.timeout(every_s):
                await stop.wait()
