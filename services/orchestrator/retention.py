"""Lets go of what is no longer needed, now and then."""

import asyncio
from datetime import timedelta

from services.chassis.telemetry import EventLog
from services.orchestrator.errors import DatabaseDown
from services.orchestrator.store.retention import Retention

EVERY_S = 600.0

log = EventLog(__name__)


async def forget_regularly(
    store: Retention, until: asyncio.Event, *, request_keys: timedelta, steps: timedelta
) -> None:
    """Delete old rows every ten minutes until the event is set; several replicas may do it."""
    while not until.is_set():
        try:
            gone = await store.forget(request_keys=request_keys, steps=steps)
            if gone:
                log.info("rows_forgotten", rows=gone)
        except DatabaseDown as error:
            log.warning("retention_waits_for_database", cause=error.cause)
        try:
            async with asyncio.timeout(EVERY_S):
                await until.wait()
        except TimeoutError:
            continue
