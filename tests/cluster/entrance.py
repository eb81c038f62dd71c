"""The address of a service with one: each connection goes to one of its ready pods, in turn."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count


@asynccontextmanager
async def entrance(
    addresses: Mapping[str, Sequence[str]], name: str, port: int
) -> AsyncIterator[int]:
    """Forward connections on loopback; gives the port."""
    turns = count()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pods = addresses[name]
        with suppress(OSError):
            to_pod = await asyncio.open_connection(pods[next(turns) % len(pods)], port)
            await asyncio.gather(_pump(reader, to_pod[1]), _pump(to_pod[0], writer))
        writer.close()

    server = await asyncio.start_server(forward, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Hand on until one side ends."""
    try:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
    finally:
        writer.close()
