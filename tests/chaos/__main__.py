"""`python -m tests.chaos [runs] [seed]`: many runs while everything dies again and again.

The whole system is real but for the three stages, which are scripted. Exits with 1 and what is
needed to see it again when a decision, an answer or an event is lost, doubled or wrong.
"""

import asyncio
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import httpx

from tests.chaos import script
from tests.chaos.havoc import Havoc
from tests.chaos.researcher import Researcher, Seen
from tests.chaos.system import API_KEY, System, running
from tests.chaos.verdict import Verdict, judge

RUNS = 200
# Researchers at work at a time.
WIDTH = 20
# So long without the end of any run is a run that hangs.
STALLED_S = 120.0
CONNECT_S = 5.0
# The gateway writes a comment every 15 seconds.
SILENCE_S = 45.0
SHOWN = 20


class Crowd:
    """The researchers, so many at a time, and when the last one was done."""

    def __init__(
        self, http: httpx.AsyncClient, addresses: Sequence[str], seen: list[Seen], seed: int
    ) -> None:
        self._http = http
        self._addresses = addresses
        self._left = iter(seen)
        self._seed = seed
        self.done = 0
        self.last_done = time.monotonic()

    async def work(self) -> None:
        """See all plans through; raises TimeoutError when none ends for a long time."""
        working = [asyncio.create_task(self._one_by_one()) for _ in range(WIDTH)]
        try:
            while True:
                done, rest = await asyncio.wait(working, timeout=1)
                for one in done:
                    one.result()
                if not rest:
                    return
                if time.monotonic() - self.last_done > STALLED_S:
                    raise TimeoutError
        finally:
            for one in working:
                one.cancel()
            await asyncio.wait(working)

    async def _one_by_one(self) -> None:
        for seen in self._left:
            chance = random.Random(f"{self._seed} researcher {seen.plan.number}")
            await Researcher(self._http, self._addresses, seen, chance).see_through()
            self.done += 1
            self.last_done = time.monotonic()


async def chaos(runs: int, seed: int, folder: Path) -> bool:
    """Whether everything held."""
    seen = [Seen(script.plan(seed, number)) for number in range(runs)]
    begun = time.monotonic()
    async with running(folder, seed) as system:
        havoc = Havoc(system, random.Random(seed))
        is_whole = await _rage(system, havoc, seen, seed)
        crashes = sum(times for name, times in havoc.deaths.items() if "nats" not in name)
        verdict = await judge(system.dsn, seen, system.searches(), crashes)
    if not is_whole:
        verdict.wrong.insert(0, f"no run ended for {STALLED_S:.0f} s")
    verdict.wrong += havoc.wrong
    _report(verdict, havoc, runs, time.monotonic() - begun)
    if verdict.wrong:
        _accuse(verdict, havoc, runs, seed, folder)
    return not verdict.wrong


async def _rage(system: System, havoc: Havoc, seen: list[Seen], seed: int) -> bool:
    calm = asyncio.Event()
    timeout = httpx.Timeout(SILENCE_S, connect=CONNECT_S)
    limits = httpx.Limits(max_connections=None)
    async with (
        httpx.AsyncClient(
            headers={"X-API-Key": API_KEY},
            timeout=timeout,
            limits=limits,
            trust_env=False,
        ) as http,
        asyncio.TaskGroup() as group,
    ):
        raging = group.create_task(havoc.rage(calm))
        try:
            await Crowd(http, system.addresses, seen, seed).work()
        except TimeoutError:
            return False
        finally:
            calm.set()
            await raging
    return True


def _report(verdict: Verdict, havoc: Havoc, runs: int, seconds: float) -> None:
    rows = {"runs": runs, **verdict.counts, **dict(sorted(havoc.deaths.items()))}
    print()
    for name, count in rows.items():
        print(f"| {name} | {count:,} |")
    print(f"| violations | {len(verdict.wrong)} |")
    print(f"| seconds | {seconds:.0f} |")


def _accuse(verdict: Verdict, havoc: Havoc, runs: int, seed: int, folder: Path) -> None:
    print("\n".join(["", "What died:", *havoc.log, "", "What is wrong:"]))
    print("\n".join(verdict.wrong[:SHOWN]))
    if len(verdict.wrong) > SHOWN:
        print(f"and {len(verdict.wrong) - SHOWN} more")
    print(f"\nAgain with: make chaos RUNS={runs} SEED={seed}\nDatabase and logs: {folder}")


def main() -> int:
    """Run, and keep the folder when something is wrong."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(10**6)
    print(f"{runs} runs, seed {seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="zocrates-chaos-"))
    # Postgres runs under an account of its own, which must be able to enter.
    folder.chmod(0o755)
    holds = asyncio.run(chaos(runs, seed, folder))
    if holds:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
