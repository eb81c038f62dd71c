"""The standard turn with two pauses, from end to end: `make bench-orchestrator`.

A pass of 6 instant tool steps of 8 kB, a checkpoint, a decision, a pass of 4, a checkpoint, a
decision, rerank, an answer of 600 words in 60 pieces. Gateway, orchestrator, scripted stages and
this client are processes of their own; gRPC, Postgres (fsync on), NATS and SSE are real.
"""

import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from statistics import median

from services.chassis.server import new_event_loop
from tests.bench import turn_database, turn_profile
from tests.bench.machine import machine, spread
from tests.bench.turn_client import Timed, connected
from tests.bench.turn_processes import API_KEY, Stand, stand
from tests.bench.turn_script import PASSES

WIDTH = 32
WARM_UP = 32
# How many turns are measured under load; fewer are enough to compare counts and CPU time.
TURNS = int(os.environ.get("TURNS", "320"))
ALONE = TURNS // 8
SAMPLED = TURNS // 2
POOL_SIZE = 10
SHARES = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Many turns and what they cost."""

    turns: Sequence[Timed]
    seconds: float
    cpu_ms: Mapping[str, float]
    """A turn's share, by process."""

    @property
    def rate(self) -> float:
        """Turns a second."""
        return len(self.turns) / self.seconds


async def load(standing: Stand, turns: int, width: int, name: str) -> Load:
    """So many turns, so many at a time."""
    questions = iter([f"Why do we sleep, {name} {number}?" for number in range(turns)])
    done: list[Timed] = []

    async def work() -> None:
        async with connected(standing.gateway_port, API_KEY) as client:
            done.extend([await client.turn(question) for question in questions])

    before = standing.cpu_seconds()
    begun = time.monotonic()
    await asyncio.gather(*(work() for _ in range(width)))
    seconds = time.monotonic() - begun
    after = standing.cpu_seconds()
    return Load(
        turns=done,
        seconds=seconds,
        cpu_ms={one: (after[one] - before[one]) * 1000 / turns for one in after},
    )


def tell_load(name: str, one: Load) -> None:
    """Print how fast turns were and who worked for them."""
    print(f"{name}: {one.rate:.1f} turns/s, a turn {spread([turn.seconds for turn in one.turns])}")
    shares = ", ".join(f"{who} {ms:.1f}" for who, ms in one.cpu_ms.items())
    print(f"    CPU a turn: {shares}, all {sum(one.cpu_ms.values()):.1f} ms")


def tell_resumes(loads: Mapping[str, Load], begun: Mapping[str, float]) -> None:
    """Print how long it took from a decision's POST to the stage that it sets off.

    Both are read from the machine's monotonic clock: when the client has the request ready to be
    sent, and when the scripted stage's handler has the request of the next step.
    """
    for name, one in loads.items():
        seconds = [
            begun[f"{turn.question} {number}"] - at
            for turn in one.turns
            for number, at in enumerate(turn.resumed_at, start=1)
        ]
        print(f"decision to the next step's start, {name}: {spread(seconds, digits=1)}")


def tell_database(
    name: str, before: turn_database.Counted, after: turn_database.Counted, turns: int
) -> None:
    """Print transactions by reason and growth by table."""
    commits = (after.commits - before.commits) / turns
    steps = (after.steps - before.steps) / turns
    print(f"{name}: {commits:.1f} transactions a turn for {steps:.0f} recorded steps")
    made = Counter(after.by_reason)
    made.subtract(before.by_reason)
    for reason, calls in made.most_common():
        if calls / turns >= 0.05:
            print(f"    {calls / turns:5.1f}  {reason}")
    grown = {
        table: (after.bytes_by_table[table] - before.bytes_by_table[table]) / turns / 1000
        for table in turn_database.TABLES
    }
    listed = ", ".join(f"{table} {size:.1f}" for table, size in grown.items())
    print(f"    stored a turn: {sum(grown.values()):.1f} kB ({listed})")


def tell_profile(samples: Mapping[tuple[str, str], int], name: str) -> None:
    """Print the packages and the own functions that most samples fell on."""
    total = sum(samples.values())

    def shares(of: Callable[[tuple[str, str]], str]) -> Counter[str]:
        found: Counter[str] = Counter()
        for key, count in samples.items():
            found[of(key)] += count
        return found

    print(f"CPU time of the {name} ({total} samples)")
    for title, of in (("in", lambda key: key[0]), ("for", lambda key: key[1])):
        for what, count in shares(of).most_common(SHARES):
            print(f"    {count / total:6.1%}  {title} {what}")


async def measure(*, together: bool) -> None:
    """Everything, with one tool call a turn of the agent, or with the calls of a pass at once."""
    print(f"\n{'the calls of a pass at once' if together else 'one tool call a turn'}:")
    async with AsyncExitStack() as opened:
        standing = await opened.enter_async_context(stand(together=together))
        await standing.start()
        await load(standing, WARM_UP, WIDTH, "warming up")
        counted = [await turn_database.count(standing.dsn)]
        alone = await load(standing, ALONE, 1, "alone")
        counted.append(await turn_database.count(standing.dsn))
        many = await load(standing, TURNS, WIDTH, "together")
        counted.append(await turn_database.count(standing.dsn))
        await standing.stop()
        tell_load(f"{WIDTH} at a time", many)
        tell_load("alone", alone)
        print(
            f"    {median(turn.frames for turn in many.turns):.0f} frames a turn, "
            f"{median(turn.deltas for turn in many.turns):.0f} of them pieces of the answer"
        )
        tell_database("alone", counted[0], counted[1], ALONE)
        tell_database(f"{WIDTH} at a time", counted[1], counted[2], TURNS)
        # What a durable engine cannot do without: each tool step, each stage, pause and decision.
        writes = sum(PASSES) + 8
        plain = await turn_database.plain_writes(
            standing.dsn, writes=writes, turns=TURNS, width=WIDTH, pool_size=POOL_SIZE
        )
        print(
            f"plain asyncpg, {writes} durable writes a turn: {plain:.1f} turns/s; "
            f"ours is {many.rate / plain:.2f} of it"
        )
        await standing.start(sampled=True)
        await load(standing, WARM_UP, WIDTH, "warming up again")
        sampled = await load(standing, SAMPLED, WIDTH, "sampled")
        await standing.stop()
        tell_load("while sampled", sampled)
        for name in ("orchestrator", "gateway"):
            tell_profile(turn_profile.read(standing.profile_of(name)), name)
        tell_resumes({"alone": alone, f"{WIDTH} at a time": many}, await standing.begun())


async def main() -> None:
    """Measure both shapes of a pass, or those named on the command line."""
    print(machine())
    print(f"load average before: {os.getloadavg()[0]:.1f}")
    for shape in sys.argv[1:] or ("single", "together"):
        await measure(together=shape == "together")


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main())
