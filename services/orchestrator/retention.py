"""Lets go of what is no longer needed, now and then."""

import asyncio

from services.chassis.telemetry import EventLog
from services.orchestrator.errors import DatabaseDown
from services.orchestrator.store.retention import Ages, Retention

EVERY_S = 600.0

log = EventLog(__name__)


async def forget_regularly(store: Retention, until: asyncio.Event, ages: Ages) -> None:
    """Delete old rows every ten minutes until the event is set; several replicas may do it."""
    while not until.is_set():
        try:
            gone = await store.forget(ages)
            if gone:
                log.info("rows_forgotten", rows=gone)
        except DatabaseDown as error:
            log.warning("retention_waits_for_database", cause=error.cause)
        try:
            async with asyncio.timeout(EVERY_S):
                await until.wait()
        except TimeoutError:
            continue
