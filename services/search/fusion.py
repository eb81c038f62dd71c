"""One ranking out of several, decided by ranks alone."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

# The constant of Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and
# individual rank learning methods", SIGIR 2009: it keeps the first ranks from deciding alone. Ranks
# are used rather than scores because BM25 has no upper bound and cosines have no common zero.
RANK_CONSTANT = 60

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused:
    """A passage's place in the fused ranking and in each list that had it, from 1."""

    passage_id: str
    score: float
    ranks: Mapping[str, int]


def fuse(lists: Mapping[str, Sequence[str]], *, tie: Callable[[str], Any]) -> list[Fused]:
    """Rank by the sum of 1 / (60 + rank) over the lists; equal sums are ordered by `tie`.

    `tie` maps an id to anything that can be compared.
    """
    ranks: dict[str, dict[str, int]] = {}
    for name, ids in lists.items():
        for rank, passage_id in enumerate(dict.fromkeys(ids), start=1):
            ranks.setdefault(passage_id, {})[name] = rank
    fused = [
        Fused(
            passage_id=passage_id,
            score=sum(1 / (RANK_CONSTANT + rank) for rank in places.values()),
            ranks=places,
        )
        for passage_id, places in ranks.items()
    ]
    return sorted(fused, key=lambda one: (-one.score, tie(one.passage_id)))


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
