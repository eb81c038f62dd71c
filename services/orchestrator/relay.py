"""Publishes committed events to JetStream, run by run and in sequence. NATS down only delays."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC

from services.chassis.bus import Bus, BusDown, Message, Stream
from services.chassis.telemetry import EventLog
from services.orchestrator.errors import DatabaseDown
from services.orchestrator.events import StoredEvent, Told
from services.orchestrator.store.database import json_bytes
from services.orchestrator.store.outbox import Outbox

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

    session_id: str
    trace: Mapping[str, str]
    published: int
    is_marked: bool = False


class Relay:
    """One process's part in publishing; a run belongs to one relay at a time.

    What this process writes is told to it and published at once; the table is read for what others
    wrote, for what an outage held up, and where there is a hole in what was told.
    """

    def __init__(
        self,
        name: str,
        outbox: Outbox,
        bus: Bus,
        *,
        poll_s: float,
        on_published: Callable[[Sequence[StoredEvent]], None] | None = None,
    ) -> None:
        self._name = name
        self._on_published = on_published
        self._outbox = outbox
        self._bus = bus
        self._poll_s = poll_s
        self._held: dict[str, _Held] = {}
        self._told: list[Told] = []
        self._due = asyncio.Event()
        # Whether the table may hold events of runs that nobody publishes, or of those held here.
        self._looks = True
        self._has_hole = False
        self._looked_at = 0.0
        self._has_streams = False
        self._marked_at = 0.0

    def wake(self) -> None:
        """There may be new events in the table."""
        self._looks = True
        self._due.set()

    def tell(self, told: Told) -> None:
        """These events were just committed by this process."""
        if told.events and told.relay == self._name and self._bus.is_connected:
            self._told.append(told)
        else:
            self._looks = True
        self._due.set()

    async def run(self, until: asyncio.Event) -> None:
        """Publish until the event is set, then what is left, if NATS takes it at once."""
        self._bus.on_lost(self._forget_streams)
        async with asyncio.TaskGroup() as group:
            waking = group.create_task(self._wake_at(until))
            while not until.is_set():
                await self._pause()
                await self._round()
            self._looks = True
            await self._round()
            await self._mark(ends=True)
            waking.cancel()

    def _forget_streams(self) -> None:
        # The server may come back without its memory, and with other disks.
        self._has_streams = False

    async def _round(self) -> None:
        told, self._told = self._told, []
        try:
            if not self._bus.is_connected:
                # The table has them too.
                self._looks = True
                return
            if not self._has_streams:
                await self._bus.ensure(EVENTS)
                await self._bus.ensure(DELTAS)
                self._has_streams = True
            await self._publish(self._following(told))
            await self._look()
            await self._mark_in_time()
        except BusDown as error:
            log.warning("relay_waits_for_nats", cause=str(error))
            self._looks = True
            await asyncio.sleep(random.uniform(0.5, 1.0) * self._poll_s)
        except DatabaseDown as error:
            log.warning("relay_waits_for_database", cause=error.cause)
            self._looks = True
            self._held.clear()
            await asyncio.sleep(random.uniform(0.5, 1.0) * self._poll_s)

    def _following(self, told: Sequence[Told]) -> list[StoredEvent]:
        """The events that follow what is published; a hole is left to a look at the table."""
        events: list[StoredEvent] = []
        reached: dict[str, int] = {}
        for one in told:
            held = self._held.get(one.run_id)
            if held is None:
                held = self._held[one.run_id] = _Held(
                    session_id=one.session_id, trace=one.trace, published=one.published
                )
            for event in one.events:
                if event.sequence == reached.get(one.run_id, held.published) + 1:
                    reached[one.run_id] = event.sequence
                    events.append(event)
                elif event.sequence > held.published:
                    self._has_hole = True
        return events

    async def _look(self) -> None:
        """Publish what the table holds, when there is a reason to look or it is time again."""
        now = asyncio.get_running_loop().time()
        if now - self._looked_at >= self._poll_s:
            self._looks = True
        while self._looks or self._has_hole:
            has_more = False
            if self._looks:
                self._looks, self._looked_at = False, now
                has_more = await self._claim()
            self._has_hole = False
            self._looks = await self._publish_table() or has_more or self._looks

    async def _claim(self) -> bool:
        """Take runs that nobody publishes; says whether there may be more."""
        claimed = await self._outbox.claim(
            self._name, held=list(self._held), lease_s=CLAIM_S, limit=MAX_PARCELS
        )
        for parcel in claimed:
            self._held[parcel.run_id] = _Held(
                session_id=parcel.session_id, trace=parcel.trace, published=parcel.published
            )
        return len(claimed) == MAX_PARCELS

    async def _publish_table(self) -> bool:
        """Publish what the table holds of the runs held here; says whether there may be more."""
        if not self._held:
            return False
        events = await self._outbox.unpublished(
            {run_id: one.published for run_id, one in self._held.items()},
            {run_id: one.session_id for run_id, one in self._held.items()},
            limit=BATCH,
        )
        await self._publish(events)
        return len(events) == BATCH

    async def _publish(self, events: Sequence[StoredEvent]) -> None:
        """Send events, each run's in sequence, and note them when all are stored."""
        for start in range(0, len(events), BATCH):
            await self._publish_batch(events[start : start + BATCH])

    async def _publish_batch(self, events: Sequence[StoredEvent]) -> None:
        await self._bus.publish_stored(
            [
                Message(
                    subject=f"zocrates.events.{one.session_id}.{one.run_id}.{one.type}",
                    body=body_of(one),
                    id=f"{one.run_id}:{one.sequence}",
                    trace=self._held[one.run_id].trace,
                )
                for one in events
            ]
        )
        for one in events:
            held = self._held[one.run_id]
            held.published, held.is_marked = one.sequence, False
        if self._on_published is not None:
            self._on_published(events)

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
    return json_bytes(body)
