"""Two deaths in a run, at every pair of points: `make crash-matrix`.

`python -m tests.crash SIZE SEED` takes so many of the pairs, drawn by the seed.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from deploy.postgres import find_postgres
from services.orchestrator.store.migrate import migrate
from tests.crash.matrix import Case, Outcome, lanes, sample, second_deaths, single_deaths, tell
from tests.servers import (
    NatsServer,
    PostgresServer,
    create_database,
    free_port,
    reachable_folder,
)

LANES = 2 * (os.cpu_count() or 2) + 1
SHOWN = 20


@asynccontextmanager
async def servers() -> AsyncIterator[tuple[PostgresServer, NatsServer]]:
    """Postgres with a template of the current schema, and NATS."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(reachable_folder())
        found = find_postgres(folder / "postgres", "crash")
        found.ensure_cluster()
        postgres = PostgresServer(found, free_port())
        postgres.start()
        stack.callback(postgres.stop)
        nats = NatsServer(folder / "nats", free_port())
        nats.start()
        stack.callback(nats.kill)
        await create_database(postgres, "template_zocrates", template="template1")
        await migrate(postgres.url("template_zocrates"))
        yield postgres, nats


async def main(size: int | None, seed: int) -> int:
    """Tell the counts; the exit code says whether all went well."""
    async with servers() as (postgres, nats):
        with tempfile.TemporaryDirectory() as folder:
            async with lanes(postgres, [nats.url] * LANES, Path(folder)) as opened:
                firsts = await single_deaths(opened[0])
                first = await tell(opened, firsts)
                _report("one death", first)
                seconds = second_deaths(first)
                chosen: list[Case] = seconds if size is None else sample(seconds, size, seed)
                print(f"{len(seconds)} pairs, {len(chosen)} of them are tried", flush=True)
                second = await tell(opened, chosen, progress=_progress)
                _report("two deaths", second)
    return 1 if first.failures or second.failures else 0


def _report(what: str, outcome: Outcome) -> None:
    print(
        f"{what}: {outcome.cases} cases, {len(outcome.failures)} failures, "
        f"{len(outcome.missed)} that did not come, {outcome.seconds:.0f} s on {LANES} lanes",
        flush=True,
    )
    for case, why in list(outcome.failures.items())[:SHOWN]:
        print(f"  {case}\n    {why}", flush=True)


def _progress(outcome: Outcome) -> None:
    if outcome.cases % 500 == 0:
        clock = time.strftime("%H:%M:%S")
        print(f"  {clock} {outcome.cases} cases, {len(outcome.failures)} failures", flush=True)


if __name__ == "__main__":
    given = [int(one) for one in sys.argv[1:]]
    sys.exit(asyncio.run(main(given[0] if given else None, given[1] if len(given) > 1 else 1)))
