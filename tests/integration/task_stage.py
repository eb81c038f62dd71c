"""The task wire over HTTP, with every process real but the peers that search and think."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from gateway.serving import serve
from gateway.settings import ApiKey
from gateway.settings import Settings as GatewaySettings
from services.orchestrator.consent import Consent
from services.orchestrator.settings import Settings
from tests.fakes.deep_question import set_deep_question
from tests.fakes.research_peers import ResearchPeers, research_peers
from tests.integration.orchestrator_stage import (
    PATIENCE_S,
    eventually,
    orchestrator,
    settings_for,
)
from tests.servers import NatsServer, free_port

API = "/api/v1"
REVIEWED = {"force_research": True, "require_review": True}
ENDED = ("TASK_STATUS_COMPLETED", "TASK_STATUS_FAILED", "TASK_STATUS_CANCELLED")
# A test has an owner of its own, so that all of a file can share their servers.
OWNERS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFrame:
    """One frame of a task's stream."""

    position: str
    name: str
    data: Any

    @property
    def kind(self) -> str:
        return str(self.data.get("type", self.name)) if isinstance(self.data, dict) else self.name


@dataclass
class TaskWire:
    """A client of the task wire, and the peers whose moves it sees."""

    http: httpx.AsyncClient
    peers: ResearchPeers
    owner: str

    async def submit(self, query: str = "Does sleep help?", **fields: Any) -> str:
        reply = await self.http.post(f"{API}/tasks", json={"query": query, **fields})
        assert reply.status_code == 200, reply.text
        return str(reply.json()["task_id"])

    async def task(self, task_id: str) -> dict[str, Any]:
        reply = await self.http.get(f"{API}/tasks/{task_id}")
        assert reply.status_code == 200, reply.text
        found: dict[str, Any] = reply.json()
        return found

    async def under_review(self, query: str = "Does sleep help?", **context: Any) -> str:
        """A task that waits for the review of its first plan."""
        task_id = await self.submit(query, context={**REVIEWED, **context})

        async def is_ready() -> bool:
            return (await self.http.get(f"{API}/tasks/{task_id}/review")).status_code == 200

        await eventually(is_ready, "the first plan")
        return task_id

    async def review(
        self, task_id: str, action: str, tag: str | None = None, **body: Any
    ) -> httpx.Response:
        headers = {} if tag is None else {"If-Match": tag}
        return await self.http.post(
            f"{API}/tasks/{task_id}/review", json={"action": action, **body}, headers=headers
        )

    async def ended(self, task_id: str) -> dict[str, Any]:
        """The task, once it has ended."""

        async def has_ended() -> bool:
            return (await self.task(task_id))["status"] in ENDED

        await eventually(has_ended, "the end of the task")
        return await self.task(task_id)

    async def stream(self, task_id: str, **params: str) -> list[TaskFrame]:
        """All frames of a stream to its end."""
        query = {"workflow_id": task_id, **params}
        async with (
            asyncio.timeout(20),
            self.http.stream("GET", f"{API}/stream/sse", params=query) as reply,
        ):
            assert reply.status_code == 200, await reply.aread()
            text = (await reply.aread()).decode()
        return frames_in(text)


def frames_in(text: str) -> list[TaskFrame]:
    """The frames of a stream; comments are skipped."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and line[0] != ":")
        if fields:
            data = fields["data"]
            body = data if data == "[DONE]" else httpx.Response(200, text=data).json()
            found.append(TaskFrame(position=fields["id"], name=fields["event"], data=body))
    return found


def key_of(owner: str) -> str:
    """The key of an owner."""
    return f"key-of-{owner}-0123456789"


class TaskStage:
    """A gateway before a running orchestrator, which lends itself to one owner after another."""

    def __init__(self, base_url: str, settings: Settings, peers: ResearchPeers) -> None:
        self.base_url = base_url
        self.settings = settings
        self.peers = peers
        self._lent = 0

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[TaskWire]:
        """A client of an owner that nobody was before, and peers as they were at first."""
        self._lent += 1
        owner = f"owner-{self._lent}"
        synth = self.peers.synth
        synth.errors.clear()
        synth.planning_gate = synth.writing_gate = synth.asking_gate = None
        for heard in (synth.plans, synth.conversations, synth.investigations, synth.syntheses):
            heard.clear()
        set_deep_question(self.peers)
        headers = {"X-API-Key": key_of(owner)}
        async with httpx.AsyncClient(
            base_url=self.base_url, headers=headers, timeout=PATIENCE_S
        ) as http:
            wire = TaskWire(http=http, peers=self.peers, owner=owner)
            try:
                yield wire
            finally:
                await _cancel_all(wire)


async def _cancel_all(wire: TaskWire) -> None:
    """What a test leaves at work must not take part in the next one."""
    reply = await wire.http.get(f"{API}/tasks", params={"limit": "100"})
    for task in reply.json()["tasks"]:
        if task["status"] not in ENDED:
            await wire.http.post(f"{API}/tasks/{task['task_id']}/cancel")


@asynccontextmanager
async def gateway_to(
    settings: Settings, peers: ResearchPeers, **more: Any
) -> AsyncIterator[TaskStage]:
    """A gateway before a running orchestrator."""
    owners = [f"owner-{number}" for number in range(1, OWNERS + 1)]
    gateway = GatewaySettings(
        **{
            "port": free_port(),
            "nats_url": settings.nats_url,
            "orchestrator_target": f"127.0.0.1:{settings.port}",
            "search_target": peers.target("search"),
            "keys": tuple(
                ApiKey.model_validate({"key": key_of(owner), "owner": owner}) for owner in owners
            ),
            "drain_s": 1,
            **more,
        }
    )
    stop = asyncio.Event()
    serving = asyncio.create_task(serve(gateway, stop))
    base = f"http://127.0.0.1:{gateway.port}"
    try:
        async with httpx.AsyncClient(base_url=base) as anonymous:

            async def is_there() -> bool:
                with suppress(httpx.TransportError):
                    return (await anonymous.get("/health")).status_code == 200
                return False

            await eventually(is_there, "the gateway")
        yield TaskStage(base, settings, peers)
    finally:
        stop.set()
        await serving


@asynccontextmanager
async def task_stage(
    database_url: str, folder: Path, *, consent: Consent | None = None
) -> AsyncIterator[TaskStage]:
    """Servers for all tests of a file, on a database and a NATS server of their own."""
    nats = NatsServer(folder, free_port())
    nats.start()
    try:
        async with research_peers() as peers:
            settings = settings_for(database_url, nats.url, peers)
            async with (
                orchestrator(settings, consent=consent),
                gateway_to(settings, peers) as stage,
            ):
                yield stage
    finally:
        nats.kill()
