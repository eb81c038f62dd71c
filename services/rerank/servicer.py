"""RerankService on the wire: validate, score, encode."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

import grpc

from services.chassis.errors import InvalidRequest, ServiceError
from services.chassis.server import Context
from services.chassis.words import sentences
from services.rerank.batching import Batcher
from services.rerank.scoring import Identity, Kind, Pair
from services.rerank.selection import Scored, select
from zocrates.rerank.v1 import rerank_pb2 as pb
from zocrates.rerank.v1 import rerank_pb2_grpc as rpc

MAX_QUERY_CHARS = 20_000
MAX_CANDIDATES = 500
MAX_PAIRS = 200
# A passage has some ten sentences; a text without any order has more.
MAX_SENTENCES = 64

KINDS = {
    Kind.CROSS_ENCODER: pb.SCORER_KIND_CROSS_ENCODER,
    Kind.EMBEDDING_STAND_IN: pb.SCORER_KIND_EMBEDDING_STAND_IN,
}


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

    def __init__(self, relevance: Batcher, support: Batcher, identity: Identity) -> None:
        self._relevance = relevance
        self._support = support
        self._scorer = pb.Scorer(
            model=identity.model,
            kind=KINDS[identity.kind],
            description=identity.description,
            calibrated=identity.calibrated,
        )

    async def Rerank(self, request: pb.RerankRequest, context: Context) -> pb.RerankResponse:
        """Order candidates and keep the best within the limits."""
        _check_rerank(request)
        pairs = [Pair(request.query, one.text, one.heading) for one in request.candidates]
        scores = await self._relevance.score(pairs)
        kept = select(
            (
                Scored(
                    passage_id=candidate.passage_id,
                    score=score,
                    words=candidate.words,
                    retrieval_rank=candidate.retrieval_rank,
                    text=candidate.text,
                )
                for candidate, score in zip(request.candidates, scores, strict=True)
            ),
            max_passages=request.max_passages,
            max_words=request.max_words,
        )
        return pb.RerankResponse(
            kept=await self._ranked(request.query, kept.passages),
            considered=len(request.candidates),
            words_kept=kept.words,
            scorer=self._scorer,
        )

    async def _ranked(self, query: str, kept: Sequence[Scored]) -> list[pb.RankedPassage]:
        """The kept passages with the scores of their sentences."""
        pieces = [
            [one.text[start:end] for start, end in sentences(one.text)[:MAX_SENTENCES]]
            for one in kept
        ]
        asked = [Pair(query, sentence) for passage in pieces for sentence in passage]
        scores = iter(await self._support.score(asked))
        return [
            pb.RankedPassage(
                passage_id=one.passage_id,
                score=one.score,
                sentence_scores=list(islice(scores, len(passage))),
            )
            for one, passage in zip(kept, pieces, strict=True)
        ]

    async def ScoreSupport(
        self, request: pb.ScoreSupportRequest, context: Context
    ) -> pb.ScoreSupportResponse:
        """Rate how far each passage supports its claim."""
        _check_pairs(request.pairs)
        scores = await self._support.score([Pair(one.claim, one.passage) for one in request.pairs])
        return pb.ScoreSupportResponse(
            supports=[pb.Support(score=score) for score in scores], scorer=self._scorer
        )


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
