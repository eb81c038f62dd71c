"""Bringing the texts of the index in step with the library: read, compare, extract, commit."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from services.chassis.errors import ServiceError
from services.search.index import Index
from services.search.index_rows import IndexedDocument, IndexedText, Kind
from services.search.index_writer import IndexWriter
from services.search.library import texts
from services.search.library.attachment_paths import Location
from services.search.library.changes import Again, Changes, compare, settled_abstracts
from services.search.library.fingerprints import Print, compared, with_hash
from services.search.library.planned import Planned, plan
from services.search.library.progress import Board, Phase, Progress
from services.search.library.records import LibraryRecords, RemoteFile
from services.search.text.document_text import FileText
from services.search.text.media import Media
from services.search.text.passages import structure_plain

# A batch is committed when it holds this much, or when its first document has waited this long.
BATCH_DOCUMENTS = 64
BATCH_PASSAGES = 2_000
BATCH_WAIT_S = 1.0
PLAIN_TITLES = {Kind.ABSTRACT: "Abstract"}


class TextReader(Protocol):
    """Reads files; a bad file gives a reason, not an error."""

    async def read(self, path: Path, media: Media, document_id: str) -> FileText:
        """The text of one file."""

    async def warm(self) -> None:
        """Get ready for a first file."""


class Files(Protocol):
    """Brings files to this machine."""

    async def fetch(self, file: RemoteFile) -> Location:
        """The file, or why it cannot be had."""


class Keeper(Protocol):
    """Remembers how far a sync is, for a process that comes after a kill."""

    async def keep(self, progress: Progress) -> None:
        """Write the progress down, if it is time to."""


OpenReader = Callable[[], AbstractAsyncContextManager[TextReader]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended."""

    changed: bool
    interrupted: bool
    """The library changed meanwhile: what is left is to be compared anew."""


class TextSync:
    """One writer's way from a library to texts in the index; every document may be done twice."""

    def __init__(
        self, index: Index, writer: IndexWriter, *, open_reader: OpenReader, readers: int
    ) -> None:
        self._index = index
        self._writer = writer
        self._open_reader = open_reader
        self._readers = readers
        self._is_interrupted = False
        self._ready: tuple[TextReader, AsyncExitStack] | None = None

    async def prepare(self) -> None:
        """Have a reader of files ready: starting one takes as long as reading a paper."""
        if self._ready is None:
            self._ready = await self._opened()
        await self._ready[0].warm()

    async def rest(self) -> None:
        """Close the reader that waits for the next run."""
        ready, self._ready = self._ready, None
        if ready is not None:
            await ready[1].aclose()

    def interrupt(self) -> None:
        """End the run in hand soon, so that what is new now can be read first."""
        self._is_interrupted = True

    async def run(
        self,
        records: LibraryRecords,
        board: Board,
        *,
        files: Files,
        again: Again,
        total: int,
        keeper: Keeper,
    ) -> Outcome:
        """Sync once; a killed run is continued by the next, since documents are committed whole.

        `total` is the work that the sync had before this run, what is done of it included.
        """
        self._is_interrupted = False
        planned = plan(records)
        indexed = (await self._index.documents()).by_id
        prints = await asyncio.to_thread(_prints, planned, indexed)
        changes = compare(planned, prints, indexed, again)
        left = len(changes.to_read) + len(changes.to_retitle)
        total = max(total, left)
        board.show(phase=Phase.TEXT, done=total - left, total=total)
        await keeper.keep(board.latest)
        if changes.to_remove:
            await self._writer.remove(changes.to_remove)
        await self._relabel(changes, prints, indexed)
        await self._retitle(changes, prints, indexed, board)
        await self._read_all(changes.to_read, prints, board, files, keeper)
        await self._settle()
        return Outcome(changed=changes.any, interrupted=self._is_interrupted)

    async def _relabel(
        self,
        changes: Changes,
        prints: Mapping[str, Print],
        indexed: Mapping[str, IndexedDocument],
    ) -> None:
        documents = [
            texts.with_facts(one, prints[one.document_id].value, indexed[one.document_id])
            for one in changes.to_relabel
        ]
        await self._commit_rows(documents)

    async def _retitle(
        self,
        changes: Changes,
        prints: Mapping[str, Print],
        indexed: Mapping[str, IndexedDocument],
        board: Board,
    ) -> None:
        for planned in changes.to_retitle:
            old = indexed[planned.document_id]
            board.show(current=planned.title)
            text = texts.retitled(
                texts.with_facts(planned, prints[planned.document_id].value, old),
                await self._index.sections(old),
                await self._index.passages_of(old),
                await self._index.pages_of(old),
            )
            await self._writer.commit([text])
            board.show(done=board.latest.done + 1)

    async def _settle(self) -> None:
        documents = await self._index.documents()
        await self._commit_rows(settled_abstracts(list(documents.by_id.values())))

    async def _commit_rows(self, documents: Sequence[IndexedDocument]) -> None:
        rows = [
            IndexedText(
                document=document,
                sections=await self._index.sections(document),
                passages=(),
                pages=(),
            )
            for document in documents
        ]
        await self._writer.commit_rows(rows)

    async def _read_all(
        self,
        planned: Sequence[Planned],
        prints: Mapping[str, Print],
        board: Board,
        files: Files,
        keeper: Keeper,
    ) -> None:
        if not planned:
            return
        todo = iter(planned)
        done: asyncio.Queue[IndexedText | None] = asyncio.Queue(maxsize=BATCH_DOCUMENTS)

        async def read() -> None:
            async with asyncio.TaskGroup() as readers:
                for _ in range(min(self._readers, len(planned))):
                    readers.create_task(self._read_some(todo, prints, done, board, files))
            await done.put(None)

        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(read())
                group.create_task(self._commit_all(done, board, keeper))
        except* ServiceError as failures:
            raise _first(failures) from None

    async def _read_some(
        self,
        todo: Iterator[Planned],
        prints: Mapping[str, Print],
        done: asyncio.Queue[IndexedText | None],
        board: Board,
        files: Files,
    ) -> None:
        async with self._borrowed() as reader:
            for planned in todo:
                board.show(current=planned.title)
                here = await _fetched(planned, files)
                value = prints[planned.document_id].value
                if here.path is not None:
                    value = await asyncio.to_thread(with_hash, value, here.path)
                await done.put(await _read(here, value, reader))
                # After at least one: however often the library changes, each round gets on.
                if self._is_interrupted:
                    return

    @asynccontextmanager
    async def _borrowed(self) -> AsyncIterator[TextReader]:
        """The reader that is ready, or another; one of them is ready again afterwards."""
        taken, self._ready = self._ready, None
        reader, stack = taken or await self._opened()
        try:
            yield reader
        except BaseException:
            await stack.aclose()
            raise
        if self._ready is None:
            self._ready = reader, stack
        else:
            await stack.aclose()

    async def _opened(self) -> tuple[TextReader, AsyncExitStack]:
        stack = AsyncExitStack()
        return await stack.enter_async_context(self._open_reader()), stack

    async def _commit_all(
        self, done: asyncio.Queue[IndexedText | None], board: Board, keeper: Keeper
    ) -> None:
        async for batch in _batches(done):
            await self._writer.commit(batch)
            board.show(done=board.latest.done + len(batch))
            await keeper.keep(board.latest)


async def _fetched(planned: Planned, files: Files) -> Planned:
    """The document with its file on this machine, or with the reason why it is not."""
    if planned.remote is None:
        return planned
    location = await files.fetch(planned.remote)
    return replace(
        planned,
        path=location.path,
        unread=location.unread,
        detail=location.detail or planned.detail,
    )


async def _read(planned: Planned, print_: str, reader: TextReader) -> IndexedText:
    if planned.path is not None:
        text = await reader.read(planned.path, Media(planned.kind.value), planned.document_id)
        return texts.file_text(planned, print_, text.paged, text.structured)
    if planned.text:
        title = planned.heading or PLAIN_TITLES.get(planned.kind, planned.title)
        structured = await asyncio.to_thread(
            structure_plain, planned.text, planned.document_id, title
        )
        return texts.plain_text(planned, print_, structured)
    return texts.unread_text(planned, print_)


async def _batches(
    done: asyncio.Queue[IndexedText | None],
) -> AsyncIterator[list[IndexedText]]:
    """The texts in batches that are full, or old enough, or the last; None ends them."""
    loop = asyncio.get_running_loop()
    batch: list[IndexedText] = []
    due = loop.time()
    is_over = False
    while not is_over or batch:
        try:
            async with asyncio.timeout_at(due if batch else None):
                if not is_over:
                    text = await done.get()
                    due = due if batch else loop.time() + BATCH_WAIT_S
                    is_over = text is None
                    batch += [text] if text is not None else []
        except TimeoutError:
            due = loop.time()
        passages = sum(len(text.passages) for text in batch)
        is_full = len(batch) >= BATCH_DOCUMENTS or passages >= BATCH_PASSAGES
        if batch and (is_full or loop.time() >= due or is_over):
            yield batch
            batch = []


def _prints(planned: Sequence[Planned], indexed: Mapping[str, IndexedDocument]) -> dict[str, Print]:
    known = {key: document.fingerprint for key, document in indexed.items()}
    return {one.document_id: compared(one, known.get(one.document_id, "")) for one in planned}


def _first(failures: BaseExceptionGroup[ServiceError]) -> BaseException:
    """One of the errors, since one sentence is told."""
    error: BaseException = failures
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
