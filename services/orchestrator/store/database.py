"""The connection pool, and the one place where an outage of the database gets its name."""

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from sqlalchemy import Executable, Row
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from services.orchestrator.errors import DatabaseDown

CONNECT_S = 5
STATEMENT_S = 10
# Connection lost, shutdown, start-up, too many clients, lost a deadlock: all of this passes.
PASSING = ("08", "57P", "53", "40")
ESCAPED_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")

Parameters = Mapping[str, Any]
Rows = Sequence[Row[Any]]


class Database:
    """Runs statements; an outage is DatabaseDown, anything else a bug and left as it is."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        # One statement is its own transaction: no round trips for BEGIN and COMMIT.
        self._single = engine.execution_options(isolation_level="AUTOCOMMIT")

    async def fetch(self, statement: Executable, parameters: Parameters | None = None) -> Rows:
        """Run one statement as its own transaction and return its rows."""
        with outages_named():
            async with self._single.connect() as connection:
                result = await connection.execute(statement, parameters or {})
                return result.all() if result.returns_rows else ()

    @asynccontextmanager
    async def transaction(self, *, snapshot: bool = False) -> AsyncIterator[AsyncConnection]:
        """Several statements that take effect together; `snapshot` lets them read one moment."""
        with outages_named():
            async with self._engine.connect() as connection:
                if snapshot:
                    await connection.execution_options(isolation_level="REPEATABLE READ")
                async with connection.begin():
                    yield connection


@contextmanager
def outages_named() -> Iterator[None]:
    """Raise DatabaseDown for every failure that will pass by itself."""
    try:
        yield
    except DBAPIError as error:
        state = getattr(error.orig, "sqlstate", None) or ""
        cause = error.orig.__cause__ if error.orig is not None else None
        lost = error.connection_invalidated or isinstance(cause, OSError | TimeoutError)
        if lost or state.startswith(PASSING) or _closed(cause):
            raise DatabaseDown(str(error.orig)) from error
        raise
    except (OSError, TimeoutError, PoolTimeout) as error:
        raise DatabaseDown(repr(error)) from error


def _closed(cause: BaseException | None) -> bool:
    # asyncpg reports a use of a connection that just closed as an error of the interface.
    return type(cause).__name__ in ("InterfaceError", "ConnectionDoesNotExistError")


@asynccontextmanager
async def open_database(url: str, *, pool_size: int) -> AsyncIterator[Database]:
    """A pool that connects on first use."""
    engine = create_async_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=STATEMENT_S,
        connect_args={
            "timeout": CONNECT_S,
            "command_timeout": STATEMENT_S,
            "server_settings": {"application_name": "zocrates-orchestrator", "jit": "off"},
        },
    )
    try:
        yield Database(engine)
    finally:
        await engine.dispose()


def as_json(value: object) -> str:
    """JSON that Postgres takes: NUL and lone surrogates, which it refuses, become U+FFFD."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if "\\u0000" in written:
        written = ESCAPED_NUL.sub(lambda match: match.group(1) + "\ufffd", written)
    return written.encode("utf-8", "replace").decode()
