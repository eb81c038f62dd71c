"""Keeping the index in step with the library: at start, when Zotero changed it, and when asked."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout

from services.chassis.errors import Internal, ServiceError
from services.chassis.telemetry import EventLog
from services.search.errors import DiskFull
from services.search.index import Index
from services.search.index_writer import IndexWriter
from services.search.library.embedding import Embedder
from services.search.library.progress import Board, Phase, Progress
from services.search.library.source import LibraryLocked, LibrarySource, NoLibrary
from services.search.library.text_sync import TextSync

LOCK_FILE = "writer.lock"

log = EventLog(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a library is read from."""

    kind: str
    location: str
    demo: bool


class Librarian(Protocol):
    """What the servicer needs of whoever keeps the index."""

    @property
    def running(self) -> Progress | None:
        """The work in hand."""

    @property
    def origin(self) -> Origin | None:
        """Where the library is read from; None when this process reads none."""

    @property
    def last_error(self) -> str:
        """Why the last sync of this process failed; empty when it did not."""

    def sync(self, *, everything: bool) -> AsyncIterator[Progress]:
        """Sync, or join the sync that runs, and tell its progress; raises what made it fail."""


class NoLibrarian:
    """Stands in where this process does not keep the index: a reader, or no library is set."""

    running: Progress | None = None
    origin: Origin | None = None
    last_error: str = ""

    def __init__(self, why: str) -> None:
        self._why = why

    async def sync(self, *, everything: bool) -> AsyncIterator[Progress]:
        """Raises NoLibrary with the reason."""
        raise NoLibrary(self._why)
        yield  # makes this an iterator, as callers expect


class WriterLock:
    """Keeps a second writer on the same folder from doing the same work; nothing for a URI."""

    def __init__(self, folder: Path | None) -> None:
        self._lock = FileLock(folder / LOCK_FILE, thread_local=False) if folder else None

    @property
    def is_exclusive(self) -> bool:
        """Whether holding it proves that no other writer is at work."""
        return self._lock is not None

    def acquire(self) -> None:
        """Take the lock, if it is not held already; raises LibraryLocked."""
        if self._lock is None or self._lock.is_locked:
            return
        try:
            self._lock.acquire(blocking=False)
        except Timeout as error:
            raise LibraryLocked(
                "Another process is writing this index; stop it, or let it do the work."
            ) from error

    def release(self) -> None:
        """Let go of the lock."""
        if self._lock is not None:
            self._lock.release()


class LibrarySync:
    """Runs one sync at a time; callers join it and may go away without stopping it."""

    def __init__(
        self,
        index: Index,
        writer: IndexWriter,
        source: LibrarySource,
        texts: TextSync,
        *,
        embedder: Embedder | None,
        encoder_id: str | None,
        lock: WriterLock,
        signature: Callable[[], object],
        recheck_s: float,
        demo: bool,
    ) -> None:
        self._index = index
        self._writer = writer
        self._source = source
        self._texts = texts
        self._embedder = embedder
        self._encoder_id = encoder_id
        self._lock = lock
        self._signature = signature
        self._recheck_s = recheck_s
        self._demo = demo
        self._running: Board | None = None
        self._next: Board | None = None
        self._next_is_full = False
        self._requested = asyncio.Event()
        self._seen: object = None
        self.last_error = ""

    @property
    def origin(self) -> Origin:
        """Where the library is read from."""
        return Origin(kind=self._source.kind, location=self._source.location, demo=self._demo)

    @property
    def running(self) -> Progress | None:
        """The text sync in hand, else the vectors in hand."""
        if self._running is not None:
            return self._running.latest
        board = self._embedder.board if self._embedder else None
        return board.latest if board else None

    async def sync(self, *, everything: bool) -> AsyncIterator[Progress]:
        """Sync, or join the sync that runs, and tell its progress; raises what made it fail."""
        boards = [self._request(everything)]
        while boards:
            board = boards.pop()
            async for progress in board.watch():
                yield progress
            if board.error is not None:
                raise board.error
            if board.latest.phase is Phase.TEXT and self._embedder and self._embedder.board:
                boards.append(self._embedder.board)
        yield replace(board.latest, phase=Phase.DONE, current="")

    async def run(self) -> None:
        """Work until cancelled; the index is synced at once and then whenever it has to be."""
        self._request(everything=False)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._work())
                group.create_task(self._watch())
                if self._embedder is not None:
                    group.create_task(self._embedder.run())
        finally:
            self._lock.release()

    def _request(self, everything: bool) -> Board:
        """The board of a sync that will see the library as it is now."""
        if self._running is not None and not everything and self._next is None:
            return self._running
        if self._next is None:
            self._next = Board(Progress(phase=Phase.SNAPSHOT))
        self._next_is_full = self._next_is_full or everything
        self._requested.set()
        return self._next

    async def _watch(self) -> None:
        """Ask for a sync when the library's files changed or the last sync failed."""
        while True:
            await asyncio.sleep(self._recheck_s)
            if self.last_error or await asyncio.to_thread(self._signature) != self._seen:
                self._request(everything=False)

    async def _work(self) -> None:
        while True:
            await self._requested.wait()
            self._requested.clear()
            board, self._next = self._next, None
            everything, self._next_is_full = self._next_is_full, False
            if board is None:
                continue
            self._running = board
            error = await self._attempt(board, everything)
            self._running = None
            if error is None and self._embedder is not None:
                self._embedder.wake()
            board.close(error)

    async def _attempt(self, board: Board, everything: bool) -> ServiceError | None:
        started = time.monotonic()
        try:
            self._lock.acquire()
            await self._sync_once(board, everything)
        except ServiceError as error:
            log.warning("sync_failed", reason=error.reason, message=error.message)
            await self._remember_error(error)
            return error
        except Exception as error:  # the edge of a background task: a bug must not end the process
            log.error("sync_failed", error)
            await self._remember_error(Internal())
            return Internal()
        self.last_error = ""
        log.info("synced", documents=board.latest.total, seconds=time.monotonic() - started)
        return None

    async def _sync_once(self, board: Board, everything: bool) -> None:
        # Taken before reading: a change during the sync shows at the next look.
        self._seen = await asyncio.to_thread(self._signature)
        records = await asyncio.to_thread(self._source.read)
        # At once, so that scopes know the libraries and collections of the texts that follow.
        before = await self._index.state()
        state = replace(
            before,
            source_kind=self._source.kind,
            source_location=self._source.location,
            demo=self._demo,
            libraries=tuple(library.name for library in records.libraries),
            collections=frozenset(f"{one.library}/{one.key}" for one in records.collections),
        )
        if state != before:
            await self._writer.remember(state)
        changed = await self._texts.run(records, board, everything=everything)
        await self._writer.sweep(self._encoder_id, alone=self._lock.is_exclusive)
        if changed:
            await self._writer.tidy(self._encoder_id)
        now = time.time_ns() // 1_000_000
        await self._writer.remember(replace(state, synced_at_ms=now, last_error=""))

    async def _remember_error(self, error: ServiceError) -> None:
        self.last_error = error.message
        state = await self._index.state()
        # With a full disk the reason is told from memory until the next sync.
        with suppress(DiskFull):
            await self._writer.remember(replace(state, last_error=error.message))
