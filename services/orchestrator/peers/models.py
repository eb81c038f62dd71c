"""What the other processes say of their models."""

import asyncio
from collections.abc import Callable
from typing import Any

import grpc

from services.chassis.telemetry import EventLog
from services.orchestrator.errors import PeerError
from services.orchestrator.peers.calls import unary
from zocrates.orchestrator.v1 import models_pb2 as pb
from zocrates.rerank.v1 import rerank_pb2 as rerank
from zocrates.rerank.v1 import rerank_pb2_grpc as rerank_rpc
from zocrates.search.v1 import encoder_pb2
from zocrates.search.v1 import search_pb2_grpc as search_rpc
from zocrates.synth.v1 import synth_pb2 as synth
from zocrates.synth.v1 import synth_pb2_grpc as synth_rpc

# Somebody looks at a page meanwhile; what does not answer by then is left out.
DEADLINE_S = 2.0

log = EventLog(__name__)


class ModelsPeer:
    """Asks search, rerank and synth side by side."""

    def __init__(
        self, search: grpc.aio.Channel, rerank: grpc.aio.Channel, synth: grpc.aio.Channel
    ) -> None:
        self._search = search_rpc.SearchServiceStub(search)
        self._rerank = rerank_rpc.RerankServiceStub(rerank)
        self._synth = synth_rpc.SynthServiceStub(synth)

    async def describe(self) -> pb.DescribeModelsResponse:
        """The models; those of a process that does not answer are absent."""
        encoder, scorers, minds = await asyncio.gather(
            _answer("search", self._search.DescribeEncoder, encoder_pb2.DescribeEncoderRequest()),
            _answer("rerank", self._rerank.DescribeScorers, rerank.DescribeScorersRequest()),
            _answer("synth", self._synth.DescribeMinds, synth.DescribeMindsRequest()),
        )
        return pb.DescribeModelsResponse(
            embedding=encoder
            and pb.EmbeddingModel(
                encoder_id=encoder.encoder_id, bridged_languages=encoder.bridged_languages
            ),
            ranking=scorers and _scoring(scorers.relevance),
            support=scorers and _scoring(scorers.support),
            minds=minds
            and pb.MindModels(
                coordinator=minds.coordinator,
                search_agent=minds.search_agent,
                writer=minds.writer,
            ),
        )


async def _answer(
    peer: str, method: Callable[..., Any], request: object
) -> Any:  # the reply message of whichever rpc, or None
    try:
        return await unary(peer, method, request, deadline_s=DEADLINE_S)
    except PeerError as error:
        log.warning("models_unknown", peer=peer, code=error.code)
        return None


def _scoring(scorer: rerank.Scorer) -> pb.ScoringModel:
    return pb.ScoringModel(
        name=scorer.model, description=scorer.description, calibrated=scorer.calibrated
    )
