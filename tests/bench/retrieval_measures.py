"""How good a ranking is, and how sure a difference between two is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

GAIN_DEPTH = 10
RECALL_DEPTH = 100
RESAMPLES = 10_000
SEED = 20_261_130


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """nDCG@10 and recall@100, one value a query."""

    gain: NDArray[np.float64]
    recall: NDArray[np.float64]

    def means(self) -> str:
        """Both means, as in published tables."""
        return f"{self.gain.mean():.3f} / {self.recall.mean():.3f}"


def quality(rankings: Sequence[Sequence[str]], relevant: Sequence[frozenset[str]]) -> Quality:
    """The quality of one ranking for each query."""
    pairs = list(zip(rankings, relevant, strict=True))
    return Quality(
        gain=np.array([gain(ranking, wanted) for ranking, wanted in pairs]),
        recall=np.array(
            [
                len(wanted.intersection(ranking[:RECALL_DEPTH])) / len(wanted)
                for ranking, wanted in pairs
            ]
        ),
    )


def gain(ranking: Sequence[str], relevant: frozenset[str]) -> float:
    """nDCG@10 with two grades."""
    found = sum(
        1 / math.log2(rank + 1)
        for rank, document in enumerate(ranking[:GAIN_DEPTH], start=1)
        if document in relevant
    )
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(GAIN_DEPTH, len(relevant)) + 1))
    return found / best


def difference(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> str:
    """The mean difference over the same queries with its 95 % bootstrap interval."""
    differences = ours - theirs
    chosen = np.random.default_rng(SEED).integers(
        len(differences), size=(RESAMPLES, len(differences))
    )
    low, high = np.percentile(differences[chosen].mean(axis=1), [2.5, 97.5])
    return f"{differences.mean():+.3f} [{low:+.3f}, {high:+.3f}]"
