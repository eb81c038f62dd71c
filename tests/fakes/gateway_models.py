"""The orchestrator's word on models, scripted for tests of the gateway."""

from services.chassis.server import Context
from zocrates.orchestrator.v1 import models_pb2 as models
from zocrates.orchestrator.v1 import models_pb2_grpc as models_rpc


class ScriptedModels(models_rpc.ModelServiceServicer):
    """Names the models that the tests put there."""

    def __init__(self) -> None:
        self.told = models.DescribeModelsResponse()

    async def DescribeModels(
        self, request: models.DescribeModelsRequest, context: Context
    ) -> models.DescribeModelsResponse:
        return self.told
