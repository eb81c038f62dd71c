"""Streams while NATS, the orchestrator, the client or the gateway itself goes away."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.fakes.gateway_stage import (
    PATIENCE_S,
    Frame,
    Stage,
    names,
    rest,
    until,
    upcoming,
)
from tests.servers import NatsServer
from zocrates.events.v1 import event_pb2 as ev

SEARCHING = {"stage": ev.StageEntered(stage=ev.STAGE_SEARCH)}
WRITING = {"stage": ev.StageEntered(stage=ev.STAGE_SYNTHESIZE)}
ANSWER = {"answer": ev.Answered(markdown="Because.", answered=True)}


@pytest.fixture
async def stage(nats_server: NatsServer) -> AsyncIterator[Stage]:
    """A gateway of this test's own."""
    async with Stage(nats_server.url).lit() as lit:
        yield lit


async def test_rows_arrive_without_nats(stage: Stage, nats_server: NatsServer) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        await stage.subscribed()
        nats_server.kill()
        run.record(**SEARCHING)
        assert (await upcoming(stream)).position == "2"
        run.record(**ANSWER)
        assert names(await rest(stream)) == ["answer", "done"]
    assert await stage.metric("zocrates_gateway_bus_losses_total") >= 1


async def test_live_messages_come_again_after_nats_was_away(
    stage: Stage, nats_server: NatsServer
) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        await stage.subscribed()
        nats_server.kill()
        await until(lambda: not stage.bus.is_connected)
        nats_server.start()
        await until(lambda: stage.bus.is_connected)
        await until(stage.is_live)
        await run.tell(stage.bus, **WRITING)
        assert (await upcoming(stream)).position == "2"
        await run.write(stage.bus, "Bec", offset=0)
        assert (await upcoming(stream)).name == "answer_delta"


async def test_a_gateway_that_started_without_nats_gets_live_messages_later(
    nats_server: NatsServer,
) -> None:
    nats_server.kill()
    async with Stage(nats_server.url, needs_nats=False).lit() as stage:
        run = stage.orchestrator.add()
        async with stage.follow(run.path) as stream:
            await upcoming(stream)
            nats_server.start()
            await until(lambda: stage.bus.is_connected)
            run.record(**WRITING)
            assert (await upcoming(stream)).position == "2"

            async def write_until_seen() -> Frame:
                coming = asyncio.ensure_future(anext(stream))
                while not coming.done():
                    await run.write(stage.bus, "Bec", offset=0)
                    await asyncio.wait({coming}, timeout=0.1)
                return coming.result()

            seen = await asyncio.wait_for(write_until_seen(), PATIENCE_S)
            assert seen.data["text"] == "Bec"


async def test_a_stream_outlives_an_orchestrator_that_restarts(stage: Stage) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        await stage.subscribed()
        await stage.stop_orchestrator()
        # A hole makes the stream ask the orchestrator, which is not there.
        run.record(**SEARCHING)
        await run.tell(stage.bus, **ANSWER)
        await stage.start_orchestrator()
        assert [frame.position for frame in await rest(stream)] == ["2", "3", "3"]


async def test_patience_ends_with_an_error_that_moves_no_position(
    nats_server: NatsServer,
) -> None:
    async with Stage(nats_server.url, peer_patience_s=0.1).lit() as stage:
        run = stage.orchestrator.add()
        async with stage.follow(run.path) as stream:
            await upcoming(stream)
            await stage.subscribed()
            await stage.stop_orchestrator()
            [error] = await rest(stream)
        assert (error.name, error.position, error.data["code"]) == ("error", None, "PEER_DOWN")
        assert error.data["retryable"] is True


async def test_a_slow_client_loses_its_inbox_but_no_row(nats_server: NatsServer) -> None:
    async with Stage(nats_server.url, inbox_messages=4).lit() as stage:
        run = stage.orchestrator.add()
        bulk = ev.Thought(agent="search", text="x" * 400_000)
        async with stage.follow(run.path) as stream:
            await upcoming(stream)
            await stage.subscribed()
            # Nothing is read until the sockets between gateway and client are full.
            while not await stage.metric("zocrates_gateway_inbox_overflows_total"):
                for _ in range(4):
                    await run.tell(stage.bus, thought=bulk)
            await run.tell(stage.bus, **ANSWER)
            positions = [int(frame.position or 0) for frame in await rest(stream)]
        assert positions == [*range(2, len(run.events) + 1), len(run.events)]


async def test_a_stopping_gateway_ends_its_streams_at_once(stage: Stage) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        stage.stop.set()
        assert await rest(stream) == []


async def test_a_silent_stream_carries_pings(nats_server: NatsServer) -> None:
    async with Stage(nats_server.url, ping_s=0.05).lit() as stage:
        run = stage.orchestrator.add()
        async with stage.http.stream("GET", run.path) as reply:
            raw = reply.aiter_raw()
            seen = b""
            while b": ping\n\n" not in seen:
                seen += await asyncio.wait_for(anext(raw), PATIENCE_S)


async def test_a_peer_that_does_not_answer_in_time_is_told_as_such(
    nats_server: NatsServer,
) -> None:
    async with Stage(nats_server.url, peer_deadline_s=0.2).lit() as stage:
        stage.orchestrator.hangs = True
        reply = await stage.http.get("/sessions")
        assert (reply.status_code, reply.json()["code"]) == (504, "PEER_TIMEOUT")
