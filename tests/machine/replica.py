"""One holder of a run, as the runner would have it, that can be made to die at its next write."""

import asyncio
from contextlib import suppress
from datetime import datetime
from enum import StrEnum

from services.orchestrator.errors import HandOver, Stale
from services.orchestrator.ledger import Standing
from services.orchestrator.pipeline import Pipeline
from services.orchestrator.run import ClaimedRun, Lease
from services.orchestrator.store.database import Database
from services.orchestrator.store.history import Entry, History, PastTurn, Recorded, Written
from services.orchestrator.store.runs import Runs
from tests.machine.desk import Desk

# Enough turns of the loop for anything that waits for nothing outside.
TURNS = 25


class Death(BaseException):
    """The process is gone: nothing of it runs any more."""


class Dies(StrEnum):
    """Where a holder dies."""

    BEFORE_WRITING = "before writing"
    AFTER_WRITING = "after writing"


class End(StrEnum):
    """How a holder's work ended."""

    LEFT = "left"
    LOST = "lost"
    GAVE_BACK = "gave back"
    DIED = "died"


class _MortalStore:
    """The store as a holder sees it who may die at a write."""

    def __init__(self, history: History) -> None:
        self._history = history
        self.dies: Dies | None = None
        self.at_work = 0

    async def record(self, lease: Lease, entry: Entry) -> Written:
        if self.dies is Dies.BEFORE_WRITING:
            raise Death
        self.at_work += 1
        try:
            written = await self._history.record(lease, entry)
        finally:
            self.at_work -= 1
        if self.dies is Dies.AFTER_WRITING:
            raise Death
        return written

    async def load(self, run_id: str) -> Recorded:
        self.at_work += 1
        try:
            return await self._history.load(run_id)
        finally:
            self.at_work -= 1

    async def clock(self) -> datetime:
        self.at_work += 1
        try:
            return await self._history.clock()
        finally:
            self.at_work -= 1

    async def conversation(self, session_id: str, before: int, *, turns: int) -> list[PastTurn]:
        self.at_work += 1
        try:
            return await self._history.conversation(session_id, before, turns=turns)
        finally:
            self.at_work -= 1


class _Nobody:
    async def publish(self, subject: str, body: bytes) -> None:
        return


class Replica:
    """Works on a run that it has claimed; everything it asks waits at its desk."""

    def __init__(self, run: ClaimedRun, database: Database) -> None:
        self.run = run
        self.desk = Desk()
        self.end: End | None = None
        self._runs = Runs(database)
        self._store = _MortalStore(History(database))
        self._stopping = asyncio.Event()
        self._task = asyncio.create_task(self._work())

    def die_at_next_write(self, dies: Dies) -> None:
        """Let the next write be the last thing that happens, or nearly happens."""
        self._store.dies = dies

    @property
    def is_doomed(self) -> bool:
        """Whether the next write ends it."""
        return self._store.dies is not None

    @property
    def is_stopping(self) -> bool:
        """Whether the process was asked to stop."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """Ask for an orderly end, as at a shutdown."""
        self._stopping.set()

    async def drop(self, end: End) -> None:
        """Let nothing of it run any more, without cleaning up."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self.end = end

    async def settled(self) -> None:
        """Wait until it has ended or waits for replies only."""
        quiet = 0
        while not self._task.done() and quiet < TURNS:
            quiet = 0 if self._store.at_work or not self.desk.held else quiet + 1
            await asyncio.sleep(0)
        if self._task.done():
            await self._task

    async def _work(self) -> None:
        pipeline = Pipeline(
            self._store,
            self.desk.peers(),
            _Nobody(),
            support_threshold=0.5,
            patience_s=1,
            checkpoint_patience=None,
            on_write=lambda told: None,
        )
        try:
            await pipeline.run(self.run, Standing(self._stopping))
            self.end = End.LEFT
        except Stale:
            self.end = End.LOST
        except HandOver:
            await self._runs.release(self.run.lease)
            self.end = End.GAVE_BACK
        except Death:
            self.end = End.DIED
