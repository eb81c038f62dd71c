"""Vectors in memory: exact cosines, and nothing carried over but what is the same text's."""

import numpy as np
import pyarrow as pa
import pytest

from services.search.vector_matrix import VectorMatrix, carried_over, unit_rows

EAST, NORTH, NORTH_EAST = [1.0, 0.0], [0.0, 1.0], [0.5**0.5, 0.5**0.5]
EVERYWHERE = None


def matrix(marks: list[str], rows: list[list[float]], absent: tuple[int, ...] = ()) -> VectorMatrix:
    return VectorMatrix(
        table="vectors",
        marks=pa.array(marks, pa.string()),
        present=np.array([place not in absent for place in range(len(marks))]),
        rows=np.array(rows, dtype=np.float32).reshape(len(marks), 2),
    )


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
    found, _ = matrix(["a", "b"], [[0, 0], NORTH], absent=(0,)).nearest(EAST, among=None, limit=9)
    assert found.tolist() == [1]


def test_vectors_are_carried_over_by_text_wherever_it_moved() -> None:
    rows, has_row = carried_over(pa.array(["c", "new", "a"], pa.string()), THREE, 2)
    assert has_row.tolist() == [True, False, True]
    assert rows == pytest.approx(np.array([NORTH_EAST, [0, 0], EAST]))


def test_a_text_that_had_no_vector_has_none_to_carry_over() -> None:
    known = matrix(["a", "b"], [[0, 0], NORTH], absent=(0,))
    _, has_row = carried_over(pa.array(["a", "b"], pa.string()), known, 2)
    assert has_row.tolist() == [False, True]


def test_without_a_former_view_nothing_is_known() -> None:
    rows, has_row = carried_over(pa.array(["a"], pa.string()), None, 3)
    assert (rows.shape, has_row.tolist()) == ((1, 3), [False])


def test_after_a_view_of_no_passages_everything_is_new() -> None:
    _, has_row = carried_over(pa.array(["a"], pa.string()), matrix([], []), 2)
    assert has_row.tolist() == [False]


def test_stored_vectors_get_the_length_of_one_and_zeros_stay() -> None:
    stored = pa.chunked_array([pa.array([[3.0, 4.0], [0.0, 0.0]], pa.list_(pa.float32(), 2))])
    assert unit_rows(stored, 2) == pytest.approx(np.array([[0.6, 0.8], [0.0, 0.0]]))
