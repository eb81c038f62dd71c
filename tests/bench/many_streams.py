"""Many clients on one gateway: `make bench-sse`.

CLIENTS (1,000) runs wait at their first checkpoint, and as many clients follow them, one each. Then
RATE (10) decisions a second let one run after the other be written to its end.
"""

import asyncio
import json
import os
import resource
import sys
import time
from contextlib import AsyncExitStack
from typing import Any

import asyncpg
import psutil

from services.chassis.channel import open_channel
from tests.bench.machine import machine
from tests.bench.paused_runs import OWNER, QUIET_S, pause
from tests.bench.turn_processes import API_KEY, Stand, stand
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2 as pb
from zocrates.orchestrator.v1 import chat_pb2_grpc as rpc

CLIENTS = int(os.environ.get("CLIENTS") or 1_000)
RATE = float(os.environ.get("RATE") or 10)
# Both ends of each stream, and room for everything else.
FILES = 2 * CLIENTS + 1_000
CONNECT_S = 180
PATIENCE_S = 300


def allow_files() -> None:
    """Raise the limit of open files for this process and all that it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < FILES:
        raise SystemExit(f"{FILES} open files are needed and only {hard} allowed: ulimit -n")
    if soft < FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))


async def decide(standing: Stand, runs: list[asyncpg.Record]) -> None:
    """Have the runs written, so many a second."""
    async with open_channel(f"127.0.0.1:{standing.orchestrator_port}") as channel:
        stub = rpc.ChatServiceStub(channel)
        begun = time.monotonic()
        for place, run in enumerate(runs):
            await asyncio.sleep(max(0.0, begun + place / RATE - time.monotonic()))
            request = pb.DecideRequest(
                session_id=run["session_id"],
                run_id=run["id"],
                interrupt_id="interrupt_ext_1",
                action=event_pb2.DECISION_ACTION_SYNTHESIZE,
            )
            await stub.Decide(request, timeout=60, metadata=OWNER)


async def watchers(standing: Stand, runs: list[asyncpg.Record]) -> asyncio.subprocess.Process:
    """The clients, once all are connected."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.bench.stream_watchers", str(standing.gateway_port), API_KEY),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for run in runs:
        path = f"/sessions/{run['session_id']}/runs/{run['id']}/events"
        process.stdin.write(f"{path} {run['last_sequence']}\n".encode())
    process.stdin.close()
    said = await asyncio.wait_for(process.stdout.readline(), CONNECT_S)
    assert said == b"connected\n", said
    return process


def memory_of(process: asyncio.subprocess.Process) -> int:
    """Resident bytes."""
    return int(psutil.Process(process.pid).memory_info().rss)


def tell(seen: dict[str, Any], expected: int, seconds: float) -> bool:
    """Print what the clients saw; whether it was everything, once."""
    is_whole = seen["rows"] == expected and not seen["out_of_place"]
    print(
        f"rows: {expected:,} stored, {seen['rows']:,} seen, {len(seen['out_of_place'])} out of "
        f"place; {seen['deltas']:,} pieces of text; {seen['ended']:,} streams ended; "
        f"{seconds:.0f} s"
    )
    print(
        f"from a row's writing to its client: p50 {seen['p50_ms']:.0f} ms, p99 "
        f"{seen['p99_ms']:.0f} ms, p99.9 {seen['p999_ms']:.0f} ms, at most {seen['max_ms']:.0f} ms"
    )
    return is_whole


async def main() -> int:
    """Measure; 1 when a row was lost or doubled."""
    allow_files()
    print(machine())
    print(f"load average before: {os.getloadavg()[0]:.1f}")
    async with AsyncExitStack() as opened:
        standing = await opened.enter_async_context(stand(together=True))
        await standing.start()
        database = await asyncpg.connect(standing.dsn)
        opened.push_async_callback(database.close)
        await pause(standing, database, CLIENTS)
        runs = await database.fetch("SELECT id, session_id, last_sequence FROM run")
        gateway = standing.processes["gateway"]
        before = memory_of(gateway)
        clients = await watchers(standing, runs)
        await asyncio.sleep(QUIET_S)
        idle = memory_of(gateway)
        cpu, begun = standing.cpu_seconds(), time.monotonic()
        await decide(standing, runs)
        said, _ = await asyncio.wait_for(clients.communicate(), PATIENCE_S)
        seconds, spent = time.monotonic() - begun, standing.cpu_seconds()
        first = sum(run["last_sequence"] for run in runs)
        stored = await database.fetchval("SELECT count(*) FROM event")
        seen = json.loads(said)
        is_whole = tell(seen, stored - first, seconds)
        each = (idle - before) / len(runs) / 1024
        print(
            f"memory of the gateway: {each:.1f} KiB a waiting client, "
            f"{(memory_of(gateway) - idle) / 2**20:+.1f} MiB after all of this"
        )
        shares = ", ".join(f"{name} {spent[name] - cpu[name]:.1f}" for name in spent)
        print(f"CPU seconds: {shares}, watchers {seen['cpu_s']:.1f}")
        print(f"load average after: {os.getloadavg()[0]:.1f}")
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
