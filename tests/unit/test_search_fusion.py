"""Fusing words and vectors."""

import pytest

from services.search.fusion import VECTOR_WEIGHT, Fused, at_most, fuse, with_firsts

W = VECTOR_WEIGHT


def order(fused: list[Fused]) -> list[str]:
    return [one.passage_id for one in fused]


def test_nothing_found_is_an_empty_ranking() -> None:
    assert fuse({}, {}, tie=str) == []


def test_words_alone_keep_their_order() -> None:
    assert order(fuse({"a": 3.0, "b": 9.0, "c": 1.0}, {}, tie=str)) == ["b", "a", "c"]


def test_vectors_alone_keep_their_order() -> None:
    assert order(fuse({}, {"a": 0.1, "b": 0.7, "c": -0.2}, tie=str)) == ["b", "a", "c"]


def test_a_score_weighs_the_cosine_and_the_share_of_the_best_words_and_the_ranks_are_told() -> None:
    (a, b, c) = fuse({"a": 10.0, "b": 5.0}, {"a": 0.6, "c": 0.4}, tie=str, looked_up={"b": 0.5})
    assert a.score == pytest.approx(W * 0.6 + (1 - W))
    assert b.score == pytest.approx(W * 0.5 + (1 - W) * 0.5)
    assert c.score == pytest.approx(W * 0.4)
    assert [dict(one.ranks) for one in (a, b, c)] == [
        {"bm25": 1, "vector": 1},
        {"bm25": 2},
        {"vector": 2},
    ]


def test_how_many_times_higher_bm25_scores_are_does_not_matter() -> None:
    vectors = {"a": 0.4, "b": 0.5}
    low = fuse({"a": 2.0, "b": 1.0}, vectors, tie=str)
    high = fuse({"a": 200.0, "b": 100.0}, vectors, tie=str)
    assert [one.score for one in low] == pytest.approx([one.score for one in high])


def test_a_passage_without_a_vector_is_neither_praised_nor_damned_for_it() -> None:
    words = {"has": 5.0, "has not": 5.0, "poor": 5.0}
    fused = fuse(words, {"has": 0.8}, tie=str, looked_up={"poor": 0.1})
    assert order(fused) == ["has", "has not", "poor"]


def test_equal_scores_are_ordered_by_the_tie() -> None:
    fused = fuse({"a": 1.0, "b": 1.0}, {}, tie=lambda one: {"a": 2, "b": 1}[one])
    assert order(fused) == ["b", "a"]
    assert fused[0].ranks == {"bm25": 1}


def test_the_first_of_each_list_is_among_the_first_of_the_ranking() -> None:
    words = {"a": 9.0, "b": 8.9, "c": 8.8, "d": 8.7}
    cosines = {"b": 0.59, "c": 0.58, "d": 0.57, "far": 0.6, "a": 0.5}
    fused = fuse(words, cosines, tie=str)
    assert order(fused) == ["b", "c", "d", "a", "far"]
    assert order(with_firsts(fused, 3)) == ["b", "a", "far", "c", "d"]
    assert order(with_firsts(fused, 4)) == ["b", "c", "a", "far", "d"]
    assert order(with_firsts(fused, 5)) == order(fused)
    assert order(with_firsts(fused, 2)) == order(fused)
    assert with_firsts([], 8) == []


def test_only_the_first_of_each_kind_stay() -> None:
    assert at_most(2, lambda one: one[0], ["a1", "a2", "b1", "a3", "b2"]) == [
        "a1",
        "a2",
        "b1",
        "b2",
    ]
