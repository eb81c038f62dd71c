"""Fusing rankings by ranks."""

import pytest

from services.search.fusion import at_most, fuse


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ({}, []),
        ({"bm25": [], "vector": []}, []),
        ({"bm25": ["a", "b"]}, ["a", "b"]),
        ({"bm25": ["a", "b"], "vector": ["b", "a"]}, ["a", "b"]),
        ({"bm25": ["a", "b", "c"], "vector": ["c", "d"]}, ["c", "a", "b", "d"]),
        ({"bm25": ["z", "b"], "vector": ["y", "b"]}, ["b", "y", "z"]),
    ],
)
def test_what_both_lists_have_comes_before_what_one_has(
    lists: dict[str, list[str]], expected: list[str]
) -> None:
    assert [one.passage_id for one in fuse(lists, tie=str)] == expected


def test_a_score_is_the_sum_of_reciprocal_ranks_and_the_ranks_are_told() -> None:
    (first, second) = fuse({"bm25": ["a", "b"], "vector": ["a"]}, tie=str)
    assert first.score == pytest.approx(2 / 61)
    assert first.ranks == {"bm25": 1, "vector": 1}
    assert second.score == pytest.approx(1 / 62)
    assert second.ranks == {"bm25": 2}


def test_an_id_that_a_list_repeats_counts_once_at_its_first_rank() -> None:
    (a, b) = fuse({"bm25": ["a", "a", "b"]}, tie=str)
    assert (a.ranks["bm25"], b.ranks["bm25"]) == (1, 2)


def test_equal_scores_are_ordered_by_the_tie() -> None:
    fused = fuse({"bm25": ["a"], "vector": ["b"]}, tie=lambda one: {"a": 2, "b": 1}[one])
    assert [one.passage_id for one in fused] == ["b", "a"]


def test_only_the_first_of_each_kind_stay() -> None:
    assert at_most(2, lambda one: one[0], ["a1", "a2", "b1", "a3", "b2"]) == [
        "a1",
        "a2",
        "b1",
        "b2",
    ]
