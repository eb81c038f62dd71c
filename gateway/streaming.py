"""Event streams as HTTP replies: headers, pings, and an end when the client or the process goes."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gateway.metrics import Metrics
from gateway.translate import PING, BrokenOff

HEADERS = {
    "Cache-Control": "no-cache",
    # Tells nginx and its kin to pass every frame on at once.
    "X-Accel-Buffering": "no",
}

Frames = AsyncGenerator[bytes, None]
# Frames of a client that reads slowly; what comes after them waits with the run's other messages.
MOST_HELD = 64
# A cleanup may take so long; a task that goes on for longer did not hear that it was cancelled.
AGAIN_S = 5.0


class EventStream(Response):
    """Sends frames as they come; ends at once when the client goes or `stop` is set.

    Not the framework's streaming reply: that one cancels through a scope which also cancels every
    clean-up that has to wait, so that what a stream holds open would stay open.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        frames: Frames,
        *,
        stop: asyncio.Event,
        ping_s: float,
        metrics: Metrics,
        breaks_off: bool = False,
    ) -> None:
        """With `breaks_off` a stream that is cut short ends its connection as a fault does."""
        self._frames = frames
        self._breaks_off = breaks_off
        self._stop = stop
        self._ping_s = ping_s
        self._metrics = metrics
        super().__init__(headers=HEADERS)
        # The length of a stream is not known.
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream; whatever ends it, what the frames hold open is released."""
        self._metrics.open_streams.add(1)
        sending = asyncio.create_task(self._send_all(send))
        leaving = asyncio.create_task(_disconnected(receive))
        stopping = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait({sending, leaving, stopping}, return_when=asyncio.FIRST_COMPLETED)
            is_whole = sending.done()
        finally:
            await cancel(leaving, stopping, sending)
            self._metrics.open_streams.add(-1)
        if is_whole and self._is_broken_off(sending):
            return
        if self._breaks_off and not is_whole:
            return
        if not leaving.done() or leaving.cancelled():
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _is_broken_off(self, sending: "asyncio.Task[None]") -> bool:
        """Whether the frames could not go on; raises whatever else ended them."""
        try:
            sending.result()
        except BrokenOff:
            return True
        return False

    async def _send_all(self, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        async with aclosing(with_pings(self._frames, ping_s=self._ping_s)) as chunks:
            async for chunk in chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})


async def with_pings(frames: Frames, *, ping_s: float) -> Frames:
    """The frames, in one piece what is there at once, with a comment after so much silence."""
    held: list[bytes] = []
    ready, room = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    spoke_at = loop.time()
    pinging: asyncio.TimerHandle

    async def fill() -> None:
        async with aclosing(frames):
            async for frame in frames:
                held.append(frame)
                ready.set()
                if len(held) >= MOST_HELD:
                    room.clear()
                    await room.wait()

    def ping() -> None:
        # One timer for the whole stream: a deadline for each frame costs more than the frame.
        nonlocal pinging
        left = spoke_at + ping_s - loop.time()
        if left <= 0 and not held:
            held.append(PING)
            ready.set()
        pinging = loop.call_later(left if left > 0 else ping_s, ping)

    pinging = loop.call_later(ping_s, ping)
    filling = asyncio.create_task(fill())
    filling.add_done_callback(lambda _: ready.set())
    try:
        while held or not filling.done():
            await ready.wait()
            ready.clear()
            if held:
                piece = b"".join(held)
                held.clear()
                room.set()
                yield piece
                spoke_at = loop.time()
        filling.result()
    finally:
        pinging.cancel()
        await cancel(filling)


async def cancel(*tasks: asyncio.Task[Any]) -> None:
    """Cancel the tasks and wait until each has ended."""
    # A task's result may be anything, hence Any.
    waiting = set(tasks)
    while waiting:
        for task in waiting:
            task.cancel()
        # wait() neither raises what a task raised nor mistakes our own cancellation for the task's.
        # And once may be too little: in Python 3.11 wait_for(), which libraries use, swallows a
        # cancellation that comes at the moment at which what it waits for is there.
        _, waiting = await asyncio.wait(waiting, timeout=AGAIN_S)
    for task in tasks:
        if not task.cancelled():
            # Marks the error as seen; who needs it asks the task again.
            task.exception()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
