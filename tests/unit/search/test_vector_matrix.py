"""Vectors in memory: exact cosines, and nothing carried over but what is the same text's."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pytest

from services.search.index_keys import ABSENT
from services.search.vector_matrix import VectorMatrix, empty_matrix, unit_rows, with_room

EAST, NORTH, NORTH_EAST = [1.0, 0.0], [0.0, 1.0], [0.5**0.5, 0.5**0.5]
EVERYWHERE = None


def matrix(marks: list[str], rows: list[list[float]]) -> VectorMatrix:
    """A place for each row, without room for more."""
    return VectorMatrix(
        table="vectors",
        buffer=np.array(rows, dtype=np.float32).reshape(len(marks), 2),
        marks=pa.array(marks, pa.string()),
        row_of_place=np.arange(len(marks)),
    )


def filled(before: VectorMatrix, vectors: Mapping[str, Sequence[float] | None]) -> VectorMatrix:
    """The next matrix, for places with these marks, of which some may have no vector."""
    present = np.array([vector is not None for vector in vectors.values()], dtype=np.bool_)
    made, missing = with_room(before, pa.array(list(vectors), pa.string()), present)
    given = list(vectors.values())
    for place in missing:
        made.buffer[made.row_of_place[place]] = given[place]
    return made


def shown(made: VectorMatrix) -> list[list[float] | None]:
    """The vector of each place."""
    return [
        None if row == ABSENT else made.buffer[row].tolist() for row in made.row_of_place.tolist()
    ]


THREE = matrix(["a", "b", "c"], [EAST, NORTH, NORTH_EAST])


def places(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(numbers, dtype=np.int64)


def test_cosines_do_not_depend_on_the_length_of_the_query() -> None:
    assert THREE.cosines([0.0, 7.0], places(1, 2)).tolist() == [1.0, pytest.approx(0.5**0.5)]


def test_a_query_of_zeros_is_as_far_from_everything() -> None:
    assert THREE.cosines([0.0, 0.0], places(0, 1, 2)).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("among", "limit", "nearest"),
    [
        (EVERYWHERE, 9, [0, 2, 1]),
        (EVERYWHERE, 2, [0, 2]),
        (EVERYWHERE, 1, [0]),
        (places(1, 2), 9, [2, 1]),
        (places(1, 2), 1, [2]),
        (places(), 9, []),
    ],
    ids=["all", "two", "one", "some", "best of some", "none"],
)
def test_the_nearest_come_first_and_only_of_those_asked_for(
    among: np.ndarray[tuple[int], np.dtype[np.int64]] | None, limit: int, nearest: list[int]
) -> None:
    found, cosines = THREE.nearest([2.0, 0.0], among=among, limit=limit)
    assert found.tolist() == nearest
    assert cosines.tolist() == sorted(cosines.tolist(), reverse=True)


def test_what_has_no_vector_is_never_near() -> None:
    made = filled(empty_matrix("vectors", 2), {"a": None, "b": NORTH})
    found, _ = made.nearest(EAST, among=None, limit=9)
    assert found.tolist() == [1]
    assert made.among(places(0, 1)).tolist() == [1]


def test_vectors_follow_their_texts_wherever_these_moved() -> None:
    made = filled(THREE, {"c": NORTH_EAST, "new": [0.6, 0.8], "a": EAST})
    assert shown(made) == [pytest.approx(NORTH_EAST), pytest.approx([0.6, 0.8]), EAST]
    found, _ = made.nearest(EAST, among=None, limit=1)
    assert found.tolist() == [2]


def test_a_matrix_that_is_still_in_use_stays_as_it_was() -> None:
    first = filled(empty_matrix("vectors", 2), {str(n): EAST for n in range(20)})
    second = filled(first, {**{str(n): EAST for n in range(20)}, "new": NORTH})
    assert second.buffer is first.buffer
    assert first.nearest(NORTH, among=None, limit=1)[1].tolist() == [0.0]
    assert second.nearest(NORTH, among=None, limit=1)[1].tolist() == [1.0]


def test_rows_of_texts_that_are_gone_are_given_up_once_they_are_many() -> None:
    first = filled(empty_matrix("vectors", 2), {str(n): EAST for n in range(20)})
    few_gone = filled(first, {str(n): EAST for n in range(16)})
    many_gone = filled(few_gone, {str(n): EAST for n in range(9)})
    assert few_gone.buffer is first.buffer
    assert len(many_gone.buffer) < len(first.buffer)
    assert shown(many_gone) == [EAST] * 9


def test_a_vector_that_was_taken_back_is_made_again() -> None:
    gone = filled(THREE, {"a": EAST, "b": None, "c": NORTH_EAST})
    again = filled(gone, {"a": EAST, "b": [0.6, 0.8], "c": NORTH_EAST})
    assert shown(gone)[1] is None
    assert again.nearest([0.6, 0.8], among=None, limit=1)[0].tolist() == [1]


def test_stored_vectors_get_the_length_of_one_and_zeros_stay() -> None:
    stored = pa.chunked_array([pa.array([[3.0, 4.0], [0.0, 0.0]], pa.list_(pa.float32(), 2))])
    assert unit_rows(stored, 2) == pytest.approx(np.array([[0.6, 0.8], [0.0, 0.0]]))
