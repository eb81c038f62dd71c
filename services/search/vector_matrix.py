"""The vectors of all passages in memory: reading some from the tables costs more than the search.

A hundred thousand vectors of 384 dimensions take 154 MB. Views share them: a later one adds its new
vectors behind those of the former, and knows a vector by its passage and the digest of the text
that was embedded.
"""

import asyncio
import math
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
# Room for later vectors, and the share of rows without a passage beyond which all are moved.
SPARE = 0.125
MOST_DEAD = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorMatrix:
    """Vectors of unit length, and the row of the buffer that each passage has."""

    table: str
    buffer: Vectors
    """Rows beyond those that have marks are a later matrix's."""
    marks: pa.Array
    """Passage and digest of each row."""
    row_of_place: Numbers
    """ABSENT for a passage without a vector."""

    def cosines(self, vector: Sequence[float], places: Numbers) -> Vectors:
        """The cosine for each place, of which all have a vector."""
        cosines: Vectors = self.buffer[self.row_of_place[places]] @ _unit(vector)
        return cosines

    def among(self, places: Numbers) -> Numbers:
        """Those of the places that have a vector."""
        having: Numbers = places[self.row_of_place[places] != ABSENT]
        return having

    def nearest(
        self, vector: Sequence[float], *, among: Numbers | None, limit: int
    ) -> tuple[Numbers, Vectors]:
        """Exactly the places, `among` these or all, with the highest cosines, and those."""
        if among is None:
            among = np.arange(len(self.row_of_place))
        places = self.among(among)
        if len(places) > MOST_COPIED * len(self.marks):
            cosines = (self.buffer[: len(self.marks)] @ _unit(vector))[self.row_of_place[places]]
        else:
            cosines = self.cosines(vector, places)
        if len(places) > limit:
            best = np.argpartition(-cosines, limit)[:limit]
            places, cosines = places[best], cosines[best]
        order = np.lexsort((places, -cosines))
        return places[order], cosines[order]


async def matrix_of(table: "AsyncTable", keys: Keys, before: VectorMatrix | None) -> VectorMatrix:
    """The vectors of the table's version that the keys are of; reads only those not in `before`.

    No two may be made of one `before` at once: both would write behind its vectors.
    """
    dimensions = (await table.schema()).field(COLUMN).type.list_size
    if before is None or before.table != table.name:
        before = empty_matrix(table.name, dimensions)
    present = keys.row_of_vector != ABSENT
    # A large library has hundreds of megabytes of them; other queries go on meanwhile.
    made, missing = await asyncio.to_thread(with_room, before, keys.marks, present)
    wanted = np.sort(keys.row_of_vector[missing])
    for start in range(0, len(wanted), ROWS_PER_READING):
        some = wanted[start : start + ROWS_PER_READING].tolist()
        stored = await rows_of(table.take_row_ids(some).with_row_id().select([COLUMN]))
        rows = made.row_of_place[keys.vector_rows.of(row_ids(stored))]
        made.buffer[rows] = unit_rows(stored[COLUMN], dimensions)
    return made


def empty_matrix(table: str, dimensions: int) -> VectorMatrix:
    """No vectors yet."""
    return VectorMatrix(
        table=table,
        buffer=np.empty((0, dimensions), dtype=np.float32),
        marks=pa.array([], pa.string()),
        row_of_place=np.empty(0, dtype=np.int64),
    )


def with_room(
    before: VectorMatrix, marks: pa.Array, present: NDArray[np.bool_]
) -> tuple[VectorMatrix, Numbers]:
    """A matrix for the places with these marks, and those of them whose rows are to be filled.

    `present` says which places have a vector.
    """
    found = pc.index_in(marks, value_set=before.marks).fill_null(ABSENT)
    rows = np.where(present, found.to_numpy(zero_copy_only=False), ABSENT).astype(np.int64)
    missing = np.flatnonzero(present & (rows == ABSENT)).astype(np.int64)
    buffer, known = before.buffer, before.marks
    live = rows[rows != ABSENT]
    if len(known) + len(missing) > len(buffer) or len(known) - len(live) > MOST_DEAD * len(known):
        count = math.ceil((len(live) + len(missing)) * (1 + SPARE))
        buffer = np.empty((count, buffer.shape[1]), dtype=np.float32)
        np.take(before.buffer, live, axis=0, out=buffer[: len(live)])
        known = known.take(pa.array(live))
        rows[rows != ABSENT] = np.arange(len(live))
    rows[missing] = np.arange(len(known), len(known) + len(missing))
    return VectorMatrix(
        table=before.table,
        buffer=buffer,
        marks=pa.concat_arrays([known, marks.take(pa.array(missing))]),
        row_of_place=rows,
    ), missing


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
