"""Rows to passages and back: only of committed documents, only vectors of their present text."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from services.search.index_keys import ABSENT, Keys, RowPlaces, keys_of
from services.search.index_rows import Documents, IndexedDocument, Kind, Reading


def document(document_id: str, generation: str) -> IndexedDocument:
    return IndexedDocument(
        document_id=document_id,
        generation=generation,
        library="user",
        item_key=document_id,
        attachment_key="",
        kind=Kind.NOTE,
        title="",
        creators=(),
        year="",
        citation_key="",
        tags=(),
        collections=(),
        page_count=0,
        reading=Reading.FULL,
        reading_reason="",
        skip="",
        fingerprint="",
        passages=1,
        words=1,
    )


def keys(
    passages: list[tuple[int, str, str, str, str]], vectors: list[tuple[int, str, str]]
) -> Keys:
    """Rows of passages in the order of the columns below, rows of vectors without the middle."""
    names = ("_rowid", "passage_id", "document_id", "generation", "digest")
    by_id = {"A": document("A", "a2"), "B": document("B", "b1")}
    return keys_of(
        Documents(version=1, by_id=by_id),
        table(names, passages),
        table(("_rowid", "passage_id", "digest"), vectors),
    )


def table(names: tuple[str, ...], rows: Sequence[tuple[int | str, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    kinds = [pa.uint64(), *[pa.string()] * (len(names) - 1)]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return pa.Table.from_arrays(arrays, names=list(names))


PASSAGES = [
    (40, "old", "A", "a1", "x"),
    (30, "one", "A", "a2", "x"),
    (20, "two", "B", "b1", "y"),
    (10, "gone", "C", "c1", "x"),
]


def named(made: Keys, places: list[int]) -> list[str]:
    return [
        one.passage_id for one in made.found(np.array(places, dtype=np.int64), [0.0] * len(places))
    ]


def test_rows_of_former_generations_and_of_removed_documents_are_of_no_passage() -> None:
    made = keys(PASSAGES, [])
    places = made.passage_rows.of(np.array([10, 20, 30, 40, 50]))
    assert [place == ABSENT for place in places] == [True, False, False, True, True]
    assert named(made, [places[1], places[2]]) == ["two", "one"]
    assert [one.document_id for one in made.found(places[1:3], [1.0, 0.5])] == ["B", "A"]


@pytest.mark.parametrize(
    ("vectors", "with_vector"),
    [
        ([], []),
        ([(7, "one", "x")], ["one"]),
        # A vector of the passage's former text, and one beside it of its present one.
        ([(7, "one", "w"), (3, "one", "x")], ["one"]),
        ([(7, "one", "w")], []),
        ([(7, "gone", "x"), (3, "two", "y")], ["two"]),
    ],
)
def test_a_vector_counts_while_it_is_of_the_passages_present_text(
    vectors: list[tuple[int, str, str]], with_vector: list[str]
) -> None:
    made = keys(PASSAGES, vectors)
    assert made.vectors == len(with_vector)
    places = made.vector_rows.of(np.array([row for row, _, _ in vectors], dtype=np.int64))
    assert named(made, [place for place in places if place != ABSENT]) == with_vector
    for place in places[places != ABSENT]:
        assert made.vector_rows.of(made.row_of_vector[[place]]) == place


def test_an_empty_index_has_no_places() -> None:
    nothing = RowPlaces(ids=np.empty(0, np.int64), places=np.empty(0, np.int64))
    assert nothing.of(np.array([1, 2])).tolist() == [ABSENT, ABSENT]
    assert keys([], []).vectors == 0
