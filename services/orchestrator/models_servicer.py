"""ModelService: which models work behind the answers."""

from typing import Protocol

from services.chassis.server import Context
from zocrates.orchestrator.v1 import models_pb2 as pb
from zocrates.orchestrator.v1 import models_pb2_grpc as rpc

SERVICE = "zocrates.orchestrator.v1.ModelService"


class Models(Protocol):
    """Who knows the models."""

    async def describe(self) -> pb.DescribeModelsResponse:
        """What each process says of its models."""


class ModelServicer(rpc.ModelServiceServicer):
    """Passes on what the other processes say."""

    def __init__(self, models: Models) -> None:
        self._models = models

    async def DescribeModels(
        self, request: pb.DescribeModelsRequest, context: Context
    ) -> pb.DescribeModelsResponse:
        """Tell the models."""
        return await self._models.describe()
