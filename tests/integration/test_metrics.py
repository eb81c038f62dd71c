"""What processes count, as Prometheus reads it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from services.chassis.channel import open_channel
from services.chassis.metrics import Metrics, new_registry
from services.chassis.server import Context, Register, serve
from services.chassis.settings import ServiceSettings
from services.orchestrator.settings import Settings
from tests.fakes.deep_question import set_deep_question
from tests.fakes.research_peers import ResearchPeers
from tests.integration.orchestrator_stage import eventually, orchestrator, settings_for
from tests.servers import NatsServer, free_port
from zocrates.events.v1 import event_pb2
from zocrates.search.v1 import search_pb2 as pb
from zocrates.search.v1 import search_pb2_grpc as rpc

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def samples(text: str) -> Samples:
    return {
        (one.name, tuple(sorted(one.labels.items()))): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


async def read(port: int, path: str = "/metrics") -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False) as http:
        return await http.get(f"http://127.0.0.1:{port}{path}")


class Asked(rpc.SearchServiceServicer):
    async def SearchCorpus(
        self, request: pb.SearchCorpusRequest, context: Context
    ) -> pb.SearchCorpusResponse:
        if request.query == "refused":
            await context.abort(grpc.StatusCode.NOT_FOUND, "no")
        if request.query == "broken":
            raise RuntimeError
        return pb.SearchCorpusResponse()


@asynccontextmanager
async def serving(
    settings: ServiceSettings, stop: asyncio.Event, metrics: Metrics | None = None
) -> AsyncIterator[Any]:
    services: dict[str, Register] = {
        "zocrates.search.v1.SearchService": lambda s: rpc.add_SearchServiceServicer_to_server(
            Asked(),  # type: ignore[abstract]
            s,
        )
    }
    running = asyncio.create_task(serve(settings, services, until=stop, metrics=metrics))
    async with open_channel(f"127.0.0.1:{settings.port}") as channel:
        await asyncio.wait_for(channel.channel_ready(), 10)
        yield rpc.SearchServiceStub(channel)
    stop.set()
    await running


async def test_calls_are_counted_by_method_and_status() -> None:
    settings = ServiceSettings(port=free_port(), status_port=free_port(), drain_s=1)
    stop = asyncio.Event()
    assert settings.status_port is not None
    async with serving(settings, stop) as stub:
        for query in ("fine", "fine", "refused", "broken"):
            try:
                await stub.SearchCorpus(pb.SearchCorpusRequest(query=query), timeout=5)
            except grpc.aio.AioRpcError:
                continue
        told = samples((await read(settings.status_port)).text)
        method = ("method", "/zocrates.search.v1.SearchService/SearchCorpus")

        def calls(code: str) -> float:
            return told["zocrates_rpc_calls_total", (("code", code), method)]

        assert (calls("OK"), calls("NOT_FOUND"), calls("INTERNAL")) == (2, 1, 1)
        assert told["zocrates_rpc_seconds_count", (method,)] == 4
        assert told["zocrates_rpc_in_hand", ()] == 0


async def test_the_status_page_answers_what_it_has_and_says_when_the_process_stops() -> None:
    settings = ServiceSettings(port=free_port(), status_port=free_port(), drain_s=1)
    stop = asyncio.Event()
    assert settings.status_port is not None
    async with serving(settings, stop):
        assert (await read(settings.status_port, "/health")).status_code == 200
        assert (await read(settings.status_port, "/else")).status_code == 404
        async with httpx.AsyncClient(trust_env=False) as http:
            url = f"http://127.0.0.1:{settings.status_port}/metrics"
            assert (await http.post(url)).status_code == 405
        stop.set()
        assert (await read(settings.status_port, "/health")).status_code == 503


async def test_what_is_not_looked_up_in_time_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("services.chassis.status_page.LOOK_UP_S", 0.05)
    metrics = Metrics(registry=new_registry(), look_up=asyncio.Event().wait)  # type: ignore[arg-type]
    settings = ServiceSettings(port=free_port(), status_port=free_port(), drain_s=1)
    assert settings.status_port is not None
    async with serving(settings, asyncio.Event(), metrics):
        assert "process_open_fds" in (await read(settings.status_port)).text


async def test_a_run_with_a_pause_is_seen_in_the_orchestrators_numbers(
    database_url: str, nats_server: NatsServer, peers: ResearchPeers
) -> None:
    set_deep_question(peers)
    settings: Settings = settings_for(database_url, nats_server.url, peers, status_port=free_port())
    assert settings.status_port is not None
    port = settings.status_port
    async with orchestrator(settings) as chat:
        turn = await chat.start("A deep question")
        await chat.waiting(turn)

        async def asked() -> bool:
            told = samples((await read(port)).text)
            return told.get(("zocrates_runs_active", (("state", "AWAITING_INPUT"),))) == 1 and (
                told["zocrates_checkpoints_pending", ()] == 1
            )

        await eventually(asked, "a run that waits")
        await chat.decide(turn, action=event_pb2.DECISION_ACTION_SYNTHESIZE)
        await chat.finished(turn)

        async def ended() -> bool:
            told = samples((await read(port)).text)
            return told.get(("zocrates_runs_ended_total", (("state", "COMPLETED"),)), 0) >= 1

        await eventually(ended, "a run that ended")
        told = samples((await read(port)).text)
    # A relay whose claim runs out on a busy machine publishes, and counts, once more.
    assert told["zocrates_runs_started_total", ()] >= 1
    assert told["zocrates_decisions_total", (("action", "SYNTHESIZE"),)] >= 1
    assert told["zocrates_checkpoints_pending", ()] == 0
    assert told["zocrates_runs_active", (("state", "AWAITING_INPUT"),)] == 0
    assert (
        sum(value for (name, _), value in told.items() if name == "zocrates_tool_calls_total") > 0
    )
    assert told["zocrates_database_reachable", ()] == 1


def test_nothing_of_the_repository_counts_in_a_registry_of_all() -> None:
    # A global registry would be shared by tests and by whoever imports the code.
    root = Path(__file__).resolve().parents[2]
    found = [
        path.name for path in (root / "services").rglob("*.py") if "REGISTRY" in path.read_text()
    ]
    assert not found
