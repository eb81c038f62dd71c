"""TLS in front of a Postgres that was built without it: what a client sees is the same."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

SSL_REQUEST = bytes.fromhex("0000000804d2162f")
YES = b"S"


@asynccontextmanager
async def tls_front(context: ssl.SSLContext, port: int) -> AsyncIterator[int]:
    """Answer the request for TLS, and hand on what comes inside to the port; gives the own port."""

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            if await reader.readexactly(len(SSL_REQUEST)) != SSL_REQUEST:
                # A client that goes on without TLS is not served.
                writer.close()
                return
            writer.write(YES)
            await writer.drain()
            await writer.start_tls(context)
            inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
            async with asyncio.TaskGroup() as group:
                group.create_task(_pump(reader, inner_writer))
                group.create_task(_pump(inner_reader, writer))

    server = await asyncio.start_server(forward, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()
