"""Bringing the texts of the index in step with the library: read, compare, extract, commit."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from services.chassis.errors import ServiceError
from services.search.index import Index
from services.search.index_rows import IndexedDocument, IndexedText, Kind
from services.search.index_writer import IndexWriter
from services.search.library import texts
from services.search.library.changes import Changes, compare, settled_abstracts
from services.search.library.planned import Planned, fingerprint, plan
from services.search.library.progress import Board, Phase
from services.search.library.records import LibraryRecords
from services.search.text.document_text import PagedText
from services.search.text.passages import structure, structure_plain

# A batch is committed when it holds this much, or when its first document has waited this long.
BATCH_DOCUMENTS = 64
BATCH_PASSAGES = 2_000
BATCH_WAIT_S = 1.0
PLAIN_TITLES = {Kind.ABSTRACT: "Abstract", Kind.ANNOTATION: "Annotation"}


class TextReader(Protocol):
    """Reads the pages of a file; a bad file gives a reason, not an error."""

    async def read(self, path: Path) -> PagedText:
        """The text of one file."""


OpenReader = Callable[[], AbstractAsyncContextManager[TextReader]]


class TextSync:
    """One writer's way from a library to texts in the index; every document may be done twice."""

    def __init__(
        self, index: Index, writer: IndexWriter, *, open_reader: OpenReader, readers: int
    ) -> None:
        self._index = index
        self._writer = writer
        self._open_reader = open_reader
        self._readers = readers

    async def run(self, records: LibraryRecords, board: Board, *, everything: bool) -> bool:
        """Sync once and tell whether anything changed.

        A killed sync is continued by the next, since documents are committed whole.
        """
        planned = plan(records)
        prints = await asyncio.to_thread(_fingerprints, planned)
        indexed = (await self._index.documents()).by_id
        changes = compare(planned, prints, indexed, everything=everything)
        board.show(phase=Phase.TEXT, total=len(changes.to_read) + len(changes.to_retitle))
        if changes.to_remove:
            await self._writer.remove(changes.to_remove)
        await self._relabel(changes, indexed)
        await self._retitle(changes, indexed, board)
        await self._read_all(changes.to_read, prints, board)
        await self._settle()
        return changes.any

    async def _relabel(self, changes: Changes, indexed: Mapping[str, IndexedDocument]) -> None:
        documents = [
            texts.with_facts(planned, indexed[planned.document_id])
            for planned in changes.to_relabel
        ]
        await self._commit_rows(documents)

    async def _retitle(
        self, changes: Changes, indexed: Mapping[str, IndexedDocument], board: Board
    ) -> None:
        for planned in changes.to_retitle:
            old = indexed[planned.document_id]
            board.show(current=planned.title)
            text = texts.retitled(
                texts.with_facts(planned, old),
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
        self, planned: Sequence[Planned], prints: dict[str, str], board: Board
    ) -> None:
        todo = iter(planned)
        done: asyncio.Queue[IndexedText] = asyncio.Queue(maxsize=BATCH_DOCUMENTS)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._readers, len(planned))):
                    group.create_task(self._read_some(todo, prints, done, board))
                group.create_task(self._commit_all(len(planned), done, board))
        except* ServiceError as failures:
            raise failures.exceptions[0] from None

    async def _read_some(
        self,
        todo: Iterator[Planned],
        prints: dict[str, str],
        done: asyncio.Queue[IndexedText],
        board: Board,
    ) -> None:
        async with self._open_reader() as reader:
            for planned in todo:
                board.show(current=planned.title)
                await done.put(await _read(planned, prints[planned.document_id], reader))

    async def _commit_all(self, count: int, done: asyncio.Queue[IndexedText], board: Board) -> None:
        async for batch in _batches(count, done):
            await self._writer.commit(batch)
            board.show(done=board.latest.done + len(batch))


async def _read(planned: Planned, print_: str, reader: TextReader) -> IndexedText:
    if planned.path is not None:
        paged = await reader.read(planned.path)
        # Layout analysis of a long document would hold up every query.
        structured = await asyncio.to_thread(structure, paged, planned.document_id)
        return texts.file_text(planned, print_, paged, structured)
    if planned.text:
        title = PLAIN_TITLES.get(planned.kind, planned.title)
        structured = await asyncio.to_thread(
            structure_plain, planned.text, planned.document_id, title
        )
        return texts.plain_text(planned, print_, structured)
    return texts.unread_text(planned, print_)


async def _batches(
    count: int, done: asyncio.Queue[IndexedText]
) -> AsyncIterator[list[IndexedText]]:
    """The texts in batches that are full, or old enough, or the last."""
    loop = asyncio.get_running_loop()
    batch: list[IndexedText] = []
    due = loop.time()
    while count or batch:
        try:
            async with asyncio.timeout_at(due if batch else None):
                if count:
                    text = await done.get()
                    count -= 1
                    due = due if batch else loop.time() + BATCH_WAIT_S
                    batch.append(text)
        except TimeoutError:
            due = loop.time()
        passages = sum(len(text.passages) for text in batch)
        is_full = len(batch) >= BATCH_DOCUMENTS or passages >= BATCH_PASSAGES
        if is_full or loop.time() >= due or not count:
            yield batch
            batch = []


def _fingerprints(planned: Sequence[Planned]) -> dict[str, str]:
    return {one.document_id: fingerprint(one) for one in planned}
