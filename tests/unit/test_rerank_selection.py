"""Which scored passages are kept."""

from hypothesis import given
from hypothesis import strategies as st

from services.rerank.selection import Scored, select


def scored(passage_id: str, score: float, words: int = 10, rank: int = 1, text: str = "") -> Scored:
    return Scored(
        passage_id=passage_id,
        score=score,
        words=words,
        retrieval_rank=rank,
        text=text or f"Text of {passage_id}.",
    )


def ids(candidates: list[Scored], *, max_passages: int = 10, max_words: int = 1_000) -> list[str]:
    kept = select(candidates, max_passages=max_passages, max_words=max_words)
    return [one.passage_id for one in kept.passages]


def test_the_best_score_comes_first() -> None:
    assert ids([scored("a", 0.1), scored("b", 0.9), scored("c", 0.5)]) == ["b", "c", "a"]


def test_equal_scores_are_ordered_by_retrieval_rank_then_id() -> None:
    candidates = [scored("c", 1, rank=2), scored("b", 1, rank=1), scored("a", 1, rank=2)]
    assert ids(candidates) == ["b", "a", "c"]


def test_no_more_passages_are_kept_than_allowed() -> None:
    assert ids([scored("a", 3), scored("b", 2), scored("c", 1)], max_passages=2) == ["a", "b"]


def test_a_candidate_that_would_cross_the_ceiling_is_left_out_and_a_smaller_one_follows() -> None:
    candidates = [scored("a", 3, words=60), scored("b", 2, words=50), scored("c", 1, words=40)]
    assert ids(candidates, max_words=100) == ["a", "c"]


def test_a_ceiling_that_is_met_exactly_is_not_crossed() -> None:
    assert ids([scored("a", 2, words=60), scored("b", 1, words=40)], max_words=100) == ["a", "b"]


def test_of_the_same_text_in_two_works_the_first_is_kept_and_takes_one_place() -> None:
    twice = [scored("b", 3, text="A nap\nhelped."), scored("a", 3, text="A nap helped.")]
    assert ids([*twice, scored("c", 1)], max_passages=2) == ["a", "c"]


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 50), st.integers(1, 3))),
    st.integers(1, 8),
    st.integers(1, 200),
    st.randoms(),
)
def test_both_limits_hold_and_the_order_of_input_does_not_matter(
    rows: list[tuple[float, int, int]], most: int, words: int, random: object
) -> None:
    candidates = [scored(str(n), s, w, r) for n, (s, w, r) in enumerate(rows)]
    kept = select(candidates, max_passages=most, max_words=words)
    assert len(kept.passages) <= most
    assert kept.words == sum(one.words for one in kept.passages) <= words
    assert select(reversed(candidates), max_passages=most, max_words=words) == kept
