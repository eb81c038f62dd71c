"""Which judged passages are kept: order, the cap on passages and the word ceiling."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

# Lets the first ranks of either order count, not decide. Chosen on the training claims of SciFact.
RANK_CONSTANT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A candidate with its score."""

    passage_id: str
    score: float
    words: int
    retrieval_rank: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The passages that stay, best first, and the words they hold."""

    passages: tuple[Scored, ...]
    words: int


def fused(judged: Sequence[Scored], *, share: float) -> list[Scored]:
    """The candidates with a score of the order that the judge and the retrieval give together.

    `share` is how much the judge's order counts. Ranks are compared, since the scores of two models
    have no common scale; 1 is the first in both orders.
    """
    scores = sorted((one.score for one in judged), reverse=True)
    # Equal scores share a rank.
    rank_of = {score: rank for rank, score in reversed(list(enumerate(scores, start=1)))}
    return [
        replace(
            one,
            score=share * _worth(rank_of[one.score])
            + (1 - share) * _worth(max(one.retrieval_rank, 1)),
        )
        for one in judged
    ]


def _worth(rank: int) -> float:
    return (RANK_CONSTANT + 1) / (RANK_CONSTANT + rank)


def select(scored: Iterable[Scored], *, max_passages: int, max_words: int) -> Kept:
    """Keep the best within both limits.

    Equal scores are ordered by retrieval rank, then by id, so the same input always gives the same
    output. A candidate that would cross the word ceiling is left out and smaller ones behind it may
    still follow. Of candidates with the same text, as of a work that a library holds twice, the
    first stays.
    """
    kept: list[Scored] = []
    texts: set[str] = set()
    words = 0
    for candidate in sorted(scored, key=_best_first):
        if len(kept) == max_passages:
            break
        text = " ".join(candidate.text.split())
        if text not in texts and words + candidate.words <= max_words:
            kept.append(candidate)
            texts.add(text)
            words += candidate.words
    return Kept(passages=tuple(kept), words=words)


def _best_first(candidate: Scored) -> tuple[float, int, str]:
    return (-candidate.score, candidate.retrieval_rank, candidate.passage_id)
