"""The index at one moment: what a query sees to its end, whatever is committed meanwhile."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from services.search import index_schema as schema
from services.search.analysis import query_terms
from services.search.index_keys import (
    ABSENT,
    PASSAGE_KEYS,
    VECTOR_KEYS,
    Keys,
    Numbers,
    keys_of,
    row_ids,
)
from services.search.index_queries import rows_of
from services.search.index_rows import Documents, Found, IndexedPassage
from services.search.index_vectors import neighbours
from services.search.vector_matrix import VectorMatrix, matrix_of

if TYPE_CHECKING:
    from lancedb.db import AsyncConnection
    from lancedb.table import AsyncTable

# A filter that lists documents costs time for each; beyond this, rows outside are dropped after.
LISTED_DOCUMENTS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What a view shows: versions of the tables, and how the vectors are searched."""

    documents: int
    passages: int
    encoder_id: str
    """Whose vectors are searched; empty before there are any."""
    vectors: int
    """0 without a table of vectors."""
    beam: int


class View:
    """Reads the tables at one moment; safe to use from many tasks at once."""

    def __init__(
        self,
        moment: Moment,
        documents: Documents,
        passages: "AsyncTable",
        vectors: "AsyncTable | None",
        keys: Keys,
        matrix: VectorMatrix | None,
    ) -> None:
        """A view of tables that are checked out at the moment's versions."""
        self.moment = moment
        self.documents = documents
        self.searchable = frozenset(
            one.document_id for one in documents.by_id.values() if one.passages
        )
        """The documents that have any text."""
        self.passages_in_all = documents.passages
        self.vectors_done = keys.vectors
        """How many passages have a vector."""
        self._passages = passages
        self._vectors = vectors
        self._keys = keys
        self.matrix = matrix

    async def best_by_words(
        self, query: str, *, within: Collection[str], limit: int
    ) -> list[Found]:
        """The passages of the documents `within` with the highest BM25 scores."""
        from lancedb.query import MatchQuery

        wanted = query_terms(query)
        if not wanted:
            return []
        # A term that is repeated counts as often; nothing in a match query is an operator.
        match = MatchQuery(" ".join(wanted), "terms")  # type: ignore[call-arg]  # defaults unseen by mypy

        limits = self._limits(within)
        search = self._passages.query().nearest_to_text(match).with_row_id().select(["_score"])
        if limits and len(within) <= LISTED_DOCUMENTS:
            search = search.where(schema.is_in("document_id", within))
        count = limit
        while True:
            rows = await rows_of(search.limit(count))
            places = self._keys.passage_rows.of(row_ids(rows))
            current = places != ABSENT
            found = self._keys.found(places[current], rows["_score"].to_numpy()[current])
            if limits:
                found = [one for one in found if one.document_id in within]
            # Too few: rows of former generations, or of other documents, were in the way.
            if len(found) >= limit or len(rows) < count:
                return found[:limit]
            count *= 4

    async def near(
        self, vector: Sequence[float], *, within: Collection[str], limit: int
    ) -> list[Found]:
        """The passages of the documents `within` whose vectors are nearest, with their cosines.

        Exactly those, but for a whole library whose vectors have a graph: the graph names the
        candidates.
        """
        matrix = self.matrix
        if matrix is None or self._vectors is None:
            return []
        among = self._keys.within(within) if self._limits(within) else None
        if among is None and self.moment.beam:
            among = await self._along_graph(self._vectors, vector, limit)
        places, cosines = await asyncio.to_thread(matrix.nearest, vector, among=among, limit=limit)
        return self._keys.found(places, cosines)

    def cosines(self, vector: Sequence[float], places: Sequence[int]) -> dict[int, float]:
        """The cosines, by place, of those passages that have a vector."""
        if self.matrix is None:
            return {}
        asked = self.matrix.among(np.asarray(places, dtype=np.int64))
        return dict(zip(asked.tolist(), self.matrix.cosines(vector, asked).tolist(), strict=True))

    async def passages(self, places: Sequence[int]) -> dict[int, IndexedPassage]:
        """The passages by place."""
        if not places:
            return {}
        rows = self._keys.row_of_passage[np.asarray(places, dtype=np.int64)]
        taken = self._passages.take_row_ids(rows.tolist()).with_row_id()
        stored = await rows_of(taken.select(schema.PASSAGE_COLUMNS))
        found = self._keys.passage_rows.of(row_ids(stored)).tolist()
        return dict(zip(found, map(schema.passage_of, stored.to_pylist()), strict=True))

    async def _along_graph(
        self, table: "AsyncTable", vector: Sequence[float], limit: int
    ) -> Numbers:
        count = limit
        while True:
            rows = await neighbours(table, vector, count=count, beam=self.moment.beam)
            places: Numbers = self._keys.vector_rows.of(rows)
            places = places[places != ABSENT]
            # Too few: vectors of replaced texts were in the way.
            if len(places) >= limit or len(rows) < count:
                return places
            count *= 4

    def _limits(self, within: Collection[str]) -> bool:
        return len(within) < len(self.searchable)


async def view_of(
    connection: "AsyncConnection",
    moment: Moment,
    documents: Documents,
    passages: "AsyncTable",
    vectors: "AsyncTable | None",
    before: View | None,
) -> View:
    """A view of the tables at their versions of the moment, made quickly from the one `before`."""
    passages = await _checked_out(connection, passages.name, moment.passages)
    columns = passages.query().select(PASSAGE_KEYS).with_row_id()
    passage_keys = await rows_of(columns)
    vector_keys = None
    if vectors is not None:
        vectors = await _checked_out(connection, vectors.name, moment.vectors)
        columns = vectors.query().select(VECTOR_KEYS).with_row_id()
        vector_keys = await rows_of(columns)
    # A large library has hundreds of thousands; other queries go on meanwhile.
    keys = await asyncio.to_thread(keys_of, documents, passage_keys, vector_keys)
    known = before.matrix if before is not None else None
    matrix = await matrix_of(vectors, keys, known) if vectors is not None else None
    return View(moment, documents, passages, vectors, keys, matrix)


async def _checked_out(connection: "AsyncConnection", name: str, version: int) -> "AsyncTable":
    table = await connection.open_table(name)
    await table.checkout(version)
    return table
