"""One ranking out of two: the words of a query, and its meaning."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeVar

# How much the cosine counts against the words. Chosen on the training claims of SciFact alone; the
# measurement is in docs/benchmarks.md.
VECTOR_WEIGHT = 0.68
# The same for a query in a script that embedding models mostly know letter by letter.
VECTOR_WEIGHT_ELSEWHERE = 0.3
WORDS, VECTORS = "bm25", "vector"

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused:
    """A passage's place in the fused ranking and in each list that had it, from 1."""

    passage_id: str
    score: float
    ranks: Mapping[str, int]


def fuse(
    words: Mapping[str, float],
    vectors: Mapping[str, float],
    *,
    tie: Callable[[str], Any],
    looked_up: Mapping[str, float] | None = None,
    vector_weight: float = VECTOR_WEIGHT,
) -> list[Fused]:
    """Rank by the cosine and the share of the best BM25 score, weighed; `tie` orders equal sums.

    `words` and `vectors` are what the two retrievers found, `looked_up` the cosines of passages
    that only words found. Both measures have a natural zero, words in common and meaning in
    common, so that neither is stretched by whatever else was found. `tie` maps an id to anything
    that can be compared.
    """
    cosines = {**(looked_up or {}), **vectors}
    # A passage without a vector yet is taken for one of the middle, not for an unlike one.
    unknown = fmean(cosines.values()) if cosines else 0.0
    best = max(words.values(), default=0.0) or 1.0
    ranks: dict[str, dict[str, int]] = {}
    for name, scores in ((WORDS, words), (VECTORS, vectors)):
        ordered = sorted(scores, key=lambda one: (-scores[one], tie(one)))
        for rank, passage_id in enumerate(ordered, start=1):
            ranks.setdefault(passage_id, {})[name] = rank
    fused = [
        Fused(
            passage_id=passage_id,
            score=vector_weight * cosines.get(passage_id, unknown)
            + (1 - vector_weight) * words.get(passage_id, 0.0) / best,
            ranks=places,
        )
        for passage_id, places in ranks.items()
    ]
    return sorted(fused, key=lambda one: (-one.score, tie(one.passage_id)))


def with_firsts(ranked: Sequence[Fused], limit: int) -> list[Fused]:
    """The ranking with the first of each list among the first `limit`, if there is room for both.

    What one measure alone holds for the nearest may be just what the other is blind to; and whoever
    asks how near the library comes to a question must see it.
    """
    if limit <= len((WORDS, VECTORS)):
        return list(ranked)
    firsts = {one.passage_id for one in ranked if 1 in one.ranks.values()}
    room = limit - len(firsts)
    others = [one.passage_id for one in ranked if one.passage_id not in firsts][:room]
    chosen = firsts.union(others)
    return sorted(ranked, key=lambda one: one.passage_id not in chosen)


def at_most(limit: int, of: Callable[[T], str], ranked: Iterable[T]) -> list[T]:
    """The ranking without whatever comes after the first `limit` that have the same `of`."""
    seen: dict[str, int] = {}
    kept = []
    for one in ranked:
        key = of(one)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= limit:
            kept.append(one)
    return kept
