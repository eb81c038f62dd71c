"""An orchestrator in this process, with everything around it real but the peers' answers."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc
import pytest
from pydantic import SecretStr

from services.chassis.channel import open_channel
from services.chassis.errors import RpcFailure, failure_of
from services.orchestrator import process
from services.orchestrator.ceilings import Harness
from services.orchestrator.settings import Settings
from tests.fakes.research_peers import ResearchPeers
from tests.servers import free_port
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2 as pb
from zocrates.orchestrator.v1 import chat_pb2_grpc as rpc

PATIENCE_S = 20
ENDED = (pb.RUN_STATE_COMPLETED, pb.RUN_STATE_FAILED, pb.RUN_STATE_CANCELLED)


async def eventually(
    condition: Callable[[], Awaitable[bool]], what: str, *, within_s: float = PATIENCE_S
) -> None:
    """Wait until the condition holds; fail with its name when it does not in time."""
    deadline = time.monotonic() + within_s
    while not await condition():
        assert time.monotonic() < deadline, f"not in time: {what}"
        await asyncio.sleep(0.02)


@dataclass
class Chat:
    """A caller of ChatService."""

    stub: rpc.ChatServiceStub
    owner: str = "ada"

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        return (("x-zocrates-owner", self.owner),)

    async def start(self, prompt: str, **fields: object) -> pb.StartTurnResponse:
        request = pb.StartTurnRequest(prompt=prompt, **fields)  # type: ignore[arg-type]
        return await self.stub.StartTurn(request, timeout=10, metadata=self.metadata)

    async def page(self, turn: pb.StartTurnResponse, after: int = 0) -> pb.ListEventsResponse:
        request = pb.ListEventsRequest(
            session_id=turn.session_id, run_id=turn.run_id, after_sequence=after
        )
        return await self.stub.ListEvents(request, timeout=10, metadata=self.metadata)

    async def finished(
        self, turn: pb.StartTurnResponse, *, within_s: float = PATIENCE_S
    ) -> pb.ListEventsResponse:
        """All events of the run, once it has ended."""

        async def ended() -> bool:
            return (await self.page(turn)).state in ENDED

        await eventually(ended, "the run's end", within_s=within_s)
        return await self.page(turn)

    async def answer(self, prompt: str, **fields: object) -> event_pb2.Answered:
        """Ask, and wait for the answer."""
        page = await self.finished(await self.start(prompt, **fields))
        assert page.state == pb.RUN_STATE_COMPLETED, page
        return page.events[-1].answer


def kinds(page: pb.ListEventsResponse) -> list[str]:
    """The events' types in order."""
    return [str(event.WhichOneof("payload")) for event in page.events]


def settings_for(
    database_url: str, nats_url: str, peers: ResearchPeers, **more: object
) -> Settings:
    """Settings with short leases and a port of the system's choice."""
    values: dict[str, object] = {
        "database_url": SecretStr(database_url),
        "nats_url": nats_url,
        "search_target": peers.target("search"),
        "rerank_target": peers.target("rerank"),
        "synth_target": peers.target("synth"),
        "port": free_port(),
        "lease_s": 1.0,
        "renew_s": 0.2,
        "poll_s": 0.1,
        "drain_s": 2.0,
        "peer_deadline_s": 5.0,
        **more,
    }
    return Settings(**values)  # type: ignore[arg-type]  # pydantic checks them


@asynccontextmanager
async def orchestrator(settings: Settings, harness: Harness | None = None) -> AsyncIterator[Chat]:
    """A running orchestrator and a caller; stopped gracefully at the end."""
    stop = asyncio.Event()
    running = asyncio.create_task(process.run(settings, harness or Harness(), stop))
    async with open_channel(f"127.0.0.1:{settings.port}") as channel:
        await asyncio.wait(
            [running, asyncio.create_task(channel.channel_ready())],
            return_when=asyncio.FIRST_COMPLETED,
            timeout=PATIENCE_S,
        )
        if running.done():
            running.result()
        try:
            yield Chat(stub=rpc.ChatServiceStub(channel))
        finally:
            stop.set()
            await running


async def refusal(calling: Awaitable[object]) -> RpcFailure:
    """How a call failed."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await calling
    return failure_of(caught.value)
