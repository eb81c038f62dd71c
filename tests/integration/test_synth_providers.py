"""The synth process with a language model, over the protocols of the providers."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import grpc
import pytest
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from services.chassis.channel import open_channel
from services.chassis.errors import failure_of
from services.chassis.server import serving
from services.synth.assembly import appoint, open_minds
from services.synth.convert import investigation_of
from services.synth.minds import Minds
from services.synth.model.errors import ModelUnavailable
from services.synth.model_metrics import ModelMetrics
from services.synth.servicer import SynthServicer
from services.synth.settings import Settings
from tests.fakes.model_server import ModelServer, Reply, model_server
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.synth.v1 import synth_pb2 as pb
from zocrates.synth.v1 import synth_pb2_grpc as rpc

QUESTION = "Do naps lower lapses in nurses?"
TEXT = "Naps of thirty minutes lowered lapses by 2.9 in night-shift nurses."
KEY = "sk-very-secret"
SEARCH = pb.Tool(
    name="search_corpus",
    description="Find passages.",
    parameters_schema='{"type": "object", "properties": {"query": {"type": "string"}}}',
)
PROVIDERS = (
    *("openai:gpt", "openai-compatible:org/tiny:free", "ollama:llama3.2:3b", "anthropic:c"),
    "google:gemini",
)
# Their clients add the version to the address by themselves.
WITHOUT_VERSION = ("anthropic", "google")
every_provider = pytest.mark.parametrize("model", PROVIDERS)


def opened(settings: Settings) -> AbstractAsyncContextManager[Minds]:
    """The minds that the settings name."""
    return open_minds(appoint(settings), ModelMetrics(CollectorRegistry()))


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with model_server() as running:
        yield running


@asynccontextmanager
async def synth(
    server: ModelServer, model: str, **more: object
) -> AsyncIterator[rpc.SynthServiceStub]:
    base_url = server.url if model.startswith(WITHOUT_VERSION) else f"{server.url}/v1"
    settings = Settings(model=model, api_key=SecretStr(KEY), base_url=base_url, **more)
    services = {
        "zocrates.synth.v1.SynthService": lambda grpc_server: (
            rpc.add_SynthServiceServicer_to_server(SynthServicer(minds), grpc_server)
        )
    }
    async with (
        opened(settings) as minds,
        serving(services) as running,
        open_channel(f"127.0.0.1:{running.port}") as channel,
    ):
        yield rpc.SynthServiceStub(channel)


def asking() -> pb.InvestigateRequest:
    return pb.InvestigateRequest(
        question=QUESTION, tools=[SEARCH], left=pb.CeilingsLeft(calls=10, words=7_500)
    )


def after_a_search() -> pb.InvestigateRequest:
    request = asking()
    call = pb.ToolCall(call_id="0-0-0", tool="search_corpus", arguments='{"query": "naps"}')
    found = pb.FoundPassage(passage=corpus.Passage(passage_id="p1", text=TEXT))
    result = pb.ToolResult(call_id="0-0-0", ok=True, passages=[found])
    request.transcript.add(calls=[call], results=[result])
    return request


@every_provider
async def test_tool_calls_come_back_and_their_results_go_out(
    server: ModelServer, model: str
) -> None:
    server.replies = [Reply(calls=[("search_corpus", '{"query": "naps in nurses"}')] * 2)]
    async with synth(server, model) as stub:
        for request in (asking(), after_a_search()):
            *_, last = [reply async for reply in stub.Investigate(request, timeout=20)]
    assert [call.tool for call in last.result.calls] == ["search_corpus"] * 2
    assert '"naps in nurses"' in last.result.calls[0].arguments
    assert last.result.model == model
    assert (last.result.usage.input_tokens, last.result.usage.output_tokens) == (120, 7)
    assert "lowered lapses by 2.9" in str(server.requests[1])
    assert server.requests[1]["model"] == model.partition(":")[2]


@every_provider
async def test_the_answer_is_streamed_and_cited(server: ModelServer, model: str) -> None:
    server.replies = [Reply(text='Naps help [1 "lowered lapses by 2.9"].')]
    passage = corpus.Passage(passage_id="p1", text=TEXT)
    evidence = [pb.EvidencePassage(passage=passage, score=1)]
    request = pb.SynthesizeRequest(question=QUESTION, evidence=evidence)
    async with synth(server, model) as stub:
        *pieces, last = [reply async for reply in stub.Synthesize(request, timeout=20)]
    assert "".join(piece.answer_delta for piece in pieces) == last.result.markdown
    assert last.result.markdown.startswith("Naps help [1].")
    assert last.result.citations[0].quote == "lowered lapses by 2.9"


@every_provider
async def test_the_coordinator_starts_research(server: ModelServer, model: str) -> None:
    server.replies = [Reply(calls=[("start_research", '{"question": "Do naps help?"}')])]
    async with synth(server, model) as stub:
        request = pb.ConverseRequest(prompt="naps?")
        *_, last = [reply async for reply in stub.Converse(request, timeout=20)]
    assert last.result.research.question == "Do naps help?"


@every_provider
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(status=401), "MODEL_KEY_REFUSED"),
        (Reply(status=404), "MODEL_UNKNOWN"),
        (Reply(status=429, headers={"retry-after": "3600"}), "MODEL_BUSY"),
    ],
)
async def test_a_failure_is_one_sentence_without_the_key(
    server: ModelServer, model: str, reply: Reply, reason: str
) -> None:
    server.replies = [reply]
    async with synth(server, model) as stub:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            _ = [one async for one in stub.Investigate(asking(), timeout=20)]
    failure = failure_of(caught.value)
    assert failure.reason == reason
    assert failure.message.startswith(f"{model}: ")
    assert KEY not in f"{failure.message}{failure.facts}"
    assert len(server.requests) == 1


@every_provider
async def test_a_moments_failure_is_waited_out(server: ModelServer, model: str) -> None:
    busy = Reply(status=503, headers={"retry-after": "0"})
    server.replies = [busy, Reply(calls=[("search_corpus", '{"query": "naps"}')])]
    async with synth(server, model) as stub:
        *_, last = [reply async for reply in stub.Investigate(asking(), timeout=20)]
    assert len(last.result.calls) == 1
    assert len(server.requests) == 2


async def test_a_server_that_is_not_there_is_named() -> None:
    settings = Settings(model="openai-compatible:tiny", base_url="http://127.0.0.1:9/v1")
    async with opened(settings) as minds:
        with pytest.raises(ModelUnavailable, match="cannot be reached"):
            async for _ in minds.search_agent.investigate(investigation_of(asking())):
                pass


async def test_a_model_without_tool_calls_is_asked_in_text(server: ModelServer) -> None:
    server.replies = [Reply(text='{"calls": [{"tool": "search_corpus", "arguments": {}}]}')]
    async with synth(server, "ollama:tiny", tool_calls="text") as stub:
        *_, last = [reply async for reply in stub.Investigate(after_a_search(), timeout=20)]
    assert [call.tool for call in last.result.calls] == ["search_corpus"]
    assert "tools" not in server.requests[0]


async def test_a_key_is_sent_to_its_own_provider_alone(server: ModelServer) -> None:
    server.replies = [Reply(text="Nothing.")]
    roles = {"search_model": "ollama:tiny", "base_urls": {"ollama": f"{server.url}/v1"}}
    settings = Settings(model="openai:gpt", api_key=SecretStr(KEY), **roles)
    async with opened(settings) as minds:
        async for _ in minds.search_agent.investigate(investigation_of(asking())):
            pass
    assert server.headers
    assert KEY not in f"{server.headers}{settings!r}{appoint(settings)!r}"


async def test_each_role_may_have_a_mind_of_its_own() -> None:
    settings = Settings(model="ollama:big:70b", coordinator_model="offline")
    async with opened(settings) as minds:
        assert (minds.coordinator.model, minds.writer.model) == ("offline", "ollama:big:70b")
        assert minds.writer is minds.search_agent
