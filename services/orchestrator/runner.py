"""Claims due runs, keeps their leases, and lets the pipeline continue them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from services.chassis.bus import Bus, BusDown
from services.chassis.spans import in_session, within
from services.chassis.telemetry import EventLog, context_from
from services.orchestrator.errors import DatabaseDown, HandOver, Stale
from services.orchestrator.ledger import Standing
from services.orchestrator.run import Claimant, ClaimedRun
from services.orchestrator.store.runs import Runs

WORK_SUBJECT = "zocrates.work"
WITHDRAWAL_SUBJECT = "zocrates.withdrawal"
UNKNOWN_SCHEMA_S = 60.0
# How often is looked whether NATS is there, until it was once.
NATS_LOOK_S = 0.25

log = EventLog(__name__)


class Worker(Protocol):
    """Continues a run."""

    async def run(self, run: ClaimedRun, standing: Standing) -> None:
        """Work until the run ends; raises Stale or HandOver."""

    async def fail(self, run: ClaimedRun) -> None:
        """End a run that met a bug."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often and how much."""

    lease_s: float
    renew_s: float
    poll_s: float
    max_runs: int
    drain_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    run: ClaimedRun
    task: asyncio.Task[None]


class Runner:
    """The runs that this process holds."""

    def __init__(self, name: str, runs: Runs, worker: Worker, bus: Bus, pace: Pace) -> None:
        self._name = name
        self._runs = runs
        self._worker = worker
        self._bus = bus
        self._pace = pace
        self._held: dict[str, _Held] = {}
        # Places of runs that are being claimed with the write that makes them due.
        self._kept = 0
        self._group: asyncio.TaskGroup | None = None
        self._standing: Standing | None = None
        self._due = asyncio.Event()
        self._claims = 0
        self._doubtful = asyncio.Event()

    @property
    def in_hand(self) -> int:
        """How many runs this process works on."""
        return len(self._held)

    def wake(self) -> None:
        """Look for work now."""
        self._due.set()

    def check(self) -> None:
        """See now which runs are still held."""
        self._doubtful.set()

    @contextmanager
    def place(self) -> Iterator[Claimant | None]:
        """Keep a place for a run that a write may claim for this process; None: there is none."""
        if not self._takes or self._room <= 0:
            yield None
            return
        self._kept += 1
        try:
            yield Claimant(name=self._name, lease_s=self._pace.lease_s)
        finally:
            self._kept -= 1

    async def take(self, run: ClaimedRun) -> None:
        """Work on a run that was claimed for this process, or hand it over when it stops."""
        if self._takes:
            self._begin(run)
        else:
            await self._release(run)

    @property
    def _takes(self) -> bool:
        return self._standing is not None and not self._standing.stopping.is_set()

    @property
    def _room(self) -> int:
        return self._pace.max_runs - self.in_hand - self._kept

    async def run(self, until: asyncio.Event) -> None:
        """Claim and work until the event is set, then hand over what is not finished."""
        standing = self._standing = Standing(until)
        async with asyncio.TaskGroup() as group:
            self._group = group
            aside = [
                group.create_task(self._keep_leases(standing)),
                group.create_task(self._tell_unknown_schema()),
                group.create_task(self._listen()),
                group.create_task(self._wake_at(until)),
            ]
            while not until.is_set():
                await self._claim()
                await self._pause()
            await self._drain()
            for task in aside:
                task.cancel()

    async def _claim(self) -> None:
        room = self._room
        if room <= 0:
            return
        self._claims += 1
        try:
            claimed = await self._runs.claim(
                self._name, held=list(self._held), limit=room, lease_s=self._pace.lease_s
            )
        except DatabaseDown as error:
            log.warning("claim_waits_for_database", cause=error.cause)
            return
        for run in claimed:
            self._begin(run)

    def _begin(self, run: ClaimedRun) -> None:
        assert self._group is not None
        assert self._standing is not None
        log.info("run_claimed", run_id=run.id, epoch=run.lease.epoch, stage=run.stage)
        task = self._group.create_task(self._work(run, self._standing))
        self._held[run.id] = _Held(run=run, task=task)

    async def _pause(self) -> None:
        """Until there may be work: a wake, or the poll that finds it without one."""
        await _event_or_timeout(self._due, self._pace.poll_s)

    async def _work(self, run: ClaimedRun, standing: Standing) -> None:
        context = in_session(run.session_id, context_from(run.trace))
        claims = self._claims
        try:
            with within(context):
                await self._worker.run(run, standing)
            log.info("run_left", run_id=run.id)
        except Stale:
            log.warning("run_lost", run_id=run.id, epoch=run.lease.epoch)
        except HandOver:
            await self._release(run)
        except Exception as error:  # the process edge: a bug ends its run, not the others
            log.error("run_broke", error, run_id=run.id)
            await self._fail(run)
        finally:
            was_full = self._room <= 0
            # A decision may have come, and given the run to this process again, before its asker
            # had ended.
            held = self._held.get(run.id)
            if held is not None and held.run is run:
                del self._held[run.id]
            # A claim leaves out what is held, also when it waits to be held anew.
            if was_full or self._claims != claims:
                self._due.set()

    async def _fail(self, run: ClaimedRun) -> None:
        try:
            await self._worker.fail(run)
        except Exception as error:  # the lease ends by itself and the run is claimed again
            log.error("run_not_failed", error, run_id=run.id)

    async def _release(self, run: ClaimedRun) -> None:
        try:
            await self._runs.release(run.lease)
        except DatabaseDown as error:
            log.warning("lease_left_to_expire", run_id=run.id, cause=error.cause)
            return
        log.info("run_handed_over", run_id=run.id)
        with suppress(BusDown):  # everybody polls
            await self._bus.publish(WORK_SUBJECT, b"")

    async def _keep_leases(self, standing: Standing) -> None:
        """Renew all leases with one statement; a run whose epoch is gone is dropped.

        While the leases may be over nothing new is begun, but work in hand goes on: nobody may
        have taken the run, and then its result is written after all.
        """
        loop = asyncio.get_running_loop()
        renewed_at = loop.time()
        while True:
            await _event_or_timeout(self._doubtful, self._pace.renew_s)
            held = list(self._held.values())
            if not held:
                renewed_at = loop.time()
                standing.has_lease.set()
                continue
            try:
                asked_at = loop.time()
                kept = await self._runs.renew(
                    [one.run.lease for one in held], lease_s=self._pace.lease_s
                )
            except DatabaseDown as error:
                log.warning("renewal_waits_for_database", cause=error.cause)
                if loop.time() - renewed_at > self._pace.lease_s:
                    standing.has_lease.clear()
                continue
            renewed_at = asked_at
            standing.has_lease.set()
            for one in held:
                if one.run.id not in kept and self._held.get(one.run.id) is one:
                    log.warning("lease_lost", run_id=one.run.id, epoch=one.run.lease.epoch)
                    one.task.cancel()

    async def _drain(self) -> None:
        """Let steps in hand finish; hand over what is still at work when the time is up."""
        held = list(self._held.values())
        if not held:
            return
        await asyncio.wait([one.task for one in held], timeout=self._pace.drain_s)
        late = [one for one in held if not one.task.done()]
        for one in late:
            one.task.cancel()
        if late:
            await asyncio.wait([one.task for one in late])
        for one in late:
            await self._release(one.run)

    async def _tell_unknown_schema(self) -> None:
        """Count the runs that wait for newer code, so that they are not out of sight."""
        while True:
            try:
                if waiting := await self._runs.count_unknown_schema():
                    log.warning("runs_wait_for_newer_code", runs=waiting)
            except DatabaseDown as error:
                log.warning("count_waits_for_database", cause=error.cause)
            await asyncio.sleep(UNKNOWN_SCHEMA_S)

    async def _listen(self) -> None:
        """Take hints from other replicas, as soon as NATS is there."""

        async def work(_message: object) -> None:
            self.wake()

        async def withdrawal(_message: object) -> None:
            self.check()

        for subject, hint in ((WORK_SUBJECT, work), (WITHDRAWAL_SUBJECT, withdrawal)):
            await when_up(self._bus, partial(self._bus.subscribe, subject, hint))
        await when_up(self._bus, self._bus.settled)
        # What was hinted at before the server knew of the subscriptions reached nobody here.
        self.wake()
        self.check()

    async def _wake_at(self, until: asyncio.Event) -> None:
        await until.wait()
        self._due.set()


async def _event_or_timeout(event: asyncio.Event, seconds: float) -> None:
    """Wait for the event, not longer than that, and make it ready for the next time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    event.clear()


async def when_up(bus: Bus, operation: Callable[[], Awaitable[object]]) -> None:
    """Do it once NATS can be reached."""
    while True:
        if bus.is_connected:
            try:
                await operation()
            except BusDown as error:
                log.warning("bus_waits", cause=str(error))
            else:
                return
        await asyncio.sleep(NATS_LOOK_S)
