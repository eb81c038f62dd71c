"""Rerank as a scripted servicer, for tests of the orchestrator."""

import asyncio
from dataclasses import dataclass, field

from services.chassis.errors import ServiceError
from services.chassis.server import Context
from zocrates.rerank.v1 import rerank_pb2 as rerank
from zocrates.rerank.v1 import rerank_pb2_grpc as rerank_rpc


@dataclass
class ScriptedRerank(rerank_rpc.RerankServiceServicer):
    """Keeps candidates in their order, and gives every pair the same score."""

    support: float = 0.9
    # Claims that nothing supports.
    unsupported: frozenset[str] = frozenset()
    # Awaited before a claim is judged, for tests that hold a call.
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    calibrated: bool = False
    error: ServiceError | None = None
    # A passage that nobody offered, kept all the same.
    invented: str = ""
    requests: list[rerank.RerankRequest] = field(default_factory=list)
    pairs: list[tuple[str, str]] = field(default_factory=list)

    @property
    def scorer(self) -> rerank.Scorer:
        return rerank.Scorer(model="scripted", calibrated=self.calibrated)

    async def Rerank(
        self, request: rerank.RerankRequest, context: Context
    ) -> rerank.RerankResponse:
        self.requests.append(request)
        kept = list(request.candidates[: request.max_passages])
        if self.invented:
            kept.append(rerank.Candidate(passage_id=self.invented))
        return rerank.RerankResponse(
            kept=[rerank.RankedPassage(passage_id=one.passage_id, score=1) for one in kept],
            considered=len(request.candidates),
            words_kept=sum(one.words for one in kept),
            scorer=self.scorer,
        )

    async def ScoreSupport(
        self, request: rerank.ScoreSupportRequest, context: Context
    ) -> rerank.ScoreSupportResponse:
        if self.error is not None:
            raise self.error
        self.pairs += [(one.claim, one.passage) for one in request.pairs]
        for one in request.pairs:
            if (gate := self.gates.get(one.claim)) is not None:
                await gate.wait()
        return rerank.ScoreSupportResponse(
            supports=[
                rerank.Support(score=0.0 if one.claim in self.unsupported else self.support)
                for one in request.pairs
            ],
            scorer=self.scorer,
        )

    async def DescribeScorers(
        self, request: rerank.DescribeScorersRequest, context: Context
    ) -> rerank.DescribeScorersResponse:
        return rerank.DescribeScorersResponse(relevance=self.scorer, support=self.scorer)
