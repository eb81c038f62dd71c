"""Pieces of the answer on their way to whoever watches: coalesced, best effort, never stored."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Protocol

from services.chassis.bus import BusDown

PAUSE_S = 0.05
CHARACTERS = 200


class Publisher(Protocol):
    """Sends to whoever listens."""

    async def publish(self, subject: str, body: bytes) -> None:
        """Send, or raise BusDown."""


def delta_subject(session_id: str, run_id: str) -> str:
    """Where a run's deltas go."""
    return f"zocrates.deltas.{session_id}.{run_id}"


class Deltas:
    """One attempt's text: collected for a moment or a few words, then sent with its offset."""

    def __init__(
        self,
        publisher: Publisher,
        *,
        session_id: str,
        run_id: str,
        attempt: int,
        after_sequence: Callable[[], int],
    ) -> None:
        self._publisher = publisher
        self._session_id, self._run_id = session_id, run_id
        self._attempt = attempt
        self._after_sequence = after_sequence
        self._offset = 0
        self._pending = ""
        self._has_text = asyncio.Event()

    async def add(self, text: str) -> None:
        """Take the next piece."""
        self._pending += text
        if len(self._pending) >= CHARACTERS:
            await self.flush()
        elif self._pending:
            self._has_text.set()

    async def flush(self) -> None:
        """Send what was collected; what cannot be sent is lost, and its offset shows the gap."""
        text, self._pending = self._pending, ""
        self._has_text.clear()
        if not text:
            return
        offset, self._offset = self._offset, self._offset + len(text)
        body = json.dumps(
            {
                "session_id": self._session_id,
                "run_id": self._run_id,
                "after_sequence": str(self._after_sequence()),
                "attempt": self._attempt,
                "offset": offset,
                "text": text,
            },
            ensure_ascii=False,
        )
        try:
            await self._publisher.publish(
                delta_subject(self._session_id, self._run_id), body.encode()
            )
        except BusDown:
            return  # the final answer is a row and replaces the streamed text

    async def flush_in_time(self) -> None:
        """Send small pieces soon after they came, for ever."""
        while True:
            await self._has_text.wait()
            await asyncio.sleep(PAUSE_S)
            await self.flush()


@asynccontextmanager
async def flowing(deltas: Deltas) -> AsyncIterator[Deltas]:
    """Deltas that flow while the block runs, and are all sent at its end."""
    flushing = asyncio.create_task(deltas.flush_in_time())
    try:
        yield deltas
        await deltas.flush()
    finally:
        flushing.cancel()
        with suppress(asyncio.CancelledError):
            await flushing
