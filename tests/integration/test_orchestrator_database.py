"""What the database or the way to it does, and what the pool makes of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from services.orchestrator.errors import DatabaseDown
from services.orchestrator.store.database import Database, open_database

ONE = text("SELECT 1 AS one")
# What a backend says when another one crashed: ErrorResponse with severity, code and message.
FIELDS = b"SFATAL\0VFATAL\0C57P02\0Mterminating connection because of crash\0\0"
CRASH = b"E" + (len(FIELDS) + 4).to_bytes(4) + FIELDS


@dataclass
class Way:
    """The way between pool and server, on which a test may meddle."""

    host: str
    port: int
    ends: list[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = field(default_factory=list)
    is_used: asyncio.Event = field(default_factory=asyncio.Event)
    is_silent: bool = False
    left: int = 0
    is_left: asyncio.Event = field(default_factory=asyncio.Event)

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hand everything on in both directions, until the pool lets go of its end."""
        from_server, to_server = await asyncio.open_connection(self.host, self.port)
        self.ends.append((writer, to_server))
        self.is_used.set()
        back = asyncio.create_task(self._carry_back(from_server, writer))
        await _copy(reader, to_server)
        to_server.close()
        await back
        writer.close()
        self.left += 1
        self.is_left.set()

    async def _carry_back(
        self, from_server: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await _copy(from_server, writer)
        if not self.is_silent:
            writer.close()

    async def is_free(self) -> None:
        """Wait until no connection is left."""
        while self.left < len(self.ends):
            self.is_left.clear()
            await self.is_left.wait()

    async def say_goodbye(self) -> None:
        """The server ends; its last words arrive, and the end of the connection does not yet."""
        to_pool, to_server = self.ends[-1]
        self.is_silent = True
        to_server.close()
        to_pool.write(CRASH)
        await to_pool.drain()
        # The reader of the pool has its turn, too.
        for _ in range(10):
            await asyncio.sleep(0)
        self.is_silent = False


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(65_536):
            writer.write(piece)


@asynccontextmanager
async def through(way: Way, url: str) -> AsyncIterator[Database]:
    server = await asyncio.start_server(way.carry, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    shifted = make_url(url).set(host="127.0.0.1", port=port)
    async with (
        server,
        open_database(shifted.render_as_string(hide_password=False), pool_size=1) as database,
    ):
        yield database
    await way.is_free()


@pytest.fixture
def way(database_url: str) -> Way:
    url = make_url(database_url)
    return Way(str(url.host), int(url.port or 0))


async def test_a_goodbye_of_the_server_on_an_idle_connection_is_an_outage_that_passes(
    way: Way, database_url: str
) -> None:
    async with through(way, database_url) as database:
        await database.fetch(ONE)
        await way.say_goodbye()
        with pytest.raises(DatabaseDown):
            await database.fetch(ONE)
        assert (await database.fetch(ONE)).one().one == 1
        assert len(way.ends) == 2


async def test_a_call_that_is_cancelled_leaves_no_connection_that_others_would_use(
    way: Way, database_url: str
) -> None:
    async with through(way, database_url) as database:
        calling = asyncio.create_task(database.fetch(text("SELECT pg_sleep(60)")))
        await way.is_used.wait()
        calling.cancel()
        await asyncio.wait([calling])
        assert (await database.fetch(ONE)).one().one == 1
