"""Event streams as HTTP replies: headers, pings, and an end when the client or the process goes."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from gateway.metrics import Metrics
from gateway.translate import PING

T = TypeVar("T")

HEADERS = {
    "Cache-Control": "no-cache",
    # Tells nginx and its kin to pass every frame on at once.
    "X-Accel-Buffering": "no",
}


class EventStream(StreamingResponse):
    """Sends frames as they come; ends at once when the process is asked to stop."""

    media_type = "text/event-stream"

    def __init__(
        self,
        frames: AsyncIterator[bytes],
        *,
        stop: asyncio.Event,
        ping_s: float,
        metrics: Metrics,
    ) -> None:
        self._frames = with_pings(frames, stop=stop, ping_s=ping_s)
        self._metrics = metrics
        super().__init__(self._frames, headers=HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream; whatever ends it, what the frames hold open is released."""
        self._metrics.open_streams.add(1)
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._metrics.open_streams.add(-1)
            await self._frames.aclose()


async def with_pings(
    frames: AsyncIterator[bytes], *, stop: asyncio.Event, ping_s: float
) -> AsyncGenerator[bytes, None]:
    """The frames with a comment after each `ping_s` of silence, until they end or `stop` is set."""
    stopping = asyncio.create_task(stop.wait())
    upcoming = asyncio.create_task(_next(frames))
    try:
        while not stop.is_set():
            await asyncio.wait(
                {upcoming, stopping}, timeout=ping_s, return_when=asyncio.FIRST_COMPLETED
            )
            if upcoming.done():
                frame = upcoming.result()
                if frame is None:
                    return
                yield frame
                upcoming = asyncio.create_task(_next(frames))
            elif not stopping.done():
                yield PING
    finally:
        await _cancel(stopping)
        await _cancel(upcoming)
        if isinstance(frames, AsyncGenerator):
            await frames.aclose()


async def _next(frames: AsyncIterator[bytes]) -> bytes | None:
    return await anext(frames, None)


async def _cancel(task: asyncio.Task[T]) -> None:
    task.cancel()
    # wait() neither raises what the task raised nor mistakes our own cancellation for the task's.
    await asyncio.wait({task})
    if not task.cancelled():
        task.exception()
