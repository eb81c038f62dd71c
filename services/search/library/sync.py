"""Keeping the index in step with the library: at start, when Zotero changed it, and when asked."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol

from services.chassis.errors import Internal, ServiceError
from services.chassis.telemetry import EventLog
from services.search.errors import DiskFull
from services.search.index import Index
from services.search.index_schema import generation_before
from services.search.index_writer import IndexWriter
from services.search.library.changes import Again
from services.search.library.described import describe
from services.search.library.embedding import Embedder
from services.search.library.fingerprints import same_file
from services.search.library.folding import fold
from services.search.library.librarian import Origin, Wish
from services.search.library.progress import Board, Phase, Progress
from services.search.library.records import LibraryRecords
from services.search.library.source import LibrarySource, NoSource, SyncStopped
from services.search.library.text_sync import TextSync
from services.search.library.writer_lock import WriterLock
from services.search.library_state import LibraryState, SourceChoice, Unfinished

# How often a running sync writes down how far it is.
KEEP_EVERY_S = 5.0

log = EventLog(__name__)


class SourceOpener(Protocol):
    """Knows which source the library is read from."""

    @property
    def configured(self) -> SourceChoice | None:
        """What the settings name."""

    def none(self) -> LibrarySource:
        """The source before there is one."""

    def opened_at_start(self, state: LibraryState) -> LibrarySource:
        """The source to begin with."""

    async def opened_for_person(self, choice: SourceChoice) -> LibrarySource:
        """The source that a person chose; raises InvalidSource, SourceFixed."""

    def is_demo(self, location: str) -> bool:
        """Whether the library at this place is the invented one."""

    def recheck_s(self, kind: str) -> float:
        """How long at least a source of this kind is left alone."""


class LibrarySync:
    """Runs one sync at a time; callers join it and may go away without stopping it."""

    def __init__(
        self,
        index: Index,
        writer: IndexWriter,
        sources: SourceOpener,
        texts: TextSync,
        *,
        embedder: Embedder | None,
        encoder_id: str | None,
        lock: WriterLock,
        recheck_s: float,
    ) -> None:
        self._index = index
        self._writer = writer
        self._state = _State(index, writer)
        self._sources = sources
        self._texts = texts
        self._embedder = embedder
        self._encoder_id = encoder_id
        self._lock = lock
        self._recheck_s = recheck_s
        self._source: LibrarySource = sources.none()
        self._running: Board | None = None
        self._next: Board | None = None
        self._wish = Wish()
        self._is_notified = False
        self._is_stopped = False
        self._was_told = False
        self._requested = asyncio.Event()
        self._is_open = asyncio.Event()
        self._seen: Hashable = None
        self.last_error = ""

    @property
    def origin(self) -> Origin:
        """Where the library is read from."""
        source = self._source
        return Origin(
            kind=source.kind,
            location=source.location,
            program=source.program,
            demo=self._sources.is_demo(source.location),
        )

    @property
    def running(self) -> Progress | None:
        """The text sync in hand, else the vectors in hand."""
        if self._running is not None:
            return self._running.latest
        board = self._embedder.board if self._embedder else None
        return board.latest if board else None

    async def sync(self, wish: Wish) -> AsyncIterator[Progress]:
        """Sync, or join the sync that runs, and tell its progress; raises what made it fail."""
        await self._is_open.wait()
        if isinstance(self._source, NoSource):
            # Nothing to wait for: refused at once, and not as the end of a sync.
            await self._source.read()
        boards = [self._request(wish)]
        while boards:
            board = boards.pop()
            async for progress in board.watch():
                yield progress
            if board.error is not None:
                raise board.error
            if board.latest.phase is Phase.TEXT and self._embedder and self._embedder.board:
                boards.append(self._embedder.board)
        yield replace(board.latest, phase=Phase.DONE, current="")

    def notify(self) -> None:
        """Look at the library soon; a running sync reads what is new before it goes on."""
        self._is_notified = True
        if self._running is None:
            self._request(Wish())
        else:
            self._texts.interrupt()

    def stop(self) -> bool:
        """End the running sync where it is; False when none runs. The next one goes on there."""
        if self._running is None:
            return False
        self._is_stopped = True
        self._texts.interrupt()
        return True

    async def choose(self, choice: SourceChoice) -> None:
        """Read the library from another place from now on; raises InvalidSource, SourceFixed."""
        source = await self._sources.opened_for_person(choice)
        over = self._sources.configured
        # What is in the index is of the former source, and no age of this one.
        await self._state.amend(
            lambda state: replace(state, chosen=choice, chosen_over=over, synced_at_ms=0)
        )
        old, self._source = self._source, source
        self._seen = None
        await old.aclose()
        log.info("source_chosen", kind=source.kind, location=source.location)
        self.notify()

    async def run(self) -> None:
        """Work until cancelled; the index is synced at once and then whenever it has to be."""
        self._source = self._sources.opened_at_start(await self._index.state())
        self._is_open.set()
        self._request(Wish())
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._work())
                group.create_task(self._watch())
                if self._embedder is not None:
                    group.create_task(self._embedder.run())
        finally:
            self._lock.release()
            await self._texts.rest()
            await self._source.aclose()

    def _request(self, wish: Wish) -> Board:
        """The board of a sync that does what is wished."""
        if self._running is not None and wish.is_plain and self._next is None:
            return self._running
        if self._next is None:
            self._next = Board(Progress(phase=Phase.SNAPSHOT))
        self._wish |= wish
        self._requested.set()
        return self._next

    async def _watch(self) -> None:
        """Ask for a sync when the library changed or the last sync failed."""
        while True:
            await asyncio.sleep(max(self._recheck_s, self._sources.recheck_s(self._source.kind)))
            if self._running is None:
                await self._texts.rest()
            if self.last_error or await self._signature() != self._seen:
                self._request(Wish())

    async def _signature(self) -> Hashable:
        try:
            return await self._source.signature()
        except ServiceError as error:
            # Told, and a change from what was seen: the sync that follows says the same aloud.
            return error.reason

    async def _work(self) -> None:
        while True:
            await self._requested.wait()
            self._requested.clear()
            board, self._next = self._next, None
            wish, self._wish = self._wish, Wish()
            if board is None:
                continue
            self._was_told, self._is_notified = self._is_notified, False
            self._running, self._is_stopped = board, False
            error = await self._attempt(board, wish)
            self._running = None
            if self._is_notified:
                self._request(Wish())
            if error is None and self._embedder is not None:
                self._embedder.wake()
            board.close(error)

    async def _attempt(self, board: Board, wish: Wish) -> ServiceError | None:
        started = time.monotonic()
        try:
            self._lock.acquire()
            await self._sync_once(board, wish)
        except SyncStopped as stopped:
            # No failure: nothing asks for another sync by itself, before the library changes.
            log.info("sync_stopped", done=board.latest.done, total=board.latest.total)
            self.last_error = ""
            return stopped
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

    async def _sync_once(self, board: Board, wish: Wish) -> None:
        again = await self._again(wish)
        keeper = _Keeper(self._state, again)
        changed = False
        unfinished = (await self._index.state()).unfinished
        total = unfinished.total if unfinished else 0
        while True:
            source = self._source
            records = await self._read(source)
            self._heed_stop()
            outcome = await self._texts.run(
                records, board, files=source, again=again, total=total, keeper=keeper
            )
            self._heed_stop()
            changed = changed or outcome.changed
            total = board.latest.total
            if not outcome.interrupted and source is self._source:
                break
            self._was_told, self._is_notified = True, False
        await self._writer.sweep(self._encoder_id, alone=self._lock.is_exclusive)
        if changed:
            await self._writer.tidy(self._encoder_id)
        now = time.time_ns() // 1_000_000
        await self._state.amend(
            lambda state: replace(state, synced_at_ms=now, unfinished=None, last_error="")
        )

    def _heed_stop(self) -> None:
        if self._is_stopped:
            raise SyncStopped("The sync was stopped; the next one goes on where it was.")

    async def _read(self, source: LibrarySource) -> LibraryRecords:
        """The library with each work once, as the index knows it from now on."""
        # Taken before reading: a change during the sync shows at the next look.
        self._seen = await self._signature()
        if self._was_told:
            # There is something to read: its reader starts while the library is looked through.
            records, _ = await asyncio.gather(source.read(), self._texts.prepare())
        else:
            records = await source.read()
        folded = await asyncio.to_thread(fold, records, same_file)
        # At once, so that scopes know the libraries and collections of the texts that follow.
        described = await asyncio.to_thread(describe, folded, datetime.now(UTC))
        await self._state.amend(
            lambda state: replace(
                described(state),
                source_kind=source.kind,
                source_location=source.location,
                source_program=source.program,
                demo=self._sources.is_demo(source.location),
            )
        )
        return folded.records

    async def _again(self, wish: Wish) -> Again:
        """What is read again: a wish that a kill cut short is still one."""
        unfinished = (await self._index.state()).unfinished
        before = generation_before(0) if wish.everything else ""
        if unfinished is not None and unfinished.reread_before > before:
            before = unfinished.reread_before
        return Again(before=before, unread=wish.unread)

    async def _remember_error(self, error: ServiceError) -> None:
        self.last_error = error.message
        # With a full disk the reason is told from memory until the next sync.
        with suppress(DiskFull):
            await self._state.amend(lambda state: replace(state, last_error=error.message))


class _State:
    """The library's state, changed by one task at a time."""

    def __init__(self, index: Index, writer: IndexWriter) -> None:
        self._index = index
        self._writer = writer
        self._turn = asyncio.Lock()

    async def amend(self, change: Callable[[LibraryState], LibraryState]) -> None:
        """Keep the state as changed, if it is another then."""
        async with self._turn:
            before = await self._index.state()
            after = change(before)
            if after != before:
                await self._writer.remember(after)


class _Keeper:
    """Writes down now and then how far a sync is."""

    def __init__(self, state: _State, again: Again) -> None:
        self._state = state
        self._reread_before = again.before
        self._kept_at = -KEEP_EVERY_S

    async def keep(self, progress: Progress) -> None:
        """Write the progress down, if the last time is long enough ago."""
        now = time.monotonic()
        if progress.done == progress.total or now - self._kept_at < KEEP_EVERY_S:
            return
        self._kept_at = now
        unfinished = Unfinished(
            done=progress.done,
            total=progress.total,
            current=progress.current,
            reread_before=self._reread_before,
        )
        await self._state.amend(lambda state: replace(state, unfinished=unfinished))
