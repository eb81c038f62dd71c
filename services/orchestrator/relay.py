"""Publishes committed events to JetStream, run by run and in sequence. NATS down only delays."""

import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from itertools import groupby

from opentelemetry import trace

from services.chassis.bus import Bus, BusDown, Stream
from services.chassis.telemetry import EventLog, context_from, trace_headers
from services.orchestrator.errors import DatabaseDown
from services.orchestrator.events import StoredEvent
from services.orchestrator.store.outbox import Outbox, Parcel

EVENTS = Stream(
    name="zocrates_events",
    subjects=("zocrates.events.>",),
    in_memory=False,
    max_age_s=24 * 3600,
    max_bytes=1024**3,
)
DELTAS = Stream(
    name="zocrates_deltas",
    subjects=("zocrates.deltas.>",),
    in_memory=True,
    max_age_s=15 * 60,
    max_bytes=64 * 1024**2,
)
BATCH = 500
MAX_PARCELS = 200
# A claim outlives a round by far, and a dead relay's runs wait no longer than this.
CLAIM_S = 5.0
# Positions are stored a little later than they are reached: a repetition is a no-op for consumers,
# and one statement for many events keeps the database's work small.
MARK_EVERY_S = 0.5

log = EventLog(__name__)


@dataclass(slots=True, kw_only=True)
class _Held:
    """A claimed run: how far it is published, and how far that is stored."""

    parcel: Parcel
    published: int
    is_marked: bool = False


class Relay:
    """One process's part in publishing; a run belongs to one relay at a time."""

    def __init__(self, name: str, outbox: Outbox, bus: Bus, *, poll_s: float) -> None:
        self._name = name
        self._outbox = outbox
        self._bus = bus
        self._poll_s = poll_s
        self._held: dict[str, _Held] = {}
        self._due = asyncio.Event()
        self._has_streams = False
        self._marked_at = 0.0
        self._tracer = trace.get_tracer(__name__)

    def wake(self) -> None:
        """There are new events."""
        self._due.set()

    async def run(self, until: asyncio.Event) -> None:
        """Publish until the event is set, then what is left, if NATS takes it at once."""
        self._bus.on_lost(self._forget_streams)
        async with asyncio.TaskGroup() as group:
            waking = group.create_task(self._wake_at(until))
            while not until.is_set():
                await self._pause()
                await self._round()
            await self._round()
            await self._mark(ends=True)
            waking.cancel()

    def _forget_streams(self) -> None:
        # The server may come back without its memory, and with other disks.
        self._has_streams = False

    async def _round(self) -> None:
        try:
            if not self._bus.is_connected:
                return
            if not self._has_streams:
                await self._bus.ensure(EVENTS)
                await self._bus.ensure(DELTAS)
                self._has_streams = True
            while await self._publish_batch():
                pass
            await self._mark_in_time()
        except BusDown as error:
            log.warning("relay_waits_for_nats", cause=str(error))
            await asyncio.sleep(random.uniform(0.5, 1.0) * self._poll_s)
        except DatabaseDown as error:
            log.warning("relay_waits_for_database", cause=error.cause)
            self._held.clear()
            await asyncio.sleep(random.uniform(0.5, 1.0) * self._poll_s)

    async def _publish_batch(self) -> bool:
        """Publish what is committed now; says whether there may be more."""
        claimed = await self._outbox.claim(
            self._name, held=list(self._held), lease_s=CLAIM_S, limit=MAX_PARCELS
        )
        for parcel in claimed:
            self._held[parcel.run_id] = _Held(parcel=parcel, published=parcel.published)
        if not self._held:
            return False
        events = await self._outbox.unpublished(
            {run_id: one.published for run_id, one in self._held.items()},
            {run_id: one.parcel.session_id for run_id, one in self._held.items()},
            limit=BATCH,
        )
        runs = [list(group) for _, group in groupby(events, key=lambda event: event.run_id)]
        results = await asyncio.gather(
            *(self._publish_run(run) for run in runs), return_exceptions=True
        )
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return len(events) == BATCH or len(claimed) == MAX_PARCELS

    async def _publish_run(self, events: Sequence[StoredEvent]) -> None:
        held = self._held[events[0].run_id]
        for event in events:
            subject = f"zocrates.events.{event.session_id}.{event.run_id}.{event.type}"
            with self._tracer.start_as_current_span(
                "publish", context=context_from(held.parcel.trace)
            ):
                await self._bus.publish_stored(
                    subject,
                    body_of(event),
                    message_id=f"{event.run_id}:{event.sequence}",
                    headers=trace_headers(),
                )
            held.published = event.sequence
            held.is_marked = False

    async def _mark_in_time(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._held and now - self._marked_at >= MARK_EVERY_S:
            self._marked_at = now
            await self._mark(ends=False)

    async def _mark(self, *, ends: bool) -> None:
        """Store the positions; claims of quiet runs, or all at the end, are given up."""
        if not self._held:
            return
        positions = {run_id: one.published for run_id, one in self._held.items()}
        leaving = {run_id for run_id, one in self._held.items() if ends or one.is_marked}
        try:
            kept = await self._outbox.mark(self._name, positions, lease_s=CLAIM_S, leaving=leaving)
        except DatabaseDown as error:
            if not ends:
                raise
            log.warning("relay_position_not_stored", cause=error.cause)
            return
        for run_id in set(positions) - kept:
            del self._held[run_id]
        for one in self._held.values():
            one.is_marked = True

    async def _pause(self) -> None:
        waits = any(not one.is_marked for one in self._held.values())
        try:
            async with asyncio.timeout(MARK_EVERY_S if waits else self._poll_s):
                await self._due.wait()
        except TimeoutError:
            return
        finally:
            self._due.clear()

    async def _wake_at(self, until: asyncio.Event) -> None:
        await until.wait()
        self._due.set()


def body_of(event: StoredEvent) -> bytes:
    """The event as protobuf's JSON, 64-bit numbers as strings."""
    time = event.time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    body = {
        "session_id": event.session_id,
        "run_id": event.run_id,
        "sequence": str(event.sequence),
        "time": time,
        event.type: event.payload,
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
