"""Live messages of followed runs: one subscription a run, and a bounded inbox for each client."""

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError

from gateway.convert import Unreadable, delta_from_bus, row_from_bus
from gateway.cursor import Delta, Row, joined
from gateway.metrics import Metrics
from services.chassis.bus import Bus, BusDown
from services.chassis.telemetry import EventLog

log = EventLog(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKey:
    """Which run."""

    session_id: str
    run_id: str

    @property
    def events(self) -> str:
        """The subject of the run's rows."""
        return f"zocrates.events.{self.session_id}.{self.run_id}.*"

    @property
    def deltas(self) -> str:
        """The subject of the run's answer text."""
        return f"zocrates.deltas.{self.session_id}.{self.run_id}"


class Inbox:
    """Live messages that one client has not taken yet."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._messages: deque[Row | Delta] = deque()
        self._wake = asyncio.Event()
        self._silent_at = math.inf
        self._timer: asyncio.TimerHandle | None = None

    def put(self, message: Row | Delta) -> bool:
        """Keep a message; False when the inbox overflowed, which drops all that it holds."""
        self._wake.set()
        if len(self._messages) < self._capacity:
            self._messages.append(message)
            return True
        # The reader finds nothing and reads the record instead, which is cheaper than a long queue.
        self._messages.clear()
        return False

    def nudge(self) -> None:
        """Wake the reader, so that it looks at the record."""
        self._wake.set()

    async def take(self, timeout_s: float) -> Row | Delta | None:
        """The next message; None after a nudge, an overflow or so much silence."""
        if not self._messages:
            self._nudge_after(timeout_s)
            await self._wake.wait()
            self._silent_at = math.inf
        if not self._messages:
            self._wake.clear()
            return None
        message = self._messages.popleft()
        if not self._messages:
            self._wake.clear()
        return message

    def _nudge_after(self, seconds: float) -> None:
        """Nudge after so much silence; the timer of an earlier message serves again if it can."""
        loop = asyncio.get_running_loop()
        self._silent_at = loop.time() + seconds
        if self._timer is not None and self._timer.when() > self._silent_at:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = loop.call_at(self._silent_at, self._look)

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = None
        if self._silent_at <= loop.time():
            self.nudge()
        elif self._silent_at < math.inf:
            self._timer = loop.call_at(self._silent_at, self._look)


@dataclass(slots=True, kw_only=True)
class _Followed:
    """A run that somebody follows."""

    inboxes: set[Inbox] = field(default_factory=set)
    subscriptions: list[Subscription] = field(default_factory=list)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Feed:
    """The live messages of all runs that are followed now."""

    def __init__(self, bus: Bus, *, capacity: int, metrics: Metrics) -> None:
        self._bus = bus
        self._capacity = capacity
        self._metrics = metrics
        self._runs: dict[RunKey, _Followed] = {}

    @property
    def is_live(self) -> bool:
        """Whether messages can arrive at this moment."""
        return self._bus.is_connected

    @asynccontextmanager
    async def following(self, run: RunKey) -> AsyncIterator[Inbox]:
        """An inbox for the run's messages from now on; it stays empty while NATS is away."""
        inbox = Inbox(self._capacity)
        self._runs.setdefault(run, _Followed()).inboxes.add(inbox)
        forget = self._bus.on_lost(inbox.nudge)
        try:
            await self.subscribe(run)
            yield inbox
        finally:
            forget()
            await self._leave(run, inbox)

    async def subscribe(self, run: RunKey) -> None:
        """Subscribe to a followed run unless that is done; without NATS it is tried again later."""
        followed = self._runs[run]
        async with followed.lock:
            # After a loss the client library subscribes again by itself, but it must have
            # been connected once.
            if followed.subscriptions or not self._bus.is_connected or not followed.inboxes:
                return

            async def on_event(message: Msg) -> None:
                self._deliver_row(followed, message)

            async def on_delta(message: Msg) -> None:
                self._deliver_delta(followed, message)

            try:
                followed.subscriptions.append(await self._bus.subscribe(run.events, on_event))
                followed.subscriptions.append(await self._bus.subscribe(run.deltas, on_delta))
            except BusDown as error:
                log.warning("subscription_failed", run_id=run.run_id, error=str(error))
                await _unsubscribe(followed)

    async def text_so_far(self, run: RunKey) -> Delta | None:
        """The answer text of the newest attempt that NATS still holds, or None."""
        try:
            bodies = await self._bus.retained(run.deltas)
            return joined([delta_from_bus(body) for body in bodies])
        except (BusDown, Unreadable) as error:
            # Deltas are best effort: the answer row brings the whole text.
            log.info("answer_text_not_retained", run_id=run.run_id, error=str(error))
            return None

    async def _leave(self, run: RunKey, inbox: Inbox) -> None:
        followed = self._runs[run]
        followed.inboxes.discard(inbox)
        async with followed.lock:
            if followed.inboxes:
                return
            # Another client may have left in the meantime, and a newcomer begun a new record.
            if self._runs.get(run) is followed:
                del self._runs[run]
            await _unsubscribe(followed)

    def _deliver_row(self, followed: _Followed, message: Msg) -> None:
        try:
            row = row_from_bus(message.data)
        except Unreadable as error:
            # The record is asked instead, as for a message that was lost.
            log.warning("event_unreadable", subject=message.subject, error=str(error))
            for inbox in followed.inboxes:
                inbox.nudge()
            return
        self._deliver(followed, row)

    def _deliver_delta(self, followed: _Followed, message: Msg) -> None:
        try:
            delta = delta_from_bus(message.data)
        except Unreadable as error:
            log.warning("delta_unreadable", subject=message.subject, error=str(error))
            return
        self._deliver(followed, delta)

    def _deliver(self, followed: _Followed, message: Row | Delta) -> None:
        for inbox in followed.inboxes:
            if not inbox.put(message):
                self._metrics.inbox_overflows.add()


async def _unsubscribe(followed: _Followed) -> None:
    while followed.subscriptions:
        subscription = followed.subscriptions.pop()
        try:
            await subscription.unsubscribe()
        except NatsError as error:
            # The connection is closed or closing, which ends the subscription as well.
            log.info("unsubscribe_failed", subject=subscription.subject, error=str(error))
