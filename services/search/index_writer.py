"""Everything that is written to the index, in the order that keeps half a document invisible."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from services.search import index_schema as schema
from services.search.errors import DiskFull, is_disk_full
from services.search.index import ENCODER_KEY, GRAPH_KEY, STATE_KEY, Index
from services.search.index_keys import dead_generations, live_rows, without
from services.search.index_rows import Documents, IndexedText
from services.search.index_upkeep import (
    MOST_PASSAGES_BESIDE,
    committed,
    fold,
)
from services.search.index_vectors import GRAPH_FROM, Graph, graph_is_due, graph_json, make_graph
from services.search.library_state import LibraryState, state_json

if TYPE_CHECKING:
    from lancedb.table import AsyncTable

# Where no lock keeps another writer away, only rows this old are certainly nobody's work in hand.
FOREIGN_WORK_S = 3600.0
FILTER_VALUES = 500
MARKS = ["passage_id", "digest"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unembedded:
    """A live passage that has no vector yet."""

    passage_id: str
    document_id: str
    digest: str


class IndexWriter:
    """Writes the tables; raises DiskFull and leaves what was committed readable."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._graphing = asyncio.Lock()

    async def commit(self, texts: Sequence[IndexedText]) -> None:
        """Make documents visible in their new generation; their old one is for `sweep`."""
        # Analysing a book takes a while; other work goes on.
        passages = await asyncio.to_thread(_passage_rows, texts)
        pages = [row for text in texts for row in schema.page_rows(text)]
        with storing():
            if passages:
                await _append(self._index.passages_table, schema.arrow(passages, schema.PASSAGES))
            if pages:
                await _append(self._index.pages_table, schema.arrow(pages, schema.PAGES))
        # Last: until here a reader sees the former generation, or no document.
        await self.commit_rows(texts)

    async def commit_rows(self, texts: Sequence[IndexedText]) -> None:
        """Replace the rows of documents, whose passages and pages stay as they are."""
        rows = [schema.document_row(text) for text in texts]
        if rows:
            await _upsert(
                self._index.documents_table, "document_id", schema.arrow(rows, schema.DOCUMENTS)
            )

    async def remove(self, document_ids: Sequence[str]) -> None:
        """Make documents invisible; what belonged to them is for `sweep`."""
        with storing():
            for chunk in _chunks(sorted(document_ids)):
                await _delete(self._index.documents_table, schema.is_in("document_id", chunk))

    async def add_vectors(
        self, encoder_id: str, passages: Sequence[Unembedded], vectors: NDArray[np.float32]
    ) -> None:
        """Store one row of `vectors` for each passage."""
        table_schema = schema.vectors(vectors.shape[1])
        flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
        columns = [
            pa.array([passage.passage_id for passage in passages], pa.string()),
            pa.array([passage.document_id for passage in passages], pa.string()),
            pa.array([passage.digest for passage in passages], pa.string()),
            pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]),
        ]
        from lancedb.index import BTree

        with storing():
            table = await self._index.vectors(encoder_id)
            if table is None:
                name = schema.vectors_table(encoder_id)
                await self._index.connection.create_table(name, schema=table_schema, exist_ok=True)
                table = await self._index.vectors(encoder_id)
                assert table is not None
                for column in ("passage_id", "document_id"):
                    await table.create_index(column, config=BTree())
            await _append(table, pa.Table.from_arrays(columns, schema=table_schema))

    async def unembedded(self, encoder_id: str) -> list[Unembedded]:
        """The live passages without a vector of this encoder, newest documents first."""
        documents = await self._index.documents()
        known = await self._embedded(encoder_id)
        columns = ["passage_id", "document_id", "generation", "digest"]
        rows = await self._index.passages_table.query().select(columns).to_arrow()
        # A large library has hundreds of thousands; queries go on meanwhile.
        return await asyncio.to_thread(_unembedded, rows, known, documents)

    async def activate(self, encoder_id: str) -> None:
        """Have readers search this encoder's vectors, and drop those of all others."""
        await self._remember(ENCODER_KEY, encoder_id)
        with storing():
            for name in (await self._index.connection.list_tables()).tables:
                if name.startswith("vectors_") and name != schema.vectors_table(encoder_id):
                    await self._index.connection.drop_table(name)

    async def remember(self, state: LibraryState) -> None:
        """Keep what a sync found out about the library."""
        await self._remember(STATE_KEY, state_json(state))
        # Written at every sync, also where `tidy` has nothing to do.
        with storing():
            await fold(self._index.manifest_table)

    async def sweep(self, encoder_id: str | None, *, alone: bool) -> None:
        """Delete the rows that belong to no committed document.

        `alone` says that no other writer can be at work; else rows of the last hour stay.
        """
        documents = await self._index.documents()
        limit = schema.generation_before(0 if alone else FOREIGN_WORK_S)
        with storing():
            for table in (self._index.passages_table, self._index.pages_table):
                rows = await table.query().select(["generation"]).to_arrow()
                dead = await asyncio.to_thread(dead_generations, rows, documents)
                for chunk in _chunks([one for one in dead if one < limit]):
                    await _delete(table, schema.is_in("generation", chunk))
            if encoder_id is not None:
                await self._sweep_vectors(encoder_id, documents)
            for name in (await self._index.connection.list_tables()).tables:
                if schema.is_of_another_layout(name):
                    await self._index.connection.drop_table(name)

    async def tidy(self, encoder_id: str | None) -> None:
        """Fold new rows into the search indices, join small files, drop old versions, when due."""
        index = self._index
        tables = [index.documents_table, index.pages_table]
        vectors = await index.vectors(encoder_id) if encoder_id is not None else None
        # Files that a graph is just being made of must stay.
        if vectors is not None and not self._graphing.locked():
            tables.append(vectors)
        with storing():
            await fold(index.passages_table, most_beside=MOST_PASSAGES_BESIDE)
            for table in tables:
                await fold(table)

    async def keep_graph(self, encoder_id: str, *, graph_from: int = GRAPH_FROM) -> Graph | None:
        """Make the graph over an encoder's vectors when one is due; returns the one made."""
        table = await self._index.vectors(encoder_id)
        async with self._graphing:
            known = await self._index.graph()
            if table is None or not await graph_is_due(table, known, graph_from=graph_from):
                return None
            with storing():
                graph = await make_graph(table)
            # Last: until here a reader looks at every vector.
            await self._remember(GRAPH_KEY, graph_json(graph))
        return graph

    async def _sweep_vectors(self, encoder_id: str, documents: Documents) -> None:
        table = await self._index.vectors(encoder_id)
        if table is None:
            return
        columns = ["passage_id", "generation", "digest"]
        rows = await self._index.passages_table.query().select(columns).to_arrow()
        known = await self._embedded(encoder_id)
        dead = await asyncio.to_thread(_dead_vectors, rows, known, documents)
        for chunk in _chunks(dead):
            pairs = [
                f"(passage_id = {schema.quoted(passage)} AND digest = {schema.quoted(digest)})"
                for passage, digest in chunk
            ]
            await _delete(table, " OR ".join(pairs))

    async def _embedded(self, encoder_id: str) -> pa.Table:
        """Passage and digest of every vector."""
        table = await self._index.vectors(encoder_id)
        if table is None:
            return pa.table({name: pa.array([], pa.string()) for name in MARKS})
        return await table.query().select(MARKS).to_arrow()

    async def _remember(self, key: str, value: str) -> None:
        row = schema.arrow([{"key": key, "value": value}], schema.MANIFEST)
        await _upsert(self._index.manifest_table, "key", row)


def _passage_rows(texts: Sequence[IndexedText]) -> list[schema.Row]:
    return [row for text in texts for row in schema.passage_rows(text)]


async def _append(table: "AsyncTable", rows: pa.Table) -> None:
    await committed(lambda: table.add(rows))


async def _delete(table: "AsyncTable", where: str) -> None:
    await committed(lambda: table.delete(where))


async def _upsert(table: "AsyncTable", key: str, rows: pa.Table) -> None:
    with storing():
        merge = table.merge_insert(key).when_matched_update_all().when_not_matched_insert_all()
        await committed(lambda: merge.execute(rows))


def _unembedded(rows: pa.Table, known: pa.Table, documents: Documents) -> list[Unembedded]:
    missing = without(live_rows(rows, documents), known).sort_by([("generation", "descending")])
    columns = (missing[name].to_pylist() for name in ("passage_id", "document_id", "digest"))
    return [
        Unembedded(passage_id=passage, document_id=document, digest=digest)
        for passage, document, digest in zip(*columns, strict=True)
    ]


def _dead_vectors(rows: pa.Table, known: pa.Table, documents: Documents) -> list[tuple[str, str]]:
    dead = without(known, live_rows(rows, documents))
    return sorted(zip(*(dead[name].to_pylist() for name in MARKS), strict=True))


def _chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), FILTER_VALUES):
        yield values[start : start + FILTER_VALUES]


@contextmanager
def storing() -> Iterator[None]:
    """Tell a full disk from a bug."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        if not is_disk_full(error):
            raise
        raise DiskFull(
            "The disk with the index is full: free some space, then sync again. "
            "What was indexed stays searchable."
        ) from error
