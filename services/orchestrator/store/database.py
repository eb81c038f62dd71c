"""The connections, and the one place where an outage of the database gets its name.

Statements are SQLAlchemy's texts with named parameters, but the driver runs them itself: each
is prepared once a connection, and what SQLAlchemy does around an execution cost more CPU time than
everything else that a step needs.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import asyncpg
import orjson
from sqlalchemy import TextClause
from sqlalchemy.engine import make_url

from services.orchestrator.errors import DatabaseDown

CONNECT_S = 5
STATEMENT_S = 10
# Connection lost, shutdown, start-up: all of this passes, and so do too many clients and a
# deadlock.
GOODBYE = ("08", "57P")
PASSING = ("53", "40")
ESCAPED_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
REPLACEMENT = "\ufffd".encode()
# `:name`, but neither a cast (`::text`) nor a part of a quoted time ("HH24:MI").
NAMED = re.compile(r"(?<![:\w]):([a-z_]+)\b")

Parameters = Mapping[str, Any]


class Row(asyncpg.Record):  # type: ignore[misc]  # the driver has no types
    """A row whose columns are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


Rows = Sequence[Row]


class Result(list[Row]):
    """What a statement returned."""

    def all(self) -> "Result":
        """Every row."""
        return self

    def first(self) -> Row | None:
        """The first row, None when there is none."""
        return self[0] if self else None

    def one(self) -> Row:
        """The only row."""
        (row,) = self
        return row


class Transaction:
    """Statements that take effect together."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def execute(self, statement: TextClause, parameters: Parameters | None = None) -> Result:
        """Run one statement of the transaction and return its rows."""
        return await _run(self._connection, statement, parameters or {})


class Database:
    """Runs statements; an outage is DatabaseDown, anything else a bug and left as it is."""

    def __init__(self, url: str, *, pool_size: int) -> None:
        self._url = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        self._free = asyncio.Semaphore(pool_size)
        # The connection that was used last is used first.
        self._idle: list[Any] = []

    async def fetch(self, statement: TextClause, parameters: Parameters | None = None) -> Result:
        """Run one statement as its own transaction and return its rows."""
        connection = await self._take()
        try:
            return await _run(connection, statement, parameters or {})
        except BaseException as error:
            _name_outage(error, connection)
            raise
        finally:
            self._give_back(connection)

    @asynccontextmanager
    async def transaction(self, *, snapshot: bool = False) -> AsyncIterator[Transaction]:
        """Several statements that take effect together; `snapshot` lets them read one moment."""
        connection = await self._take()
        try:
            async with connection.transaction(isolation="repeatable_read" if snapshot else None):
                yield Transaction(connection)
        except BaseException as error:
            _name_outage(error, connection)
            raise
        finally:
            self._give_back(connection)

    async def close(self) -> None:
        """End the idle connections."""
        while self._idle:
            await self._idle.pop().close(timeout=CONNECT_S)

    async def _take(self) -> Any:
        if self._free.locked():
            try:
                async with asyncio.timeout(STATEMENT_S):
                    await self._free.acquire()
            except TimeoutError as error:
                raise DatabaseDown("no connection became free in time") from error
        else:
            await self._free.acquire()
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        try:
            return await _connect(self._url)
        except BaseException as error:
            self._free.release()
            _name_outage(error, None)
            raise

    def _give_back(self, connection: Any) -> None:
        self._free.release()
        if not connection.is_closed():
            self._idle.append(connection)


async def _connect(url: str) -> Any:
    connection = await asyncpg.connect(
        url,
        timeout=CONNECT_S,
        command_timeout=STATEMENT_S,
        record_class=Row,
        server_settings={"application_name": "zocrates-orchestrator", "jit": "off"},
    )
    for kind in ("json", "jsonb"):
        await connection.set_type_codec(
            kind, schema="pg_catalog", encoder=str, decoder=orjson.loads
        )
    return connection


async def _run(connection: Any, statement: TextClause, parameters: Parameters) -> Result:
    sql, names = _prepared(statement)
    return Result(await connection.fetch(sql, *[parameters[name] for name in names]))


@lru_cache(maxsize=512)
def _prepared(statement: TextClause) -> tuple[str, tuple[str, ...]]:
    """The statement with the driver's numbered parameters, and their names in that order."""
    names: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        return names.setdefault(match.group(1), f"${len(names) + 1}")

    return NAMED.sub(number, statement.text), tuple(names)


def _name_outage(error: BaseException, connection: Any) -> None:
    """Raise DatabaseDown for a failure that will pass by itself.

    A connection that may be lost, or on which a statement was left before its reply came, is not
    used again.
    """
    state = getattr(error, "sqlstate", None) or ""
    # The driver reports the use of a connection that just closed as an error of its interface,
    # and of one on which the server said goodbye as an error of its own.
    lost = (
        isinstance(error, OSError | TimeoutError | asyncpg.InternalClientError)
        or type(error) is asyncpg.InterfaceError
        or state.startswith(GOODBYE)
    )
    is_left = not isinstance(error, Exception)
    if connection is not None and (lost or is_left or connection.is_in_transaction()):
        connection.terminate()
    if lost or state.startswith(PASSING):
        raise DatabaseDown(str(error) or repr(error)) from error


@asynccontextmanager
async def open_database(url: str, *, pool_size: int) -> AsyncIterator[Database]:
    """Connections that are made on first use."""
    database = Database(url, pool_size=pool_size)
    try:
        yield database
    finally:
        await database.close()


def as_json(value: object) -> str:
    """JSON that Postgres takes: NUL and lone surrogates, which it refuses, become U+FFFD."""
    return json_bytes(value).decode()


def json_bytes(value: object) -> bytes:
    """The same in UTF-8; dataclasses become objects."""
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError:
        # It refuses lone surrogates.
        plain = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=asdict)
        written = plain.encode("utf-8", "replace")
    if b"\\u0000" in written:
        written = ESCAPED_NUL.sub(lambda match: match.group(1) + REPLACEMENT, written)
    return written
