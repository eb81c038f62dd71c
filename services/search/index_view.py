"""The index at one moment: what a query sees to its end, whatever is committed meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from services.search import index_schema as schema
from services.search.analysis import query_terms
from services.search.index_keys import (
    ABSENT,
    PASSAGE_KEYS,
    VECTOR_KEYS,
    Keys,
    Numbers,
    RowPlaces,
    keys_of,
    row_ids,
)
from services.search.index_queries import rows_of
from services.search.index_rows import Documents, Found, IndexedPassage
from services.search.index_vectors import COLUMN, nearest

if TYPE_CHECKING:
    from lancedb.db import AsyncConnection
    from lancedb.table import AsyncTable

# A filter that lists documents costs time for each; beyond this, rows outside are dropped after.
LISTED_DOCUMENTS = 500

Scored = tuple[Numbers, Sequence[float]]


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

        async def retrieve(where: str | None, count: int) -> Scored:
            search = self._passages.query().nearest_to_text(match)
            if where:
                search = search.where(where)
            search = search.with_row_id().select(["_score"])
            rows = await rows_of(search.limit(count))
            return row_ids(rows), rows["_score"].to_pylist()

        found = await self._best(retrieve, self._keys.passage_rows, within, limit)
        return found[:limit]

    async def near(
        self, vector: Sequence[float], *, within: Collection[str], limit: int
    ) -> list[Found]:
        """At least the passages of the documents `within` whose vectors are nearest.

        Their scores tell the order, nearly; `cosines` tells the true one.
        """
        table = self._vectors
        if table is None:
            return []

        async def retrieve(where: str | None, count: int) -> Scored:
            return await nearest(table, vector, where=where, count=count, beam=self.moment.beam)

        return await self._best(retrieve, self._keys.vector_rows, within, limit)

    async def cosines(self, vector: Sequence[float], places: Sequence[int]) -> dict[int, float]:
        """The cosines, by place, of those passages that have a vector."""
        asked = np.asarray(places, dtype=np.int64)
        rows = self._keys.row_of_vector[asked]
        rows = rows[rows != ABSENT]
        if self._vectors is None or not len(rows):
            return {}
        taken = self._vectors.take_row_ids(rows.tolist()).with_row_id().select([COLUMN])
        stored = await rows_of(taken)
        found = self._keys.vector_rows.of(row_ids(stored))
        return dict(zip(found.tolist(), _cosines(stored[COLUMN], vector), strict=True))

    async def passages(self, places: Sequence[int]) -> dict[int, IndexedPassage]:
        """The passages by place."""
        if not places:
            return {}
        rows = self._keys.row_of_passage[np.asarray(places, dtype=np.int64)]
        taken = self._passages.take_row_ids(rows.tolist()).with_row_id()
        stored = await rows_of(taken.select(schema.PASSAGE_COLUMNS))
        found = self._keys.passage_rows.of(row_ids(stored)).tolist()
        return dict(zip(found, map(schema.passage_of, stored.to_pylist()), strict=True))

    async def _best(
        self,
        retrieve: Callable[[str | None, int], Awaitable[Scored]],
        of_rows: RowPlaces,
        within: Collection[str],
        limit: int,
    ) -> list[Found]:
        """At least the first `limit` that are current and within; asks again if it got too few."""
        is_limited = len(within) < len(self.searchable)
        where = None
        if is_limited and len(within) <= LISTED_DOCUMENTS:
            where = schema.is_in("document_id", within)
        count = limit
        while True:
            rows, scores = await retrieve(where, count)
            places = of_rows.of(rows)
            current = places != ABSENT
            kept = self._keys.found(places[current], np.asarray(scores)[current])
            if is_limited:
                kept = [one for one in kept if one.document_id in within]
            if len(kept) >= limit or len(rows) < count:
                return kept
            count *= 4


def _cosines(stored: pa.ChunkedArray, vector: Sequence[float]) -> list[float]:
    matrix = stored.combine_chunks().flatten().to_numpy().reshape(len(stored), -1)
    query = np.asarray(vector, dtype=np.float32)
    lengths = np.linalg.norm(matrix, axis=1) * np.linalg.norm(query)
    cosines = np.divide(
        matrix @ query, lengths, out=np.zeros(len(matrix), np.float32), where=lengths > 0
    )
    return [float(cosine) for cosine in cosines]


async def view_of(
    connection: "AsyncConnection",
    moment: Moment,
    documents: Documents,
    passages: "AsyncTable",
    vectors: "AsyncTable | None",
) -> View:
    """A view of the tables at their versions of the moment."""
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
    return View(moment, documents, passages, vectors, keys)


async def _checked_out(connection: "AsyncConnection", name: str, version: int) -> "AsyncTable":
    table = await connection.open_table(name)
    await table.checkout(version)
    return table
