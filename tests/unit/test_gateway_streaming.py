"""A stream's tasks end when they are told to."""

import asyncio
from contextlib import suppress

import pytest

from gateway import streaming


async def test_a_task_that_did_not_hear_that_it_is_cancelled_is_told_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streaming, "AGAIN_S", 0.01)
    never, begun = asyncio.Event(), asyncio.Event()

    async def deaf() -> None:
        begun.set()
        with suppress(asyncio.CancelledError):
            await never.wait()
        await never.wait()

    task = asyncio.create_task(deaf())
    await begun.wait()
    async with asyncio.timeout(10):
        await streaming.cancel(task)
    assert task.cancelled()
