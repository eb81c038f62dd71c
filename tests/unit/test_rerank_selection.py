"""Which scored passages are kept."""

from hypothesis import given
from hypothesis import strategies as st

from services.rerank.selection import Scored, fused, select


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


def order(candidates: list[Scored], share: float) -> list[str]:
    return [
        one.passage_id for one in sorted(fused(candidates, share=share), key=lambda o: -o.score)
    ]


JUDGED = [scored("a", 0.1, rank=1), scored("b", 0.2, rank=2), scored("c", 0.9, rank=9)]


def test_without_a_share_the_order_of_the_search_stands_and_with_all_of_it_the_judge_decides() -> (
    None
):
    assert order(JUDGED, 0.0) == ["a", "b", "c"]
    assert order(JUDGED, 1.0) == ["c", "b", "a"]


def test_a_judge_with_a_small_share_moves_a_passage_up_but_not_over_all_others() -> None:
    assert order(JUDGED, 0.3) == ["a", "b", "c"]
    near = [scored("a", 0.2, rank=1), scored("b", 0.1, rank=2), scored("c", 0.9, rank=3)]
    assert order(near, 0.4) == ["a", "c", "b"]


def test_the_first_in_both_orders_has_the_score_one() -> None:
    (first,) = fused([scored("a", -7.5, rank=1)], share=0.3)
    assert first.score == 1


def test_equal_scores_and_unknown_ranks_give_equal_fused_scores() -> None:
    one, other = fused([scored("a", 0.5, rank=0), scored("b", 0.5, rank=1)], share=0.3)
    assert one.score == other.score


def test_the_scale_of_the_judge_does_not_matter() -> None:
    logits = [scored("a", -9, rank=2), scored("b", 11, rank=1), scored("c", -8, rank=3)]
    cosines = [scored("a", 0.1, rank=2), scored("b", 0.9, rank=1), scored("c", 0.2, rank=3)]
    assert [one.score for one in fused(logits, share=0.5)] == [
        one.score for one in fused(cosines, share=0.5)
    ]


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
