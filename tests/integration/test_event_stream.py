"""The promise of the event stream, whole: real orchestrator, gateways, Postgres and NATS."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

import httpx
import pytest
from sqlalchemy import text

from gateway.client import Client, RunId
from gateway.location import Location
from gateway.serving import serve
from gateway.settings import ApiKey
from gateway.settings import Settings as GatewaySettings
from gateway.sse import ServerEvent
from gateway.watching import WatchedRun, after
from services.orchestrator.store.database import Database
from services.orchestrator.store.retention import Ages, Retention
from tests.fakes.gateway_stage import ADA
from tests.fakes.research_peers import ResearchPeers, call, conclude, passage, research_peers
from tests.integration.orchestrator_stage import (
    SYNTHESIZE,
    Chat,
    eventually,
    orchestrator,
    settings_for,
)
from tests.servers import NatsServer, free_port
from zocrates.orchestrator.v1 import chat_pb2 as pb

NEVER = timedelta(days=1_000)


@dataclass
class Around:
    """What a client talks to, and what surrounds it."""

    chat: Chat
    peers: ResearchPeers
    nats: NatsServer
    orchestrator_port: int

    @asynccontextmanager
    async def gateway(self, port: int = 0) -> AsyncIterator[int]:
        """A gateway; all that it holds is gone at the end."""
        stop = asyncio.Event()
        settings = GatewaySettings(
            port=port or free_port(),
            nats_url=self.nats.url,
            orchestrator_target=f"127.0.0.1:{self.orchestrator_port}",
            search_target=self.peers.target("search"),
            keys=(ApiKey.model_validate({"key": ADA, "owner": "ada"}),),
            drain_s=1,
        )
        running = asyncio.create_task(serve(settings, stop))

        async def is_there() -> bool:
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", settings.port)
                writer.close()
                return True
            return False

        try:
            await eventually(is_there, "the gateway")
            yield settings.port
        finally:
            stop.set()
            await running


@pytest.fixture
async def around(database_url: str, nats_server: NatsServer) -> AsyncIterator[Around]:
    async with research_peers() as peers:
        peers.search.hits = {"sleep": [passage(1), passage(2)], "memory": [passage(3)]}
        peers.synth.script = [
            [call("search_corpus", query="sleep")],
            [call("search_corpus", query="memory")],
            [conclude(gaps=["Dose"])],
        ]
        settings = settings_for(database_url, nats_server.url, peers)
        async with orchestrator(settings) as chat:
            yield Around(chat=chat, peers=peers, nats=nats_server, orchestrator_port=settings.port)


@dataclass
class Watcher:
    """A client that follows a run all the time, and what it saw."""

    run: RunId
    seen: list[ServerEvent] = field(default_factory=list)

    async def follow(self, port: int, *, last_id: str = "") -> None:
        """Follow to the end of the run."""
        location = Location(base_url=f"http://127.0.0.1:{port}", api_key=ADA)
        async with Client(location) as client:
            async for event in client.follow(self.run, last_id=last_id):
                self.seen.append(event)

    async def saw(self, name: str) -> None:
        """Wait for an event."""

        async def has_come() -> bool:
            return any(event.name == name for event in self.seen)

        await eventually(has_come, name)

    @property
    def rows(self) -> list[tuple[int, str]]:
        """Sequence and name of the recorded events, in the order in which they came."""
        return [
            (int(one.data["sequence"]), one.name)
            for one in self.seen
            if one.name != "done" and one.id and one.id.isdigit()
        ]


def watcher(turn: pb.StartTurnResponse) -> Watcher:
    return Watcher(RunId(session_id=turn.session_id, invocation_id=turn.run_id))


async def recorded(chat: Chat, turn: pb.StartTurnResponse) -> list[tuple[int, str]]:
    page = await chat.page(turn)
    return [(event.sequence, str(event.WhichOneof("payload"))) for event in page.events]


async def synthesize(around: Around, turn: pb.StartTurnResponse) -> None:
    await around.chat.waiting(turn)
    await around.chat.decide(turn, SYNTHESIZE)


async def published(database: Database) -> None:
    """Wait until NATS has every event, so that the orchestrator is connected to it."""

    async def is_published() -> bool:
        (row,) = await database.fetch(text("SELECT relay_due FROM run"))
        return not row.relay_due

    await eventually(is_published, "the publication of all events")


async def live(port: int) -> None:
    """Wait until the gateway is connected to NATS."""

    async def is_live() -> bool:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:
            return bool((await http.get("/readiness")).json()["live_events"])

    await eventually(is_live, "the gateway's connection to NATS")


async def test_a_gateway_that_restarts_loses_and_repeats_no_row(around: Around) -> None:
    gate = around.peers.search.gates["memory"] = asyncio.Event()
    turn = await around.chat.start("Does sleep help memory?")
    watching = watcher(turn)
    async with asyncio.TaskGroup() as group:
        async with around.gateway() as port:
            group.create_task(watching.follow(port))
            await watching.saw("tool_call")
        gate.set()
        await around.chat.waiting(turn)
        async with around.gateway(port):
            await watching.saw("request_input")
        await synthesize(around, turn)
        async with around.gateway(port):
            await watching.saw("done")
    assert watching.rows == await recorded(around.chat, turn)


async def test_nats_that_restarts_without_its_data_costs_no_row_and_text_streams_again(
    around: Around, database: Database
) -> None:
    gate = around.peers.search.gates["memory"] = asyncio.Event()
    turn = await around.chat.start("Does sleep help memory?")
    watching = watcher(turn)
    async with around.gateway() as port, asyncio.TaskGroup() as group:
        group.create_task(watching.follow(port))
        await watching.saw("tool_call")
        around.nats.kill()
        gate.set()
        # A row arrives while NATS is away.
        await watching.saw("request_input")
        around.nats.forget()
        around.nats.start()
        await published(database)
        await live(port)
        around.peers.synth.writing_gate = asyncio.Event()
        await synthesize(around, turn)
        await watching.saw("answer_delta")
        around.peers.synth.writing_gate.set()
        await watching.saw("done")
    assert watching.rows == await recorded(around.chat, turn)


async def test_a_second_gateway_goes_on_where_the_first_one_was_left(around: Around) -> None:
    turn = await around.chat.start("Does sleep help memory?")
    first, second, third = watcher(turn), watcher(turn), watcher(turn)
    async with around.gateway() as one, around.gateway() as other, asyncio.TaskGroup() as group:
        leaving = group.create_task(first.follow(one))
        group.create_task(second.follow(other))
        await first.saw("request_input")
        leaving.cancel()
        await asyncio.wait([leaving])
        await synthesize(around, turn)
        last = next(event.id for event in reversed(first.seen) if event.id)
        await third.follow(other, last_id=last)
    rows = await recorded(around.chat, turn)
    assert first.rows + third.rows == rows
    assert second.rows == rows


async def test_after_retention_a_late_client_gets_the_run_as_its_session_shows_it(
    around: Around, database: Database
) -> None:
    turn = await around.chat.start("Does sleep help memory?")
    await synthesize(around, turn)
    last = (await around.chat.finished(turn)).last_sequence
    await published(database)
    ages = Ages(request_keys=NEVER, steps=NEVER, events=timedelta(0))
    assert await Retention(database).forget(ages) == 1
    async with around.gateway() as port:
        watching = watcher(turn)
        await watching.follow(port, last_id="3")
        location = Location(base_url=f"http://127.0.0.1:{port}", api_key=ADA)
        async with Client(location) as client:
            session = await client.session(turn.session_id)
    snapshot, done = watching.seen
    assert (snapshot.name, snapshot.id, done.data["state"]) == ("snapshot", str(last), "COMPLETED")
    (message,) = session.model_dump(mode="json")["messages"]
    assert {name: snapshot.data[name] for name in message} == message
    run = after(WatchedRun(), snapshot)
    assert run.answer is not None
    assert len(run.calls) == 3
    assert [one["interrupt_id"] for one in message["checkpoints"]] == ["interrupt_ext_1"]
