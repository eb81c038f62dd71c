"""The vectors of all passages in memory: reading some from the tables costs more than the search.

A hundred thousand vectors of 384 dimensions take 154 MB. What a view read, the next one carries
over: a vector is known by its passage and the digest of the text that was embedded.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from services.search.index_keys import ABSENT, Keys, Numbers, row_ids
from services.search.index_queries import rows_of
from services.search.index_vectors import COLUMN

Vectors = NDArray[np.float32]

if TYPE_CHECKING:
    from lancedb.table import AsyncTable

# How many are read at a time: they are in memory twice until they are copied.
ROWS_PER_READING = 4_000
# Taking rows out copies them; beyond this share of all, products with all are cheaper.
MOST_COPIED = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorMatrix:
    """Row n is the vector, of unit length, of the passage at place n."""

    table: str
    marks: pa.Array
    """Passage and digest of each place."""
    present: NDArray[np.bool_]
    """Whether the place has a vector; a row without one is of zeros."""
    rows: Vectors

    def cosines(self, vector: Sequence[float], places: Numbers) -> Vectors:
        """The cosine for each place; meaningless where none is present."""
        cosines: Vectors = self.rows[places] @ _unit(vector)
        return cosines

    def nearest(
        self, vector: Sequence[float], *, among: Numbers | None, limit: int
    ) -> tuple[Numbers, Vectors]:
        """Exactly the places, `among` these or all, with the highest cosines, and those."""
        places = np.flatnonzero(self.present) if among is None else among[self.present[among]]
        if len(places) > MOST_COPIED * len(self.rows):
            cosines = (self.rows @ _unit(vector))[places]
        else:
            cosines = self.cosines(vector, places)
        if len(places) > limit:
            best = np.argpartition(-cosines, limit)[:limit]
            places, cosines = places[best], cosines[best]
        order = np.lexsort((places, -cosines))
        return places[order].astype(np.int64), cosines[order]


async def matrix_of(table: "AsyncTable", keys: Keys, before: VectorMatrix | None) -> VectorMatrix:
    """The vectors of the table's version that the keys are of; reads only those not in `before`."""
    dimensions = (await table.schema()).field(COLUMN).type.list_size
    known = before if before is not None and before.table == table.name else None
    present = keys.row_of_vector != ABSENT
    # A large library has hundreds of megabytes of them; other queries go on meanwhile.
    rows, has_row = await asyncio.to_thread(carried_over, keys.marks, known, dimensions)
    wanted = np.sort(keys.row_of_vector[present & ~has_row])
    for start in range(0, len(wanted), ROWS_PER_READING):
        some = wanted[start : start + ROWS_PER_READING].tolist()
        stored = await rows_of(table.take_row_ids(some).with_row_id().select([COLUMN]))
        rows[keys.vector_rows.of(row_ids(stored))] = unit_rows(stored[COLUMN], dimensions)
    return VectorMatrix(table=table.name, marks=keys.marks, present=present, rows=rows)


def carried_over(
    marks: pa.Array, known: VectorMatrix | None, dimensions: int
) -> tuple[Vectors, NDArray[np.bool_]]:
    """A row for each mark, filled where its vector is known, and where that is."""
    rows = np.zeros((len(marks), dimensions), dtype=np.float32)
    if known is None:
        return rows, np.zeros(len(marks), dtype=np.bool_)
    at = pc.index_in(marks, value_set=known.marks).fill_null(ABSENT).to_numpy(zero_copy_only=False)
    has_row = at != ABSENT
    has_row[has_row] = known.present[at[has_row]]
    rows[has_row] = known.rows[at[has_row]]
    return rows, has_row


def unit_rows(stored: pa.ChunkedArray, dimensions: int) -> Vectors:
    """Stored vectors with a length of 1; one of zeros stays so."""
    matrix = stored.combine_chunks().flatten().to_numpy().reshape(-1, dimensions)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: Vectors = np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0)
    return unit


def _unit(vector: Sequence[float]) -> Vectors:
    query = np.asarray(vector, dtype=np.float32)
    length = np.linalg.norm(query)
    return query / length if length else query
