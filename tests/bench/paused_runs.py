"""What waiting runs cost: `make bench-paused`.

Runs of the standard turn stop at their first checkpoint. Some are made by the orchestrator
(REAL, 1,000), the others are copies of their rows, up to RUNS (10,000) in all; REAL=10000 makes
all of them for real.
"""

import asyncio
import os
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import asyncpg
import httpx
import psutil

from services.chassis.channel import open_channel
from tests.bench import turn_database
from tests.bench.machine import machine, spread
from tests.bench.turn_processes import API_KEY, Stand, stand
from zocrates.orchestrator.v1 import chat_pb2 as pb
from zocrates.orchestrator.v1 import chat_pb2_grpc as rpc

RUNS = int(os.environ.get("RUNS") or 10_000)
REAL = min(int(os.environ.get("REAL") or 1_000), RUNS)
# Until the interpreter has the memory that it works with.
WARM_UP = 300
WIDTH = 32
PATIENCE_S = 1800
# Longer than the pauses of everything that looks at the database now and then, but retention.
QUIET_S = 5.0
ASKED = 200
PAGE = 20
T = TypeVar("T")
OWNER = (("x-zocrates-owner", "bench"),)

# Each copy is a session of its own with all rows of a real run; ids of the same form.
COPIES = """
    CREATE TEMP TABLE copy AS
    SELECT md5(n || 'session') AS session_id, md5(n || 'run') AS run_id,
           one.id AS from_run, one.session_id AS from_session, n * interval '1 ms' AS age
    FROM generate_series(1, {copies}) AS n JOIN (
        SELECT id, session_id, row_number() OVER () - 1 AS place FROM run
        WHERE state = 'AWAITING_INPUT') AS one
    ON one.place = n % (SELECT count(*) FROM run WHERE state = 'AWAITING_INPUT')
"""
COPIED = ("session", "run", "step", "evidence", "checkpoint", "plan_round", "event")
REPLACED = {
    "session": {"id": "copy.session_id", "update_time": "update_time - age"},
    "run": {"id": "copy.run_id", "session_id": "copy.session_id"},
}
COLUMNS = """
    SELECT column_name FROM information_schema.columns
    WHERE table_name = $1 AND table_schema = 'public' ORDER BY ordinal_position
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What runs cost at a moment."""

    memory: int
    bytes_by_table: dict[str, int]

    @property
    def stored(self) -> int:
        """Bytes on disk, indexes included."""
        return sum(self.bytes_by_table.values())


async def pause(
    standing: Stand,
    database: asyncpg.Connection,
    runs: int,
    options: pb.TurnOptions | None = None,
) -> float:
    """Start so many runs and wait until all wait; returns seconds."""
    begun = time.monotonic()
    waiting = await _waiting(database)
    numbers = iter(range(runs))
    async with open_channel(f"127.0.0.1:{standing.orchestrator_port}") as channel:
        stub = rpc.ChatServiceStub(channel)

        async def start() -> None:
            for number in numbers:
                prompt = f"Why do we sleep, question {number}?"
                request = pb.StartTurnRequest(prompt=prompt, options=options)
                await stub.StartTurn(request, timeout=60, metadata=OWNER)

        await asyncio.gather(*(start() for _ in range(WIDTH)))
    async with asyncio.timeout(PATIENCE_S):
        while await _waiting(database) < waiting + runs:  # noqa: ASYNC110  # another process
            await asyncio.sleep(0.2)
    return time.monotonic() - begun


async def copy(database: asyncpg.Connection, copies: int) -> None:
    """Copy waiting runs."""
    await database.execute(COPIES.format(copies=copies))
    for table in COPIED:
        columns = [row["column_name"] for row in await database.fetch(COLUMNS, table)]
        changed = REPLACED.get(table, {"run_id": "copy.run_id"})
        values = [changed.get(column, f"{table}.{column}") for column in columns]
        source = {"session": "session.id = copy.from_session", "run": "run.id = copy.from_run"}
        joined = source.get(table, f"{table}.run_id = copy.from_run")
        await database.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) "
            f"SELECT {', '.join(values)} FROM copy JOIN {table} ON {joined}"
        )


async def look(standing: Stand, database: asyncpg.Connection) -> Moment:
    """How much there is, after a while in which nothing was asked."""
    await asyncio.sleep(QUIET_S)
    sizes = {
        table: await database.fetchval("SELECT pg_total_relation_size($1::regclass)", table)
        for table in turn_database.TABLES
    }
    process = psutil.Process(standing.processes["orchestrator"].pid)
    return Moment(memory=process.memory_info().rss, bytes_by_table=sizes)


def tell(what: str, runs: int, before: Moment, after: Moment) -> None:
    """Print what so many more runs cost."""
    memory = (after.memory - before.memory) / 2**20
    size = (after.stored - before.stored) / runs / 1000
    listed = ", ".join(
        f"{table} {(after.bytes_by_table[table] - before.bytes_by_table[table]) / runs / 1000:.1f}"
        for table in turn_database.TABLES
    )
    print(f"{runs:,} more {what}: memory of the orchestrator {memory:+.2f} MiB")
    print(f"    stored a run: {size:.1f} kB ({listed})")


async def ask(standing: Stand, database: asyncpg.Connection) -> None:
    """Print how long it takes to list, read and resume any of them, over HTTP."""
    rows = await database.fetch("SELECT id, session_id FROM run WHERE state = 'AWAITING_INPUT'")
    chosen = random.Random(7).sample([(row["session_id"], row["id"]) for row in rows], ASKED)
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{standing.gateway_port}",
        headers={"X-API-Key": API_KEY},
        timeout=60,
        trust_env=False,
    ) as http:
        await _tell(standing, f"listing {PAGE} sessions, one page after the other", _pages(http))
        for what, path in (
            ("reading a session", "/sessions/{0}"),
            ("reading its checkpoint", "/sessions/{0}/runs/{1}/checkpoint"),
            ("listing sessions by a part of their title", "/sessions?query=question {2}?"),
        ):
            paths = [path.format(*names, number) for number, names in enumerate(chosen)]
            await _tell(standing, what, _each(paths, partial(_got, http)))
        resuming = _each(chosen, lambda names: _resumed(http, *names))
        await _tell(standing, "resuming, from the POST to its first event", resuming)


async def _tell(standing: Stand, what: str, asking: AsyncIterator[float]) -> None:
    before = standing.cpu_seconds()
    seconds = [one async for one in asking]
    after = standing.cpu_seconds()
    spent = ", ".join(
        f"{name} {(after[name] - before[name]) * 1000 / len(seconds):.1f}"
        for name in ("gateway", "orchestrator", "postgres", "client")
    )
    print(f"{what}: {spread(seconds, digits=1)}; CPU each in ms: {spent}")


async def _each(
    things: Sequence[T], ask_for: Callable[[T], Awaitable[float]]
) -> AsyncIterator[float]:
    for one in things:
        yield await ask_for(one)


async def _pages(http: httpx.AsyncClient) -> AsyncIterator[float]:
    cursor, pages = "", 0
    while cursor is not None and pages < ASKED:
        begun = time.perf_counter()
        reply = await http.get("/sessions", params={"limit": PAGE, "cursor": cursor})
        yield time.perf_counter() - begun
        cursor, pages = reply.raise_for_status().json()["next_cursor"], pages + 1


async def _got(http: httpx.AsyncClient, path: str) -> float:
    begun = time.perf_counter()
    (await http.get(path)).raise_for_status()
    return time.perf_counter() - begun


async def _resumed(http: httpx.AsyncClient, session_id: str, run_id: str) -> float:
    body = {
        "session_id": session_id,
        "invocation_id": run_id,
        "interrupt_id": "interrupt_ext_1",
        "response": {"action": "extend_budget"},
    }
    begun, seconds = time.perf_counter(), 0.0
    async with http.stream("POST", "/chat/resume", json=body) as reply:
        reply.raise_for_status()
        # To the end, so that the next one finds nobody at work.
        async for _ in reply.aiter_raw():
            seconds = seconds or time.perf_counter() - begun
    return seconds


async def _waiting(database: asyncpg.Connection) -> int:
    return int(await database.fetchval("SELECT count(*) FROM run WHERE state = 'AWAITING_INPUT'"))


async def main() -> None:
    """Measure everything."""
    print(machine())
    print(f"load average before: {os.getloadavg()[0]:.1f}")
    async with AsyncExitStack() as opened:
        standing = await opened.enter_async_context(stand(together=True))
        await standing.start()
        database = await asyncpg.connect(standing.dsn)
        opened.push_async_callback(database.close)
        await pause(standing, database, WARM_UP)
        before = await look(standing, database)
        seconds = await pause(standing, database, REAL)
        after = await look(standing, database)
        tell(f"runs that wait, made in {seconds:.0f} s", REAL, before, after)
        if (copies := RUNS - REAL - WARM_UP) > 0:
            await copy(database, copies)
            copied = await look(standing, database)
            tell("copies of them", copies, after, copied)
        await database.execute("ANALYZE")
        await ask(standing, database)
        asked = await look(standing, database)
        memory = (asked.memory - before.memory) / 2**20
        print(f"memory of the orchestrator after all of this: {memory:+.2f} MiB")
        print(f"load average after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    asyncio.run(main())
