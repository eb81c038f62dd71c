"""The bus over a real NATS server that comes and goes."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from services.chassis.bus import Bus, BusDown, Message, Msg, Stream, open_bus
from tests.servers import NatsServer, free_port

STREAM = Stream(
    name="THINGS", subjects=("things.>",), in_memory=True, max_age_s=60, max_bytes=1_000_000
)


async def until(claim: Callable[[], bool], *, within_s: float = 10) -> None:
    """Wait for the claim to hold."""
    async with asyncio.timeout(within_s):
        while not claim():  # noqa: ASYNC110 (what is waited for is another process)
            await asyncio.sleep(0.01)


def message(subject: str, name: str) -> Message:
    """A message whose body is its id."""
    return Message(subject=subject, body=name.encode(), id=name, trace={})


async def test_a_subscriber_gets_what_is_published_in_order(bus: Bus) -> None:
    await until(lambda: bus.is_connected)
    seen: list[bytes] = []

    async def keep(message: Msg) -> None:
        seen.append(message.data)

    await bus.subscribe("things.*", keep)
    for number in range(20):
        await bus.publish("things.a", str(number).encode())
    await until(lambda: len(seen) == 20)
    assert seen == [str(number).encode() for number in range(20)]


async def test_a_repeated_message_is_stored_once_and_can_be_read_again(bus: Bus) -> None:
    await until(lambda: bus.is_connected)
    await bus.ensure(STREAM)
    await bus.ensure(STREAM)
    sent = [("things.x", "1"), ("things.x", "2"), ("things.x", "2"), ("things.y", "3")]
    await bus.publish_stored([message(subject, name) for subject, name in sent])
    await bus.publish_stored([message("things.x", "1"), message("things.x", "4")])
    assert await bus.retained("things.x") == [b"1", b"2", b"4"]
    assert await bus.retained("things.none") == []


async def test_without_a_stream_nothing_is_said_to_be_stored(bus: Bus) -> None:
    await until(lambda: bus.is_connected)
    with pytest.raises(BusDown):
        await bus.publish_stored([message("nowhere", "1")], timeout_s=1)


async def test_a_process_starts_without_nats_and_connects_when_it_comes(tmp_path: Path) -> None:
    server = NatsServer(tmp_path / "nats", free_port())
    async with open_bus(server.url, "early") as bus:
        with pytest.raises(BusDown):
            await bus.publish("things.a", b"")
        server.start()
        try:
            await until(lambda: bus.is_connected)
        finally:
            server.kill()


@pytest.mark.parametrize("attempts_s", [0, 0.01, 0.3])
async def test_who_leaves_while_nats_is_down_leaves_at_once(attempts_s: float) -> None:
    async with asyncio.timeout(5):
        async with open_bus(f"nats://127.0.0.1:{free_port()}", "leaving"):
            # Whatever its attempt to connect is at.
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.Event().wait(), attempts_s)


async def test_a_loss_is_told_and_subscriptions_live_on_after_it(tmp_path: Path) -> None:
    server = NatsServer(tmp_path / "nats", free_port())
    server.start()
    seen: list[bytes] = []
    losses: list[bool] = []

    async def keep(message: Msg) -> None:
        seen.append(message.data)

    try:
        async with open_bus(server.url, "steady") as bus:
            await until(lambda: bus.is_connected)
            forget = bus.on_lost(lambda: losses.append(True))
            await bus.subscribe("things.*", keep)
            server.kill()
            await until(lambda: bool(losses))
            with pytest.raises(BusDown):
                await bus.publish("things.a", b"lost")
            server.start()
            await until(lambda: bus.is_connected)
            await bus.publish("things.a", b"after")
            await until(lambda: seen == [b"after"])
            forget()
    finally:
        server.kill()
