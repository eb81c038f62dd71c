"""Clients that follow runs, one each: `python -m tests.bench.stream_watchers <port> <key>`.

Standard input has a line for each run: path and last position. A process of its own on raw sockets,
so that it is not what is measured. It says `connected`, and at the end, as one line of JSON, what
it saw.
"""

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import quantiles

import psutil

# The longest line is an answer with its citations.
LONGEST_LINE = 4 * 2**20
# At once; more would overflow the gateway's queue of new connections.
CONNECTING = 50
CONNECT_S = 120


@dataclass
class Watched:
    """What all clients saw together."""

    delays_s: list[float] = field(default_factory=list)
    rows: int = 0
    deltas: int = 0
    out_of_place: list[str] = field(default_factory=list)
    ended: int = 0


class Watcher:
    """One client."""

    def __init__(self, path: str, position: int, watched: Watched) -> None:
        self._path = path
        self._position = position
        self._watched = watched
        self._reader: asyncio.StreamReader
        # Kept, as the connection ends with it.
        self._writer: asyncio.StreamWriter

    async def connect(self, port: int, key: str, room: asyncio.Semaphore) -> None:
        """Send the request and read the head of the reply."""
        async with room:
            self._reader, self._writer = await asyncio.open_connection(
                "127.0.0.1", port, limit=LONGEST_LINE
            )
            self._writer.write(
                f"GET {self._path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\n"
                f"Last-Event-ID: {self._position}\r\n\r\n".encode()
            )
            head = await self._reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head

    async def watch(self) -> None:
        """Read to the end of the run; a line that is no field is the length of a chunk."""
        name = position = ""
        while line := await self._reader.readline():
            if line.startswith(b"id: "):
                position = line[4:-1].decode()
            elif line.startswith(b"event: "):
                name = line[7:-1].decode()
            elif line.startswith(b"data: "):
                self._take(name, position, line)
                if name == "done":
                    self._watched.ended += 1
                    return

    def _take(self, name: str, position: str, data: bytes) -> None:
        if name == "answer_delta":
            self._watched.deltas += 1
        elif name != "done" and position.isdigit():
            start = data.index(b'"time":"') + 8
            told_at = datetime.fromisoformat(data[start : data.index(b'"', start)].decode())
            self._watched.delays_s.append(time.time() - told_at.timestamp())
            self._watched.rows += 1
            if int(position) != self._position + 1:
                self._watched.out_of_place.append(f"{self._path}: {position}")
            self._position = int(position)


def summary(watched: Watched) -> str:
    """One line."""
    cuts = quantiles(watched.delays_s, n=1000) if len(watched.delays_s) > 1 else [0.0] * 999
    return json.dumps(
        {
            "rows": watched.rows,
            "deltas": watched.deltas,
            "out_of_place": watched.out_of_place,
            "ended": watched.ended,
            "p50_ms": cuts[499] * 1000,
            "p99_ms": cuts[989] * 1000,
            "p999_ms": cuts[998] * 1000,
            "max_ms": max(watched.delays_s, default=0) * 1000,
            "cpu_s": sum(psutil.Process().cpu_times()[:2]),
        }
    )


async def main(port: int, key: str, lines: Sequence[str]) -> None:
    """Connect all, then read until every run is over."""
    watched, room = Watched(), asyncio.Semaphore(CONNECTING)
    watchers = [
        Watcher(path, int(position), watched) for path, position in (line.split() for line in lines)
    ]
    async with asyncio.timeout(CONNECT_S):
        await asyncio.gather(*(one.connect(port, key, room) for one in watchers))
    print("connected", flush=True)
    await asyncio.gather(*(one.watch() for one in watchers))
    print(summary(watched), flush=True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.stdin.read().splitlines()))
