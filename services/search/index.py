"""The library index: its tables, and everything that is read from them.

A reader sees a document from the moment its row is committed: passages and pages carry the
generation that the row names, and rows of other generations are passed over.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from services.search import index_schema as schema
from services.search.errors import IndexUnusable
from services.search.index_import import import_lancedb
from services.search.index_queries import rows_of
from services.search.index_rows import (
    Documents,
    IndexedDocument,
    IndexedPage,
    IndexedPassage,
    IndexedSection,
)
from services.search.index_tables import local_folder, open_tables
from services.search.index_vectors import Graph, graph_of
from services.search.index_view import Moment, View, view_of
from services.search.library_state import LibraryState, state_of

if TYPE_CHECKING:
    from lancedb.db import AsyncConnection
    from lancedb.table import AsyncTable

# While documents are committed all the time, the last of so many views has to do.
VIEW_ATTEMPTS = 3
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
        self._viewing = asyncio.Lock()
        self._view: View | None = None

    async def documents(self) -> Documents:
        """The committed documents as of now."""
        version = await self.documents_table.version()
        if version == self._documents.version:
            return self._documents
        async with self._loading:
            version = await self.documents_table.version()
            if version != self._documents.version:
                query = self.documents_table.query().select(schema.DOCUMENT_COLUMNS)
                rows = await rows_of(query)
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

    async def view(self) -> View:
        """What a query is answered from: the index as of now."""
        view = self._view
        if view is not None and view.moment == await self._moment():
            return view
        async with self._viewing:
            view = self._view
            for _ in range(VIEW_ATTEMPTS):
                documents = await self.documents()
                moment = replace(await self._moment(), documents=documents.version)
                # Looked at again after it was made: a document that was replaced meanwhile may
                # have lost the passages that it had.
                if view is not None and view.moment == moment:
                    break
                vectors = await self.vectors(moment.encoder_id) if moment.vectors else None
                view = await view_of(
                    self.connection, moment, documents, self.passages_table, vectors, view
                )
            self._view = view
            assert view is not None
            return view

    async def _moment(self) -> Moment:
        """What a view of now shows."""
        kept = await self._manifest()
        encoder_id = kept.get(ENCODER_KEY, "")
        vectors = await self.vectors(encoder_id) if encoder_id else None
        graph = graph_of(kept[GRAPH_KEY]) if GRAPH_KEY in kept else None
        # The documents first: their passages were committed before them.
        documents = await self.documents_table.version()
        return Moment(
            documents=documents,
            passages=await self.passages_table.version(),
            encoder_id=encoder_id,
            vectors=await vectors.version() if vectors else 0,
            beam=graph.beam if vectors and graph and graph.table == vectors.name else 0,
        )

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
        found: list[schema.Row] = (await rows_of(query)).to_pylist()
        return found


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
