"""A real gateway on a socket, between real NATS and scripted peers."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from gateway.serving import serve
from gateway.settings import ApiKey, Settings
from services.chassis.bus import Bus, open_bus
from services.chassis.server import Running, serving
from tests.fakes.gateway_index import ScriptedLibrary, ScriptedSearch
from tests.fakes.gateway_peers import ScriptedOrchestrator
from tests.servers import NatsServer, free_port
from zocrates.orchestrator.v1 import chat_pb2_grpc as chat_rpc
from zocrates.orchestrator.v1 import models_pb2_grpc as models_rpc
from zocrates.search.v1 import search_pb2_grpc as search_rpc

ADA = "key-of-ada-0123456789"
BOB = "key-of-bob-0123456789"
EVE = "key-of-eve-0123456789"
PATIENCE_S = 30

KEYS = (
    {"key": ADA, "owner": "ada", "libraries": None},
    {"key": BOB, "owner": "bob", "libraries": ("groups/7",)},
    {"key": EVE, "owner": "eve", "libraries": ()},
)


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One SSE frame."""

    name: str
    position: str | None
    data: dict[str, Any]


async def frames(reply: httpx.Response) -> AsyncIterator[Frame]:
    """The frames of a stream; comments are skipped."""
    pending = b""
    async for chunk in reply.aiter_raw():
        pending += chunk
        while b"\n\n" in pending:
            block, pending = pending.split(b"\n\n", 1)
            fields = dict(
                line.split(": ", 1)
                for line in block.decode().split("\n")
                if not line.startswith(":")
            )
            if fields:
                yield Frame(
                    name=fields["event"], position=fields.get("id"), data=json.loads(fields["data"])
                )


async def until(condition: Callable[[], bool | Awaitable[bool]]) -> None:
    """Wait, within bounds, for something that no event tells of."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            holds = condition()
            if holds if isinstance(holds, bool) else await holds:
                return
            await asyncio.sleep(0.02)


async def upcoming(stream: AsyncIterator[Frame]) -> Frame:
    """The next frame."""
    return await asyncio.wait_for(anext(stream), PATIENCE_S)


async def rest(stream: AsyncIterator[Frame]) -> list[Frame]:
    """All frames until the stream ends."""
    async with asyncio.timeout(PATIENCE_S):
        return [frame async for frame in stream]


def names(seen: list[Frame]) -> list[str]:
    """The names of frames."""
    return [frame.name for frame in seen]


@asynccontextmanager
async def orchestrator_at(servicer: ScriptedOrchestrator, port: int = 0) -> AsyncIterator[Running]:
    """The scripted orchestrator on a port."""
    services = {
        "zocrates.orchestrator.v1.ChatService": (
            lambda server: chat_rpc.add_ChatServiceServicer_to_server(servicer, server)
        ),
        "zocrates.orchestrator.v1.ModelService": (
            lambda server: models_rpc.add_ModelServiceServicer_to_server(servicer.models, server)
        ),
    }
    async with serving(services, port=port, drain_s=0.1) as running:
        yield running


@asynccontextmanager
async def search_at(searches: ScriptedSearch, library: ScriptedLibrary) -> AsyncIterator[Running]:
    """The scripted search process."""
    services = {
        "zocrates.search.v1.SearchService": (
            lambda server: search_rpc.add_SearchServiceServicer_to_server(searches, server)
        ),
        "zocrates.search.v1.LibraryService": (
            lambda server: search_rpc.add_LibraryServiceServicer_to_server(library, server)
        ),
    }
    async with serving(services, drain_s=0.1) as running:
        yield running


class Stage:
    """The gateway and what surrounds it."""

    def __init__(self, nats_url: str, *, needs_nats: bool = True, **settings: Any) -> None:
        self.nats_url = nats_url
        self.needs_nats = needs_nats
        self.settings = settings
        self.orchestrator = ScriptedOrchestrator()
        self.search = ScriptedSearch()
        self.library = ScriptedLibrary()
        self.stop = asyncio.Event()
        self.listings_before = 0
        self.orchestrator_port = free_port()
        self.http: httpx.AsyncClient
        self.bus: Bus
        self._orchestrator_life = contextlib.AsyncExitStack()

    async def start_orchestrator(self) -> None:
        """Start it, or start it again on its port."""
        life = orchestrator_at(self.orchestrator, self.orchestrator_port)
        await self._orchestrator_life.enter_async_context(life)

    async def stop_orchestrator(self) -> None:
        """Let it go away."""
        await self._orchestrator_life.aclose()

    @asynccontextmanager
    async def lit(self) -> AsyncIterator["Stage"]:
        """Start everything, stop everything."""
        async with (
            self._orchestrator_life,
            search_at(self.search, self.library) as search,
            open_bus(self.nats_url, "tests") as self.bus,
        ):
            await self.start_orchestrator()
            settings = self._settings(search.port)
            gateway = asyncio.create_task(serve(settings, self.stop))
            base = f"http://127.0.0.1:{settings.port}"
            async with httpx.AsyncClient(
                base_url=base, headers={"X-API-Key": ADA}, timeout=PATIENCE_S
            ) as self.http:
                try:
                    await self._wait_for_gateway(gateway)
                    yield self
                finally:
                    self.stop.set()
                    await asyncio.wait_for(gateway, PATIENCE_S)

    @asynccontextmanager
    async def follow(
        self, path: str, *, after: str | None = None, key: str = ADA
    ) -> AsyncIterator[AsyncIterator[Frame]]:
        """Follow a run."""
        self.listings_before = self.orchestrator.listings
        headers = {"X-API-Key": key}
        if after is not None:
            headers["Last-Event-ID"] = after
        async with self.http.stream("GET", path, headers=headers) as reply:
            assert reply.status_code == 200, await reply.aread()
            yield frames(reply)

    async def subscribed(self) -> None:
        """Wait until the latest stream read the record twice: the second time it is subscribed."""
        await until(lambda: self.orchestrator.listings >= self.listings_before + 2)

    async def has_open_streams(self, count: int) -> bool:
        """Whether so many streams are open."""
        return await self.metric("zocrates_gateway_open_streams") == count

    async def is_live(self) -> bool:
        """Whether the gateway is connected to NATS."""
        return bool((await self.http.get("/readiness")).json()["live_events"])

    async def metric(self, line: str) -> int:
        """The number that stands behind a metric's name and labels."""
        text = (await self.http.get("/metrics")).text
        found = [row for row in text.splitlines() if row.startswith(f"{line} ")]
        return int(found[0].rsplit(" ", 1)[1]) if found else 0

    def _settings(self, search_port: int) -> Settings:
        return Settings(
            **{
                "port": free_port(),
                "nats_url": self.nats_url,
                "orchestrator_target": f"127.0.0.1:{self.orchestrator_port}",
                "search_target": f"127.0.0.1:{search_port}",
                "keys": tuple(ApiKey.model_validate(key) for key in KEYS),
                "drain_s": 2,
                **self.settings,
            }
        )

    async def _wait_for_gateway(self, gateway: "asyncio.Task[None]") -> None:
        async def is_ready() -> bool:
            if gateway.done():
                await gateway
            with contextlib.suppress(httpx.TransportError):
                return await self.is_live() or not self.needs_nats
            return False

        await until(is_ready)


@asynccontextmanager
async def stage_with_nats(folder: Path, **settings: Any) -> AsyncIterator[Stage]:
    """A gateway with a NATS server of its own, for the tests of one file."""
    nats = NatsServer(folder, free_port())
    nats.start()
    try:
        async with Stage(nats.url, **settings).lit() as stage:
            yield stage
    finally:
        nats.kill()
