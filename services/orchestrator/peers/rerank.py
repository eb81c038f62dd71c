"""The rerank process, as the orchestrator uses it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import grpc

from services.orchestrator.passages import Evidence
from services.orchestrator.peers.calls import Deadlines, unary
from zocrates.rerank.v1 import rerank_pb2 as pb
from zocrates.rerank.v1 import rerank_pb2_grpc as rpc

PEER = "rerank"
MAX_PAIRS = 200
MAX_CANDIDATES = 500
MAX_QUERY_CHARACTERS = 20_000
# Single precision holds no more; the row stays small.
DIGITS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The kept passages, best first, and who judged."""

    kept: tuple[tuple[str, float], ...]
    # By passage, the scores of its sentences in their order; empty when they were not scored.
    sentence_scores: Mapping[str, Sequence[float]]
    considered: int
    words_kept: int
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Scores of support in the order asked, and who judged."""

    scores: tuple[float, ...]
    model: str
    # Whether the judge passed its calibration.
    calibrated: bool


class RerankPeer:
    """The second look at passages. Raises PeerError."""

    def __init__(self, channel: grpc.aio.Channel, deadlines: Deadlines) -> None:
        self._stub = rpc.RerankServiceStub(channel)
        self._deadline_s = deadlines.other_s

    async def rerank(
        self, query: str, evidence: Sequence[Evidence], *, max_passages: int, max_words: int
    ) -> Ranking:
        """Keep the best passages within the ceilings; of very many, the best found are offered."""
        offered = sorted(evidence, key=lambda one: one.rank)[:MAX_CANDIDATES]
        reply: pb.RerankResponse = await unary(
            PEER,
            self._stub.Rerank,
            pb.RerankRequest(
                query=query[:MAX_QUERY_CHARACTERS],
                candidates=[
                    pb.Candidate(
                        passage_id=one.passage.id,
                        text=one.passage.text,
                        heading=one.passage.heading,
                        words=one.words,
                        retrieval_rank=one.rank,
                    )
                    for one in offered
                ],
                max_passages=max_passages,
                max_words=max_words,
            ),
            deadline_s=self._deadline_s,
        )
        return Ranking(
            kept=tuple((one.passage_id, one.score) for one in reply.kept),
            sentence_scores={
                one.passage_id: [round(score, DIGITS) for score in one.sentence_scores]
                for one in reply.kept
            },
            considered=reply.considered,
            words_kept=reply.words_kept,
            model=reply.scorer.model,
        )

    async def judge(self, pairs: Sequence[tuple[str, str]]) -> Judgement:
        """How far each passage (second) supports its claim (first)."""
        scores: list[float] = []
        model, calibrated = "", True
        for start in range(0, len(pairs), MAX_PAIRS):
            reply: pb.ScoreSupportResponse = await unary(
                PEER,
                self._stub.ScoreSupport,
                pb.ScoreSupportRequest(
                    pairs=[
                        pb.SupportPair(claim=claim, passage=passage)
                        for claim, passage in pairs[start : start + MAX_PAIRS]
                    ]
                ),
                deadline_s=self._deadline_s,
            )
            scores.extend(support.score for support in reply.supports)
            model = reply.scorer.model
            calibrated = calibrated and reply.scorer.calibrated
        return Judgement(scores=tuple(scores), model=model, calibrated=calibrated)
