"""Which models work behind the answers, as their own processes say it."""

import grpc

from services.chassis.channel import open_channel
from services.orchestrator.ceilings import Harness
from services.orchestrator.settings import Settings
from tests.fakes.deep_question import QUESTION
from tests.fakes.research_peers import ResearchPeers
from tests.integration.orchestrator_stage import orchestrator
from zocrates.orchestrator.v1 import models_pb2 as pb
from zocrates.orchestrator.v1 import models_pb2_grpc as rpc


async def described(channel: grpc.aio.Channel) -> pb.DescribeModelsResponse:
    stub = rpc.ModelServiceStub(channel)
    return await stub.DescribeModels(pb.DescribeModelsRequest(), timeout=10)


async def test_every_process_names_its_models_and_an_absent_one_names_none(
    settings: Settings, peers: ResearchPeers
) -> None:
    peers.search.bridged = ("en", "de")
    peers.rerank.calibrated = True
    async with (
        orchestrator(settings),
        open_channel(f"127.0.0.1:{settings.port}") as channel,
    ):
        models = await described(channel)
        assert models == pb.DescribeModelsResponse(
            embedding=pb.EmbeddingModel(encoder_id="scripted", bridged_languages=["en", "de"]),
            ranking=pb.ScoringModel(name="scripted", calibrated=True),
            support=pb.ScoringModel(name="scripted", calibrated=True),
            minds=pb.MindModels(coordinator="scripted", search_agent="scripted", writer="scripted"),
        )
        await peers.stop("rerank")
        models = await described(channel)
        assert models.HasField("minds")
        assert not models.HasField("ranking")
        assert not models.HasField("support")


async def test_the_writer_is_told_between_which_languages_the_search_finds_meaning(
    settings: Settings, peers: ResearchPeers
) -> None:
    peers.search.bridged = ("en", "de")
    async with orchestrator(settings, Harness(hitl_enabled=False)) as chat:
        await chat.answer(QUESTION)
    (request,) = peers.synth.syntheses
    assert list(request.bridged_languages) == ["en", "de"]
