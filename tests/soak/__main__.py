"""`python -m tests.soak [minutes]`: the whole stack at a steady rate, and whether anything grows.

A turn of another kind every few seconds: straight on, with pauses, with a plan, stopped half way.
Exits with 1 when memory, open files or connections of a process grew after the warm-up, or when a
turn did not end as it should.
"""

import asyncio
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import quantiles

import psutil

from deploy.postgres import find_postgres
from deploy.running import RunningStack, stack, wait_until
from gateway.client import Client
from gateway.location import Location
from services.orchestrator.store.census import Census
from services.orchestrator.store.database import open_database
from tests.bench.first_answer import vectors_are_done
from tests.bench.machine import machine
from tests.soak.people import Researchers
from tests.soak.trend import Trend, trend

MINUTES = 30.0
TURN_EVERY_S = 3.0
SAMPLE_EVERY_S = 5.0
MIB = 2**20
# Memory of a process's own: the buffers that PostgreSQL's servers share are as large as they are,
# and fill with what is stored.
MEMORY, FILES, CONNECTIONS = "MiB of its own", "open files", "connections"
# A connection more or less in a pool; and PostgreSQL keeps files open that it came across once, up
# to a limit of its own.
SLACK = {MEMORY: 1.0, FILES: 3.0, CONNECTIONS: 3.0}
SLACK_OF_POSTGRES = {**SLACK, FILES: 60.0}
WRONG_ENDS = ("FAILED", "EXPIRED", "no end", "unasked")

Samples = dict[tuple[str, str], list[float]]


def sampled(running: RunningStack) -> Mapping[tuple[str, str], float]:
    """What each process uses now, its children included."""
    now: dict[tuple[str, str], float] = {}
    for name, pid in running.pids.items():
        first = psutil.Process(pid)
        family = [first, *(first.children(recursive=True) if name != "stack" else ())]
        now[name, MEMORY] = sum(one.memory_full_info().uss for one in family) / MIB
        now[name, FILES] = sum(one.num_fds() for one in family)
        now[name, CONNECTIONS] = sum(len(one.net_connections()) for one in family)
    return now


async def keep_sampling(running: RunningStack, until: asyncio.Event) -> Samples:
    """Sample at a steady rate."""
    samples: Samples = defaultdict(list)
    while not until.is_set():
        # A worker process that ends while it is looked at is left out of one sample.
        try:
            for key, value in (await asyncio.to_thread(sampled, running)).items():
                samples[key].append(value)
        except psutil.NoSuchProcess:
            pass
        await wait(until, SAMPLE_EVERY_S)
    return samples


async def keep_asking_lag(url: str, until: asyncio.Event) -> list[float]:
    """The age of the oldest unpublished event, every second."""
    lags = []
    async with open_database(url, pool_size=1) as database:
        while not until.is_set():
            lags.append((await Census(database).take()).outbox_lag_s)
            await wait(until, 1)
    return lags


async def wait(until: asyncio.Event, seconds: float) -> None:
    """Wait so long, or until it is over."""
    try:
        async with asyncio.timeout(seconds):
            await until.wait()
    except TimeoutError:
        return


async def soak(running: RunningStack, seconds: float) -> bool:
    """Whether all stayed as it was."""
    postgres = find_postgres(
        running.data / "postgres", (running.data / "postgres.password").read_text("ascii").strip()
    )
    over = asyncio.Event()
    begun = time.monotonic()
    location = Location(base_url=running.base_url, api_key=running.api_key)
    async with Client(location) as client, asyncio.TaskGroup() as group:
        people = Researchers(client)
        sampling = group.create_task(keep_sampling(running, over))
        lagging = group.create_task(keep_asking_lag(postgres.url(running.ports["postgres"]), over))
        turns: list[asyncio.Task[None]] = []
        while time.monotonic() - begun < seconds:
            turns.append(group.create_task(people.next_turn()))
            await asyncio.sleep(TURN_EVERY_S)
        await asyncio.gather(*turns)
        over.set()
    return report(people, sampling.result(), lagging.result())


def report(people: Researchers, samples: Samples, lags: list[float]) -> bool:
    """Print what was seen; whether it is as it should be."""
    trends = {key: trend(values) for key, values in samples.items()}
    print("\n| process | what | after the warm-up | at the end | growth |")
    print("| --- | --- | --- | --- | --- |")
    for (name, what), seen in sorted(trends.items()):
        print(f"| {name} | {what} | {seen.before:.1f} | {seen.after:.1f} | {seen.growth:+.1%} |")
    p99 = quantiles(lags, n=100)[98]
    print(
        f"\noutbox lag: p99 {p99 * 1000:.0f} ms, at most {max(lags) * 1000:.0f} ms, n {len(lags)}"
    )
    for end, times in sorted(people.ends.items()):
        print(f"{end}: {times}")
    grew = [
        f"{what} of {name}"
        for (name, what), seen in trends.items()
        if not is_flat(name, what, seen)
    ]
    lost = [f"{end} ({times})" for end, times in people.ends.items() if end.endswith(WRONG_ENDS)]
    print(f"\nGrew: {', '.join(grew) or 'nothing'}. Ended badly: {', '.join(lost) or 'none'}.")
    return not grew and not lost


def is_flat(name: str, what: str, seen: Trend) -> bool:
    """Whether a number stayed where it was."""
    return seen.is_flat((SLACK_OF_POSTGRES if name == "postgres" else SLACK)[what])


def main() -> int:
    """Run, and say whether it held."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else MINUTES
    print(f"{machine()}\n{minutes:g} minutes, a turn every {TURN_EVERY_S:g} s", flush=True)
    data = Path(tempfile.mkdtemp(prefix="zocrates-soak-"))
    try:
        with stack(data=data) as running:
            wait_until(lambda: vectors_are_done(running), 300)
            return 0 if asyncio.run(soak(running, minutes * 60)) else 1
    finally:
        shutil.rmtree(data, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
