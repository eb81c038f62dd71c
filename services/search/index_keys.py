"""Which passage each row of the tables is of, in memory.

Fetching the columns of a row costs a query as much as finding it. So queries ask for row ids alone,
these arrays tell what they are, and only what a reply contains is fetched. Row ids hold for one
version of a table.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from services.search.index_rows import Documents, Found

Numbers = NDArray[np.int64]

ABSENT = -1
PASSAGE_KEYS = ["passage_id", "document_id", "generation", "digest"]
VECTOR_KEYS = ["passage_id", "digest"]


def row_ids(rows: pa.Table) -> Numbers:
    """The row ids of what a query returned."""
    row_ids: Numbers = rows["_rowid"].to_numpy().astype(np.int64)
    return row_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPlaces:
    """The place of the passage that each row is of, or ABSENT."""

    ids: Numbers
    """Row ids, ascending."""
    places: Numbers

    def of(self, row_ids: Numbers) -> Numbers:
        """The place for each row id; ABSENT for a row that is of no passage."""
        if not len(self.ids):
            return np.full(len(row_ids), ABSENT, dtype=np.int64)
        at = np.searchsorted(self.ids, row_ids).clip(max=len(self.ids) - 1)
        return np.where(self.ids[at] == row_ids, self.places[at], ABSENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The passages of all committed documents: a passage's place is its index in the arrays."""

    passage_ids: pa.StringArray
    document_ids: pa.DictionaryArray
    marks: pa.Array
    """What names the present text of each passage."""
    passage_rows: RowPlaces
    row_of_passage: Numbers
    vector_rows: RowPlaces
    row_of_vector: Numbers
    """The row with the vector of the passage's present text; ABSENT before there is one."""

    @property
    def vectors(self) -> int:
        """How many of the passages have a vector."""
        return int(np.count_nonzero(self.row_of_vector != ABSENT))

    def within(self, document_ids: Collection[str]) -> Numbers:
        """The places of the passages of these documents, ascending."""
        wanted = pc.is_in(
            self.document_ids.dictionary, value_set=pa.array(document_ids, pa.string())
        )
        of_document = wanted.to_numpy(zero_copy_only=False)
        return np.flatnonzero(of_document[self.document_ids.indices.to_numpy()])

    def found(self, places: Numbers, scores: Iterable[float]) -> list[Found]:
        """What was found at these places, of which none is ABSENT."""
        return [
            Found(place=place, passage_id=passage_id, document_id=document_id, score=float(score))
            for place, passage_id, document_id, score in zip(
                places.tolist(),
                self.passage_ids.take(pa.array(places)).to_pylist(),
                self.document_ids.take(pa.array(places)).to_pylist(),
                scores,
                strict=True,
            )
        ]


def keys_of(documents: Documents, passages: pa.Table, vectors: pa.Table | None) -> Keys:
    """The keys for rows of one version: `passages` has the columns of PASSAGE_KEYS, `vectors` those
    of VECTOR_KEYS, both with row ids."""
    live = live_rows(passages, documents)
    marks = marks_of(live)
    row_of_passage = row_ids(live)
    places = np.arange(len(row_of_passage), dtype=np.int64)
    row_of_vector = np.full(len(places), ABSENT, dtype=np.int64)
    vector_rows = RowPlaces(ids=np.empty(0, np.int64), places=np.empty(0, np.int64))
    if vectors is not None and vectors.num_rows:
        # A vector is a passage's own while their digests agree.
        matches = pc.index_in(marks, value_set=marks_of(vectors))
        at = matches.fill_null(ABSENT).to_numpy(zero_copy_only=False).astype(np.int64)
        has_one = at != ABSENT
        ids = row_ids(vectors)
        row_of_vector[has_one] = ids[at[has_one]]
        of_vectors = np.full(len(ids), ABSENT, dtype=np.int64)
        of_vectors[at[has_one]] = places[has_one]
        vector_rows = _sorted(ids, of_vectors)
    return Keys(
        passage_ids=live["passage_id"].combine_chunks(),
        document_ids=live["document_id"].combine_chunks().dictionary_encode(),
        marks=marks,
        passage_rows=_sorted(row_of_passage, places),
        row_of_passage=row_of_passage,
        vector_rows=vector_rows,
        row_of_vector=row_of_vector,
    )


def _sorted(ids: Numbers, places: Numbers) -> RowPlaces:
    order = np.argsort(ids)
    return RowPlaces(ids=ids[order], places=places[order])


def live_rows(rows: pa.Table, documents: Documents) -> pa.Table:
    """The rows whose generation is that of a committed document; no two documents share one."""
    return rows.filter(pc.is_in(rows["generation"], value_set=_generations(documents)))


def dead_generations(rows: pa.Table, documents: Documents) -> list[str]:
    """The generations of rows that belong to no committed document, sorted."""
    dead = rows.filter(pc.invert(pc.is_in(rows["generation"], value_set=_generations(documents))))
    return sorted(pc.unique(dead["generation"]).to_pylist())


def without(rows: pa.Table, others: pa.Table) -> pa.Table:
    """The rows whose passage and digest are not among the others'."""
    return rows.filter(pc.invert(pc.is_in(marks_of(rows), value_set=marks_of(others))))


def _generations(documents: Documents) -> pa.Array:
    return pa.array([one.generation for one in documents.by_id.values()], pa.string())


def marks_of(rows: pa.Table) -> pa.Array:
    """What names a text: the passage and the digest of what is embedded of it."""
    joined = pc.binary_join_element_wise(rows["passage_id"], rows["digest"], "\n")
    return joined.combine_chunks() if isinstance(joined, pa.ChunkedArray) else joined
