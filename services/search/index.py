"""The library index: its tables, and everything that is read from them.

A reader sees a document from the moment its row is committed: passages and pages carry the
generation that the row names, and rows of other generations are passed over.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from services.search import index_schema as schema
from services.search.analysis import query_terms
from services.search.errors import IndexUnusable
from services.search.index_import import import_lancedb
from services.search.index_rows import (
    Documents,
    Found,
    IndexedDocument,
    IndexedPage,
    IndexedPassage,
    IndexedSection,
)
from services.search.index_tables import local_folder, open_tables
from services.search.index_vectors import QUERY_TIMEOUT, Graph, graph_of, nearest
from services.search.library_state import LibraryState, state_of

if TYPE_CHECKING:
    from lancedb.db import AsyncConnection
    from lancedb.table import AsyncTable

# A filter that lists documents costs time for each; beyond this, rows outside are dropped after.
LISTED_DOCUMENTS = 500
METADATA_CACHE_BYTES = 32 * 1024 * 1024
STATE_KEY = "state"
ENCODER_KEY = "encoder"
GRAPH_KEY = "graph"


class Index:
    """Reads the tables; safe to use from many tasks at once."""

    def __init__(self, connection: "AsyncConnection", tables: "dict[str, AsyncTable]") -> None:
        self.connection = connection
        self.documents_table = tables["documents"]
        self.passages_table = tables["passages"]
        self.pages_table = tables["pages"]
        self.manifest_table = tables["manifest"]
        self._documents = Documents(version=-1, by_id={})
        self._loading = asyncio.Lock()
        self._kept: dict[str, str] = {}
        self._manifest_version = -1
        self._state, self._state_text = LibraryState(), ""
        self._vectors: dict[str, AsyncTable] = {}

    async def documents(self) -> Documents:
        """The committed documents as of now."""
        version = await self.documents_table.version()
        if version == self._documents.version:
            return self._documents
        async with self._loading:
            version = await self.documents_table.version()
            if version != self._documents.version:
                query = self.documents_table.query().select(schema.DOCUMENT_COLUMNS)
                rows = await query.to_arrow(timeout=QUERY_TIMEOUT)
                # Ten thousand documents take a while to decode; other queries go on.
                by_id = await asyncio.to_thread(schema.documents_of, rows)
                self._documents = Documents(version=version, by_id=by_id)
        return self._documents

    async def sections(self, document: IndexedDocument) -> tuple[IndexedSection, ...]:
        """The sections of a document, in reading order."""
        rows = await self._rows(
            self.documents_table, _key(document), columns=["document_id", "sections"]
        )
        return schema.sections_of(rows[0]) if rows else ()

    async def passages_of(self, document: IndexedDocument) -> list[IndexedPassage]:
        """All passages of a document, in reading order."""
        rows = await self._rows(self.passages_table, _key(document), schema.PASSAGE_COLUMNS)
        return sorted(map(schema.passage_of, rows), key=lambda passage: passage.ordinal)

    async def pages_of(self, document: IndexedDocument) -> list[IndexedPage]:
        """The pages of a document in order."""
        rows = await self._rows(self.pages_table, _key(document), schema.PAGES.names)
        return sorted(map(schema.page_of, rows), key=lambda page: page.page_index)

    async def passages(
        self, passage_ids: Collection[str], documents: Documents
    ) -> dict[str, IndexedPassage]:
        """The passages with these ids that belong to the documents given."""
        if not passage_ids:
            return {}
        where = schema.is_in("passage_id", passage_ids)
        rows = await self._rows(self.passages_table, where, schema.PASSAGE_COLUMNS)
        return {
            row["passage_id"]: schema.passage_of(row)
            for row in rows
            if documents.is_live(row["document_id"], row["generation"])
        }

    async def best_by_words(
        self, query: str, *, documents: Documents, within: Collection[str], limit: int
    ) -> list[Found]:
        """The passages of the documents `within` with the highest BM25 scores."""
        from lancedb.query import MatchQuery

        wanted = query_terms(query)
        if not wanted:
            return []
        # A term that is repeated counts as often; nothing in a match query is an operator.
        match = MatchQuery(" ".join(wanted), "terms")  # type: ignore[call-arg]  # defaults unseen by mypy

        async def retrieve(where: str | None, count: int) -> list[Found]:
            search = self.passages_table.query().nearest_to_text(match)
            if where:
                search = search.where(where)
            search = search.select(["passage_id", "document_id", "generation", "_score"])
            rows = await search.limit(count).to_list(timeout=QUERY_TIMEOUT)
            return [_found(row, mark="generation", score=row["_score"]) for row in rows]

        def is_current(found: Found) -> bool:
            return documents.is_live(found.document_id, found.mark)

        return await _best(retrieve, is_current, within, documents, limit)

    async def best_by_vector(
        self,
        vector: Sequence[float],
        encoder_id: str,
        *,
        documents: Documents,
        within: Collection[str],
        limit: int,
    ) -> list[Found]:
        """The passages of the documents `within` whose vectors are nearest."""
        table = await self.vectors(encoder_id)
        if table is None:
            return []

        graph = await self.graph()
        beam = graph.beam if graph and graph.table == table.name else 0

        async def retrieve(where: str | None, count: int) -> list[Found]:
            return await nearest(table, vector, where=where, count=count, beam=beam)

        return await _best(retrieve, lambda found: True, within, documents, limit)

    async def cosines(
        self, vector: Sequence[float], encoder_id: str, passage_ids: Collection[str]
    ) -> list[Found]:
        """The cosines of those of these passages that have a vector."""
        table = await self.vectors(encoder_id)
        if table is None or not passage_ids:
            return []
        where = schema.is_in("passage_id", passage_ids)
        # A passage may have an older vector beside its own until the next sweep.
        return await nearest(table, vector, where=where, count=2 * len(passage_ids), beam=0)

    async def vectors(self, encoder_id: str) -> "AsyncTable | None":
        """The table of an encoder's vectors, if there is one."""
        name = schema.vectors_table(encoder_id)
        if name not in self._vectors:
            if name not in (await self.connection.list_tables()).tables:
                return None
            try:
                self._vectors[name] = await self.connection.open_table(name)
            except ValueError as error:
                # Listed by its folder already, but the writer has not committed it yet.
                if "not found" not in str(error):
                    raise
                return None
        return self._vectors[name]

    async def vectors_done(self, encoder_id: str) -> int:
        """How many vectors the encoder's table holds."""
        table = await self.vectors(encoder_id)
        return await table.count_rows() if table else 0

    async def active_encoder(self) -> str:
        """The encoder whose vectors are searched; empty before there are any."""
        return (await self._manifest()).get(ENCODER_KEY, "")

    async def graph(self) -> Graph | None:
        """What is known of the graph over the vectors, once there are enough for one."""
        kept = (await self._manifest()).get(GRAPH_KEY)
        return graph_of(kept) if kept else None

    async def state(self) -> LibraryState:
        """What the last sync left about the library."""
        kept = (await self._manifest()).get(STATE_KEY, "")
        if kept != self._state_text:
            # Asked at every query, changed at syncs only.
            self._state, self._state_text = state_of(kept) if kept else LibraryState(), kept
        return self._state

    async def _manifest(self) -> dict[str, str]:
        version = await self.manifest_table.version()
        if version != self._manifest_version:
            rows = await self._rows(self.manifest_table, None, schema.MANIFEST.names)
            self._kept = {row["key"]: row["value"] for row in rows}
            self._manifest_version = version
        return self._kept

    async def _rows(
        self, table: "AsyncTable", where: str | None, columns: list[str]
    ) -> list[schema.Row]:
        query = table.query().select(columns)
        if where:
            query = query.where(where)
        return await query.to_list(timeout=QUERY_TIMEOUT)


async def _best(
    retrieve: Callable[[str | None, int], Awaitable[list[Found]]],
    is_current: Callable[[Found], bool],
    within: Collection[str],
    documents: Documents,
    limit: int,
) -> list[Found]:
    """The first `limit` rows that are current and within; asks for more while too many were not."""
    with_text = sum(1 for document in documents.by_id.values() if document.passages)
    where = None
    if len(within) < with_text and len(within) <= LISTED_DOCUMENTS:
        where = schema.is_in("document_id", within)
    count = limit
    while True:
        rows = await retrieve(where, count)
        kept = [row for row in rows if row.document_id in within and is_current(row)]
        if len(kept) >= limit or len(rows) < count:
            return kept[:limit]
        count *= 4


def _found(row: schema.Row, *, mark: str, score: float) -> Found:
    return Found(
        passage_id=row["passage_id"],
        document_id=row["document_id"],
        mark=row[mark],
        score=float(score),
    )


def _key(document: IndexedDocument) -> str:
    return (
        f"document_id = {schema.quoted(document.document_id)}"
        f" AND generation = {schema.quoted(document.generation)}"
    )


@asynccontextmanager
async def open_index(
    uri: str, *, cache_bytes: int, storage: Mapping[str, str] | None = None
) -> AsyncIterator[Index]:
    """The index at a folder or URI, its tables made when they are missing; raises IndexUnusable."""
    import_lancedb()
    import lancedb

    folder = local_folder(uri)
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        connection = await lancedb.connect_async(
            uri,
            # Other processes' commits are seen at once; on object storage each look is a request.
            read_consistency_interval=timedelta(seconds=0 if folder is not None else 1),
            storage_options=dict(storage or {}),
            session=lancedb.Session(
                index_cache_size_bytes=cache_bytes, metadata_cache_size_bytes=METADATA_CACHE_BYTES
            ),
        )
        tables = await open_tables(connection)
    except (OSError, RuntimeError, ValueError) as error:  # what the library raises for storage
        raise IndexUnusable(f"The index at {uri!r} cannot be opened: {error}") from error
    try:
        yield Index(connection, tables)
    finally:
        connection.close()  # type: ignore[no-untyped-call]
