"""Which models work behind the answers, as the orchestrator knows them."""

import grpc

from gateway import library_wire
from gateway.errors import GatewayError
from gateway.peers import answered
from services.chassis.telemetry import EventLog, trace_headers
from zocrates.orchestrator.v1 import models_pb2 as pb
from zocrates.orchestrator.v1 import models_pb2_grpc as rpc

# The library can be told without them, so nobody waits long.
DEADLINE_S = 3.0

log = EventLog(__name__)


class Models:
    """Asks once for each look at the library."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = rpc.ModelServiceStub(channel)

    async def describe(self) -> library_wire.Models | None:
        """The models; None while the orchestrator does not tell them."""
        call = self._stub.DescribeModels(
            pb.DescribeModelsRequest(), timeout=DEADLINE_S, metadata=tuple(trace_headers().items())
        )
        try:
            return _wire(await answered(call, "orchestrator"))
        except GatewayError as error:
            log.warning("models_unknown", code=error.code)
            return None


def _wire(models: pb.DescribeModelsResponse) -> library_wire.Models:
    embedding, minds = models.embedding, models.minds
    return library_wire.Models(
        embedding=library_wire.EmbeddingModel(
            id=embedding.encoder_id, languages=list(embedding.bridged_languages)
        )
        if models.HasField("embedding") and embedding.encoder_id
        else None,
        ranking=_scoring(models.ranking) if models.HasField("ranking") else None,
        support=_scoring(models.support) if models.HasField("support") else None,
        coordinator=minds.coordinator or None,
        search_agent=minds.search_agent or None,
        writer=minds.writer or None,
    )


def _scoring(model: pb.ScoringModel) -> library_wire.ScoringModel:
    return library_wire.ScoringModel(
        name=model.name, description=model.description, calibrated=model.calibrated
    )
