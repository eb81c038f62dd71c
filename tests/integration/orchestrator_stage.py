"""An orchestrator in this process, with everything around it real but the peers' answers."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from pydantic import SecretStr

from services.chassis.channel import open_channel
from services.chassis.errors import RpcFailure, failure_of
from services.orchestrator import process
from services.orchestrator.ceilings import Harness
from services.orchestrator.consent import Consent
from services.orchestrator.settings import Settings
from tests.fakes.research_peers import ResearchPeers
from tests.servers import free_port
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2 as pb
from zocrates.orchestrator.v1 import chat_pb2_grpc as rpc

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 20
EXTEND = event_pb2.DECISION_ACTION_EXTEND_BUDGET
SYNTHESIZE = event_pb2.DECISION_ACTION_SYNTHESIZE
ENDED = (pb.RUN_STATE_COMPLETED, pb.RUN_STATE_FAILED, pb.RUN_STATE_CANCELLED, pb.RUN_STATE_REWOUND)


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

    async def waiting(
        self, turn: pb.StartTurnResponse, interrupt_id: str = "interrupt_ext_1"
    ) -> event_pb2.RequestInput:
        """The question of the run, once it waits for this answer."""

        async def waits() -> bool:
            page = await self.page(turn)
            assert page.state not in ENDED, page
            asked = page.events[-1].request_input
            return page.state == pb.RUN_STATE_AWAITING_INPUT and asked.interrupt_id == interrupt_id

        await eventually(waits, f"the question {interrupt_id}")
        return (await self.page(turn)).events[-1].request_input

    async def decide(
        self,
        turn: pb.StartTurnResponse,
        action: event_pb2.DecisionAction.ValueType = EXTEND,
        interrupt_id: str = "interrupt_ext_1",
        **fields: object,
    ) -> pb.DecideResponse:
        request = pb.DecideRequest(
            session_id=turn.session_id,
            run_id=turn.run_id,
            interrupt_id=interrupt_id,
            action=action,
            **fields,  # type: ignore[arg-type]
        )
        return await self.stub.Decide(request, timeout=10, metadata=self.metadata)

    async def checkpoint(self, turn: pb.StartTurnResponse) -> pb.GetCheckpointResponse:
        request = pb.GetCheckpointRequest(session_id=turn.session_id, run_id=turn.run_id)
        return await self.stub.GetCheckpoint(request, timeout=10, metadata=self.metadata)

    async def cancel(self, turn: pb.StartTurnResponse) -> None:
        request = pb.CancelRunRequest(session_id=turn.session_id, run_id=turn.run_id)
        await self.stub.CancelRun(request, timeout=10, metadata=self.metadata)

    async def rewind(self, turn: pb.StartTurnResponse) -> list[str]:
        request = pb.RewindSessionRequest(session_id=turn.session_id, run_id=turn.run_id)
        reply = await self.stub.RewindSession(request, timeout=10, metadata=self.metadata)
        return list(reply.run_ids)

    async def retry(self, turn: pb.StartTurnResponse) -> int:
        request = pb.RetryRunRequest(session_id=turn.session_id, run_id=turn.run_id)
        reply = await self.stub.RetryRun(request, timeout=10, metadata=self.metadata)
        return reply.after_sequence

    async def session(self, turn: pb.StartTurnResponse) -> pb.GetSessionResponse:
        request = pb.GetSessionRequest(session_id=turn.session_id)
        return await self.stub.GetSession(request, timeout=10, metadata=self.metadata)

    async def rename(self, turn: pb.StartTurnResponse, title: str) -> pb.SessionSummary:
        request = pb.RenameSessionRequest(session_id=turn.session_id, title=title)
        reply = await self.stub.RenameSession(request, timeout=10, metadata=self.metadata)
        return reply.session

    async def delete(self, turn: pb.StartTurnResponse) -> None:
        request = pb.DeleteSessionRequest(session_id=turn.session_id)
        await self.stub.DeleteSession(request, timeout=10, metadata=self.metadata)

    async def listed(self) -> list[pb.SessionSummary]:
        reply = await self.stub.ListSessions(
            pb.ListSessionsRequest(), timeout=10, metadata=self.metadata
        )
        return list(reply.sessions)

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
async def orchestrator(
    settings: Settings, harness: Harness | None = None, *, consent: Consent | None = None
) -> AsyncIterator[Chat]:
    """A running orchestrator and a caller; stopped gracefully at the end."""
    stop = asyncio.Event()
    running = asyncio.create_task(
        process.run(settings, harness or Harness(), stop, consent=consent)
    )
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


@asynccontextmanager
async def orchestrator_process(
    database_url: str, nats_url: str, peers: ResearchPeers, **more: float
) -> AsyncIterator[tuple[asyncio.subprocess.Process, Chat]]:
    """An orchestrator in a process of its own, which the test may kill."""
    settings = settings_for(database_url, nats_url, peers)
    environment = {
        "ORCHESTRATOR_DATABASE_URL": database_url,
        "ORCHESTRATOR_NATS_URL": nats_url,
        "ORCHESTRATOR_SEARCH_TARGET": peers.target("search"),
        "ORCHESTRATOR_RERANK_TARGET": peers.target("rerank"),
        "ORCHESTRATOR_SYNTH_TARGET": peers.target("synth"),
        "ORCHESTRATOR_PORT": str(settings.port),
        "ORCHESTRATOR_LEASE_S": "1",
        "ORCHESTRATOR_RENEW_S": "0.2",
        "ORCHESTRATOR_POLL_S": "0.1",
        **{f"ORCHESTRATOR_{name.upper()}": str(value) for name, value in more.items()},
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "services.orchestrator"),
        cwd=ROOT,
        env={**os.environ, **environment},
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with open_channel(f"127.0.0.1:{settings.port}") as channel:
            await asyncio.wait_for(channel.channel_ready(), 30)
            yield process, Chat(stub=rpc.ChatServiceStub(channel))
    finally:
        if process.returncode is None:
            process.terminate()
            await asyncio.wait_for(process.wait(), 30)


def assert_told_once(page: pb.ListEventsResponse) -> None:
    """No gap in the sequence, and one call, one result and one decision for each step."""
    assert [event.sequence for event in page.events] == list(range(1, len(page.events) + 1))
    for kind in ("tool_call", "tool_result"):
        told = [getattr(one, kind).step_id for one in page.events if one.HasField(kind)]
        assert len(told) == len(set(told)), told
    answers = [
        one.checkpoint_answered for one in page.events if one.HasField("checkpoint_answered")
    ]
    assert len(answers) == len({one.interrupt_id for one in answers}), answers


async def refusal(calling: Awaitable[object]) -> RpcFailure:
    """How a call failed."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await calling
    return failure_of(caught.value)
