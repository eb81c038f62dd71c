"""A client of the gateway that costs next to nothing: raw sockets, bytes looked at and dropped."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

PIECE = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A turn: how long it took, and when its decisions were sent."""

    question: str
    seconds: float
    resumed_at: tuple[float, ...]
    frames: int
    deltas: int


@dataclass(slots=True)
class Told:
    """What a stream has told so far."""

    text: bytearray = field(default_factory=bytearray)

    def value(self, name: str) -> str:
        """The first text value of a field."""
        start = self.text.index(f'"{name}":"'.encode()) + len(name) + 4
        return self.text[start : self.text.index(b'"', start)].decode()


class Client:
    """One connection that asks and decides, as a browser would."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, api_key: str
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._api_key = api_key

    async def turn(self, question: str) -> Timed:
        """One standard turn, from the request to the end of its last stream."""
        begun = time.monotonic()
        told = await self._told("/chat", {"prompt": question})
        frames, deltas = told.text.count(b"\nid: "), 0
        session_id, run_id = told.value("session_id"), told.value("invocation_id")
        resumed_at = []
        for number, action in ((1, "extend_budget"), (2, "synthesize")):
            assert b"event: request_input" in told.text, bytes(told.text)
            resumed_at.append(time.monotonic())
            told = await self._told(
                "/chat/resume",
                {
                    "session_id": session_id,
                    "invocation_id": run_id,
                    "interrupt_id": f"interrupt_ext_{number}",
                    "response": {"action": action},
                },
            )
            frames += told.text.count(b"\nid: ")
            deltas += told.text.count(b"event: answer_delta")
        assert b"event: answer\n" in told.text, bytes(told.text)
        return Timed(
            question=question,
            seconds=time.monotonic() - begun,
            resumed_at=tuple(resumed_at),
            frames=frames,
            deltas=deltas,
        )

    async def _told(self, path: str, body: object) -> Told:
        """Send a request and read its stream to the end."""
        content = json.dumps(body).encode()
        self._writer.write(
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {self._api_key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n".encode()
            + content
        )
        told = Told()
        # The last chunk of a chunked reply has no content.
        while not told.text.endswith(b"\r\n0\r\n\r\n"):
            piece = await self._reader.read(PIECE)
            assert piece, f"the gateway closed the connection after {bytes(told.text)!r}"
            told.text += piece
        assert told.text.startswith(b"HTTP/1.1 200"), bytes(told.text)
        return told


@asynccontextmanager
async def connected(port: int, api_key: str) -> AsyncIterator[Client]:
    """A client with an open connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=PIECE)
    try:
        yield Client(reader, writer, api_key)
    finally:
        writer.close()
