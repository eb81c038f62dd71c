"""A run in the hands of its holder: what is recorded, and the only way to record more."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from opentelemetry import trace

from services.chassis.telemetry import EventLog
from services.orchestrator.checkpoint import Known, Question
from services.orchestrator.errors import DatabaseDown, HandOver
from services.orchestrator.events import (
    NewEvent,
    StoredEvent,
    Told,
    ended,
    input_requested,
    stage_entered,
)
from services.orchestrator.passages import Evidence
from services.orchestrator.run import Action, ClaimedRun, Lease, RunKind, Stage, Usage, target
from services.orchestrator.store.history import Entry, PastTurn, Recorded, Step, Written, merged
from services.orchestrator.work_spans import WorkSpans

FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 1.0

Result = TypeVar("Result")

log = EventLog(__name__)


class RunStore(Protocol):
    """What a holder needs of the store."""

    async def record(self, lease: Lease, entry: Entry) -> Written:
        """Write an entry once; returns where the run stands then."""

    async def load(self, run_id: str) -> Recorded:
        """What the run has recorded so far."""

    async def conversation(self, session_id: str, before: int, *, turns: int) -> list[PastTurn]:
        """The last answered turns of the session."""

    async def clock(self) -> datetime:
        """What time it is for everybody."""


class Standing:
    """Whether the holder of runs may begin new work."""

    def __init__(self, stopping: asyncio.Event) -> None:
        self.stopping = stopping
        self.has_lease = asyncio.Event()
        self.has_lease.set()

    async def permission(self) -> None:
        """Wait while leases cannot be renewed; raises HandOver when the process is stopping."""
        await self.has_lease.wait()
        if self.stopping.is_set():
            raise HandOver


class Ledger:
    """Mirrors the rows of one run in memory, so that no stage reads back what it wrote.

    Every write is fenced by the lease; while the database is away the write is repeated, not
    the work.
    """

    def __init__(
        self,
        run: ClaimedRun,
        store: RunStore,
        recorded: Recorded,
        *,
        on_write: Callable[[Told], None],
        standing: Standing,
    ) -> None:
        self.run = run
        self.stage = run.stage
        self.pass_number = run.pass_number
        self.usage = run.usage
        self.last_sequence = run.last_sequence
        self.is_pausing = run.is_pausing
        self._steps: dict[str, Step] = dict(recorded.steps)
        self._checkpoints = recorded.checkpoints
        # What was said about the run's plan.
        self.rounds = recorded.rounds
        self.evidence: dict[str, Evidence] = {one.passage.id: one for one in recorded.evidence}
        self._store = store
        self._on_write = on_write
        self._standing = standing
        self.spans = WorkSpans(run)
        self._waiting: list[Entry] = []
        self._writing = asyncio.Lock()

    def output(self, key: str) -> Mapping[str, Any] | None:
        """What a step gave, if it is done."""
        step = self._steps.get(key)
        return step.output if step is not None and step.is_done else None

    def checkpoint(self, interrupt_id: str) -> Known | None:
        """A question that this run has asked, as it stood when the holder took the run."""
        return self._checkpoints.get(interrupt_id)

    def attempts(self, key: str) -> int:
        """How many attempts at a step were begun."""
        step = self._steps.get(key)
        return step.attempt if step is not None else 0

    @asynccontextmanager
    async def working(self, what: str, key: str) -> AsyncIterator[trace.Span]:
        """The span of new work on a step; raises HandOver when the process or the run stops.

        Whatever the work follows from is in the database before it begins.
        """
        await self.settle()
        await self._standing.permission()
        if self.is_pausing:
            raise HandOver
        with self.spans.working(what, key, self.stage, self.pass_number) as span:
            yield span

    async def conversation(self, turns: int) -> list[PastTurn]:
        """The last answered turns of the session before this run."""
        if self.run.ordinal == 1:
            return []
        return await until_up(
            lambda: self._store.conversation(self.run.session_id, self.run.ordinal, turns=turns)
        )

    async def deadline(self, patience: timedelta | None) -> datetime | None:
        """When a question that is asked now is over; None: never."""
        return await until_up(self._store.clock) + patience if patience is not None else None

    def begin(self, key: str, events: Callable[[int], Sequence[NewEvent]]) -> int:
        """Record that an attempt at a step begins; returns its number, from 1."""
        attempt = self.attempts(key) + 1
        step = Step(key=key, input={}, output={}, attempt=attempt, is_done=False)
        self._note(self._entry(step=step, events=events(attempt)))
        return attempt

    def record(
        self,
        key: str,
        *,
        output: Mapping[str, Any],
        input: Mapping[str, Any] | None = None,
        events: Sequence[NewEvent] = (),
        evidence: Sequence[Evidence] = (),
        usage: Usage | None = None,
        then: Stage | None = None,
        passes: int = 0,
    ) -> None:
        """Record a finished step, in one write with what follows from it without any work.

        `then` is the stage that begins with it, so many passes later. The write is made before new
        work begins, before anything is waited for, and at the latest when the run ends, waits or is
        handed over.
        """
        step = Step(key=key, input=input or {}, output=output, attempt=max(1, self.attempts(key)))
        number = self.pass_number + passes
        told = [*events, *([stage_entered(then, number)] if then else [])]
        entry = self._entry(step=step, events=told, evidence=evidence, usage=usage)
        self._note(replace(entry, stage=then or self.stage, pass_number=number))

    async def finish(
        self,
        ending: Action,
        *,
        events: Sequence[NewEvent],
        key: str | None = None,
        output: Mapping[str, Any] | None = None,
        usage: Usage | None = None,
    ) -> None:
        """End the run, with its last step if it has one; the end of a task is a row of its own."""
        step = Step(key=key, input={}, output=output or {}) if key is not None else None
        last = [ended(target(ending))] if self.run.kind is RunKind.TASK else []
        entry = self._entry(step=step, events=[*events, *last], usage=usage)
        self._note(replace(entry, leaving=ending))
        await self.settle()

    async def ask(
        self,
        question: Question,
        *,
        events: Sequence[NewEvent] = (),
        key: str | None = None,
        output: Mapping[str, Any] | None = None,
        usage: Usage | None = None,
    ) -> None:
        """Stop and ask a person, with the step that led there; from now on nobody holds the run."""
        step = Step(key=key, input={}, output=output or {}) if key is not None else None
        entry = self._entry(step=step, events=[*events, input_requested(question)], usage=usage)
        self._note(replace(entry, leaving=Action.ASK, question=question))
        await self.settle()

    def _entry(
        self,
        *,
        step: Step | None,
        events: Sequence[NewEvent] = (),
        evidence: Sequence[Evidence] = (),
        usage: Usage | None = None,
    ) -> Entry:
        return Entry(
            stage=self.stage,
            pass_number=self.pass_number,
            usage=usage or self.usage,
            step=step,
            events=events,
            evidence=evidence,
            evidence_from=len(self.evidence),
        )

    def _note(self, entry: Entry) -> None:
        """Take the entry over as done; it is written when the run settles."""
        self._waiting.append(entry)
        self.stage, self.pass_number, self.usage = entry.stage, entry.pass_number, entry.usage
        if entry.step is not None:
            self._steps[entry.step.key] = entry.step
        self.evidence.update((one.passage.id, one) for one in entry.evidence)

    async def settle(self) -> None:
        """Write what was recorded and is not written yet; who comes second waits for the first."""
        while self._waiting:
            async with self._writing:
                if self._waiting:
                    await self._write()

    async def _write(self) -> None:
        count = len(self._waiting)
        entry = merged(self._waiting[:count])
        written = await until_up(lambda: self._store.record(self.run.lease, entry))
        # Left in place until now: nobody may take the run for settled while the write is made.
        del self._waiting[:count]
        first = written.last_sequence - len(entry.events) + 1
        self.last_sequence, self.is_pausing = written.last_sequence, written.is_pausing
        run = self.run
        self._on_write(
            Told(
                session_id=run.session_id,
                run_id=run.id,
                trace=run.trace,
                relay=written.relay,
                published=written.published,
                events=[
                    StoredEvent(
                        session_id=run.session_id,
                        run_id=run.id,
                        sequence=sequence,
                        time=written.time,
                        type=one.type,
                        payload=one.payload,
                    )
                    for sequence, one in enumerate(entry.events, start=first)
                ]
                if written.time is not None
                else [],
            )
        )


async def until_up(operation: Callable[[], Awaitable[Result]]) -> Result:
    """Repeat while the database is away; whoever owns the task may cancel it."""
    pause = FIRST_PAUSE_S
    while True:
        try:
            return await operation()
        except DatabaseDown as error:
            log.warning("write_waits_for_database", cause=error.cause)
        await asyncio.sleep(pause * random.uniform(0.5, 1.0))
        pause = min(2 * pause, LONGEST_PAUSE_S)
