"""RerankService on the wire: validate, score, encode."""

import asyncio
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

import grpc

from services.chassis.errors import InvalidRequest, ServiceError
from services.chassis.server import Context
from services.chassis.words import sentences
from services.rerank.batching import Batcher
from services.rerank.scoring import Identity, Kind, Pair
from services.rerank.selection import Kept, Scored, fused, select
from zocrates.rerank.v1 import rerank_pb2 as pb
from zocrates.rerank.v1 import rerank_pb2_grpc as rpc

MAX_QUERY_CHARS = 20_000
MAX_CANDIDATES = 500
MAX_PAIRS = 200
# A passage has some ten sentences; a text without any order has more.
MAX_SENTENCES = 64
BUDGET_S = 8.0
# Of the time that the caller still waits, this much may go by with scoring.
DEADLINE_SHARE = 0.8

KINDS = {
    Kind.CROSS_ENCODER: pb.SCORER_KIND_CROSS_ENCODER,
    Kind.EMBEDDING_STAND_IN: pb.SCORER_KIND_EMBEDDING_STAND_IN,
}


RETRIEVAL_ORDER = pb.Scorer(
    model="retrieval order",
    kind=pb.SCORER_KIND_RETRIEVAL_ORDER,
    description="No model judged the passages in time; they are in the order in which search "
    "ranked them.",
    calibrated=False,
)


class InvalidQuery(InvalidRequest):
    """The query is empty or too long."""

    reason = "INVALID_QUERY"


class TooManyCandidates(ServiceError):
    """More candidates than one request may hold."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "TOO_MANY_CANDIDATES"


class DuplicateCandidate(InvalidRequest):
    """Two candidates share an id."""

    reason = "DUPLICATE_CANDIDATE"


class InvalidPair(InvalidRequest):
    """A claim or a passage is empty."""

    reason = "INVALID_PAIR"


class TooManyPairs(ServiceError):
    """More pairs than one request may hold."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "TOO_MANY_PAIRS"


class RerankServicer(rpc.RerankServiceServicer):
    """Scores by the given batchers; every rpc is free of side effects."""

    def __init__(
        self,
        relevance: Batcher,
        support: Batcher,
        identity: Identity,
        *,
        budget_s: float = BUDGET_S,
    ) -> None:
        """`budget_s` is how long one request may be scored."""
        self._relevance = relevance
        self._support = support
        self._budget_s = budget_s
        self._share = identity.share
        self._scorer = pb.Scorer(
            model=identity.model,
            kind=KINDS[identity.kind],
            description=identity.description,
            calibrated=identity.calibrated,
        )

    async def Rerank(self, request: pb.RerankRequest, context: Context) -> pb.RerankResponse:
        """Order candidates and keep the best within the limits."""
        _check_rerank(request)
        budget_s = self._budget(request, context)
        due = asyncio.get_running_loop().time() + budget_s
        pairs = [Pair(request.query, one.text, one.heading) for one in request.candidates]
        scorer, degraded = self._scorer, ""
        try:
            async with asyncio.timeout_at(due):
                scores = await self._relevance.score(pairs)
        except TimeoutError:
            scores = [1 / max(one.retrieval_rank, 1) for one in request.candidates]
            scorer, degraded = RETRIEVAL_ORDER, _late("The passages", budget_s)
        kept = _kept(request, scores, self._share)
        pieces = [sentences_of(one.text) for one in kept.passages]
        try:
            async with asyncio.timeout_at(due):
                judged = await self._judged(request.query, pieces)
        except TimeoutError:
            judged = [[] for _ in pieces]
            degraded = degraded or _late("The sentences of the passages", budget_s)
        return pb.RerankResponse(
            kept=[
                pb.RankedPassage(
                    passage_id=one.passage_id, score=one.score, sentence_scores=sentence_scores
                )
                for one, sentence_scores in zip(kept.passages, judged, strict=True)
            ],
            considered=len(request.candidates),
            words_kept=kept.words,
            scorer=scorer,
            degraded=degraded,
        )

    def _budget(self, request: pb.RerankRequest, context: Context) -> float:
        """Seconds that scoring may take: a reply after the caller's deadline helps nobody."""
        asked = request.time_budget.ToTimedelta().total_seconds() or self._budget_s
        left = context.time_remaining()
        return min(asked, self._budget_s, math.inf if left is None else DEADLINE_SHARE * left)

    async def _judged(self, query: str, pieces: Sequence[Sequence[str]]) -> list[list[float]]:
        """The scores of the sentences of each passage."""
        asked = [Pair(query, sentence) for passage in pieces for sentence in passage]
        scores = iter(await self._support.score(asked))
        return [list(islice(scores, len(passage))) for passage in pieces]

    async def ScoreSupport(
        self, request: pb.ScoreSupportRequest, context: Context
    ) -> pb.ScoreSupportResponse:
        """Rate how far each passage supports its claim."""
        _check_pairs(request.pairs)
        scores = await self._support.score([Pair(one.claim, one.passage) for one in request.pairs])
        return pb.ScoreSupportResponse(
            supports=[pb.Support(score=score) for score in scores], scorer=self._scorer
        )

    async def DescribeScorers(
        self, request: pb.DescribeScorersRequest, context: Context
    ) -> pb.DescribeScorersResponse:
        """Tell who ranks and who judges support: both by the same weights."""
        return pb.DescribeScorersResponse(relevance=self._scorer, support=self._scorer)


def _kept(request: pb.RerankRequest, scores: Sequence[float], share: float) -> Kept:
    judged = [
        Scored(
            passage_id=candidate.passage_id,
            score=score,
            words=candidate.words,
            retrieval_rank=candidate.retrieval_rank,
            text=candidate.text,
        )
        for candidate, score in zip(request.candidates, scores, strict=True)
    ]
    return select(
        fused(judged, share=share),
        max_passages=request.max_passages,
        max_words=request.max_words,
    )


def sentences_of(text: str) -> list[str]:
    """The sentences of a passage that are scored."""
    return [text[start:end] for start, end in sentences(text)[:MAX_SENTENCES]]


def _late(what: str, budget_s: float) -> str:
    return f"{what} could not be judged within {budget_s:.1f} seconds."


def _check_rerank(request: pb.RerankRequest) -> None:
    if not request.query.strip():
        raise InvalidQuery("The query is empty; send the question that the passages should answer.")
    if len(request.query) > MAX_QUERY_CHARS:
        raise InvalidQuery(
            f"The query has {len(request.query)} characters; at most {MAX_QUERY_CHARS} are allowed."
        )
    if len(request.candidates) > MAX_CANDIDATES:
        raise TooManyCandidates(
            f"{len(request.candidates)} candidates were sent; at most {MAX_CANDIDATES} are "
            "allowed.",
            limit=MAX_CANDIDATES,
        )
    if request.max_passages < 1 or request.max_words < 1:
        raise InvalidRequest("max_passages and max_words must both be at least 1.")
    if (negative := next((c for c in request.candidates if c.words < 0), None)) is not None:
        raise InvalidRequest(f"Candidate {negative.passage_id!r} has a negative number of words.")
    counts = Counter(candidate.passage_id for candidate in request.candidates)
    if twice := [passage_id for passage_id, count in counts.items() if count > 1]:
        raise DuplicateCandidate(
            f"Passage {twice[0]!r} was sent {counts[twice[0]]} times; send each passage once.",
            passage_id=twice[0],
        )


def _check_pairs(pairs: Iterable[pb.SupportPair]) -> None:
    listed = list(pairs)
    if len(listed) > MAX_PAIRS:
        raise TooManyPairs(
            f"{len(listed)} pairs were sent; at most {MAX_PAIRS} are allowed.", limit=MAX_PAIRS
        )
    for position, pair in enumerate(listed):
        if not pair.claim.strip() or not pair.passage.strip():
            raise InvalidPair(
                f"Pair {position} has an empty claim or passage; both must hold text.",
                position=position,
            )
