"""What plans under review cost, and how late their deadlines are: `make bench-reviews`.

REVIEWS (5,000) plans wait at once; REAL (500) of them are drafted by the orchestrator, the others
are copies of their rows. Then their deadlines come spread over a minute, and once more all at the
same instant.
"""

import asyncio
import os
from collections.abc import Sequence
from contextlib import AsyncExitStack

import asyncpg

from tests.bench.machine import machine, spread
from tests.bench.paused_runs import WARM_UP, copy, look, pause, tell
from tests.bench.turn_processes import Stand, stand
from zocrates.orchestrator.v1 import chat_pb2 as pb

REVIEWS = int(os.environ.get("REVIEWS") or 5_000)
REAL = min(int(os.environ.get("REAL") or 500), REVIEWS)
SPREAD_S = 60
LATEST_S = {"spread over a minute": 2.0, "at the same instant": 20.0}
PATIENCE_S = 180
# A moment after now, so that no deadline is over before all are set.
SET = """
    UPDATE checkpoint SET expires_at = clock_timestamp() + interval '5 s'
                                       + interval '1 s' * $1 * place / $2
    FROM (SELECT run_id AS id, row_number() OVER () AS place FROM checkpoint
          WHERE state = 'PENDING') AS one
    WHERE run_id = one.id AND state = 'PENDING'
"""
WAITING = "SELECT count(*) FROM run WHERE state = 'AWAITING_INPUT'"
LATE = """
    SELECT extract(epoch FROM finish_time - expires_at)::float8 AS late
    FROM run JOIN checkpoint ON run_id = run.id WHERE run.state = 'EXPIRED'
"""


async def waiting_reviews(standing: Stand, database: asyncpg.Connection) -> None:
    """So many plans that wait for a decision, and nothing else."""
    await database.execute("DELETE FROM session")
    await pause(standing, database, REAL, pb.TurnOptions(review_plan=True))
    if REVIEWS > REAL:
        await copy(database, REVIEWS - REAL)
        await database.execute("DROP TABLE copy")
    await database.execute("ANALYZE")


async def expire(database: asyncpg.Connection, over_s: float) -> Sequence[float]:
    """Let the deadlines come within this time; returns how late each was."""
    await database.execute(SET, over_s, REVIEWS)
    async with asyncio.timeout(over_s + PATIENCE_S):
        while await database.fetchval(WAITING):  # noqa: ASYNC110  # another process
            await asyncio.sleep(0.5)
    late = [row["late"] for row in await database.fetch(LATE)]
    assert len(late) == REVIEWS
    return late


async def main() -> None:
    """Measure everything; fail when a deadline was looked at too late."""
    print(machine())
    print(f"load average before: {os.getloadavg()[0]:.1f}")
    async with AsyncExitStack() as opened:
        standing = await opened.enter_async_context(stand(together=True))
        await standing.start()
        database = await asyncpg.connect(standing.dsn)
        opened.push_async_callback(database.close)
        await pause(standing, database, WARM_UP)
        before = await look(standing, database)
        await waiting_reviews(standing, database)
        tell("plans that wait", REVIEWS, before, await look(standing, database))
        for what, over_s in (("spread over a minute", SPREAD_S), ("at the same instant", 0)):
            if over_s == 0:
                await waiting_reviews(standing, database)
            late = await expire(database, over_s)
            print(f"{REVIEWS:,} deadlines {what}: late by {spread(late)}")
            print(f"    at most {max(late):.2f} s")
            assert max(late) <= LATEST_S[what], f"{max(late):.1f} s late"
        print(f"load average after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    asyncio.run(main())
