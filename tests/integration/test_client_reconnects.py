"""The client behind a connection that breaks again and again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gateway.client import Client, RunId
from gateway.location import Location
from tests.fakes.gateway_stage import ADA, Stage
from tests.servers import NatsServer, free_port
from zocrates.events.v1 import event_pb2 as ev

SEARCHING = {"stage": ev.StageEntered(stage=ev.STAGE_SEARCH)}
ANSWER = {"answer": ev.Answered(markdown="Sleep helps.", answered=True)}
ROWS = 30
# The reply's head and about five events.
BYTES_A_CONNECTION = 1_400


@pytest.fixture
async def stage(nats_server: NatsServer) -> AsyncIterator[Stage]:
    async with Stage(nats_server.url).lit() as lit:
        yield lit


class Cutter:
    """Passes requests on to a port, notes their heads, and cuts each reply off after some bytes."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.heads: list[str] = []

    async def serve(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            head = await client.readuntil(b"\r\n\r\n")
            self.heads.append(head.decode())
            writer.write(head)
            left = BYTES_A_CONNECTION
            while left > 0 and (piece := await reader.read(left)):
                back.write(piece)
                await back.drain()
                left -= len(piece)
        finally:
            writer.close()
            back.close()


@asynccontextmanager
async def cutting(stage: Stage) -> AsyncIterator[tuple[Cutter, Location]]:
    gateway = stage.http.base_url.port
    assert gateway is not None
    cutter, port = Cutter(gateway), free_port()
    server = await asyncio.start_server(cutter.serve, "127.0.0.1", port)
    async with server:
        yield cutter, Location(base_url=f"http://127.0.0.1:{port}", api_key=ADA)


async def test_a_gateway_that_is_started_again_is_waited_for(stage: Stage) -> None:
    gateway, port = stage.http.base_url.port, free_port()
    assert gateway is not None
    location = Location(base_url=f"http://127.0.0.1:{port}", api_key=ADA, restart_s=10)
    async with Client(location) as client:
        asking = asyncio.create_task(client.sessions())
        done, _ = await asyncio.wait([asking], timeout=0.3)
        assert not done
        server = await asyncio.start_server(Cutter(gateway).serve, "127.0.0.1", port)
        async with server:
            assert (await asking).sessions == []


async def test_each_reconnect_goes_on_where_the_last_one_broke_off(stage: Stage) -> None:
    run = stage.orchestrator.add()
    for _ in range(ROWS):
        run.record(**SEARCHING)
    run.record(**ANSWER)
    known = RunId(session_id=run.session_id, invocation_id=run.run_id)
    async with cutting(stage) as (cutter, location), Client(location) as client:
        seen = [event async for event in client.follow(known)]
    assert [event.id for event in seen[:-1]] == [str(number + 1) for number in range(ROWS + 2)]
    assert seen[-1].name == "done"
    assert len(cutter.heads) > 3
    positions = [_position(head) for head in cutter.heads]
    assert positions[0] is None
    later = [int(one) for one in positions[1:] if one is not None]
    # Every one of them says where, and none begins again.
    assert len(later) == len(positions) - 1
    assert later == sorted(set(later))


def _position(head: str) -> str | None:
    lines = (line.partition(": ") for line in head.splitlines())
    return next((value for name, _, value in lines if name.lower() == "last-event-id"), None)
