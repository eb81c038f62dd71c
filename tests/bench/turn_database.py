"""What turns cost the database: transactions by reason, bytes, and plain asyncpg beside it."""

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import asyncpg

from tests.bench import turn_script

# What PostgresServer has to be started with.
OPTIONS = (
    "--shared_preload_libraries=pg_stat_statements",
    "--pg_stat_statements.track=top",
)
TABLES = (
    *("session", "run", "step", "evidence", "checkpoint", "plan_round", "event", "request_key"),
)
# Statements by what they do, recognised by their text; the first that fits counts.
REASONS: Mapping[str, str] = {
    r"^COMMIT": "several statements at once",
    r"INSERT INTO step": "steps, with evidence, events and what follows",
    r"claimed AS": "a decision",
    r"INSERT INTO run ": "a turn begins",
    r"UPDATE run SET state .*lease_epoch \+ 1": "a run is claimed",
    r"UPDATE run SET lease_until": "leases renewed",
    r"UPDATE run SET relay_owner": "the relay looks for events",
    r"UPDATE run SET published_sequence": "the relay stores its position",
    r"FROM step WHERE run_id": "what a run recorded is read",
    r"FROM evidence WHERE run_id": "what a run recorded is read",
    r"FROM checkpoint WHERE run_id": "what a run recorded is read",
    r"type = 'answer'": "the conversation is read",
    r"FROM unnest\(.*JOIN event": "the relay reads events",
    r"LEFT JOIN LATERAL": "the gateway reads events",
    r"due\.state = 'PENDING'|expires_at <=": "deadlines are looked for",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The database at a moment."""

    commits: int
    by_reason: Mapping[str, int]
    bytes_by_table: Mapping[str, int]
    steps: int


async def count(url: str) -> Counted:
    """Read the counters; this adds a handful of transactions of its own, which are left out."""
    connection = await asyncpg.connect(url)
    try:
        # The counters of other backends are written when they are idle, at the latest.
        await asyncio.sleep(1.2)
        commits = await connection.fetchval(
            "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
        )
        calls = await connection.fetch(
            "SELECT query, calls FROM pg_stat_statements "
            "WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        sizes = {
            table: await connection.fetchval("SELECT pg_total_relation_size($1::regclass)", table)
            for table in TABLES
        }
        steps = await connection.fetchval("SELECT count(*) FROM step")
    finally:
        await connection.close()
    reasons: Counter[str] = Counter()
    for row in calls:
        reasons[_reason(row["query"])] += row["calls"]
    return Counted(commits=commits, by_reason=reasons, bytes_by_table=sizes, steps=steps)


def _reason(query: str) -> str:
    flat = " ".join(query.split())
    return next((why for pattern, why in REASONS.items() if re.search(pattern, flat)), flat[:70])


async def prepare(url: str) -> None:
    """Make the counters of statements readable."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        await connection.execute(
            "CREATE TABLE plain (turn int, place int, output jsonb, PRIMARY KEY (turn, place))"
        )
    finally:
        await connection.close()


async def plain_writes(url: str, *, writes: int, turns: int, width: int, pool_size: int) -> float:
    """Turns a second when a turn is nothing but its durable writes, each an INSERT of its own.

    As many of them carry the text of a tool step as a turn has tool steps; the others are small.
    """
    texts = [
        json.dumps([hit.passage.text for hit in result.hits])
        for result in turn_script.script().results
    ]
    bodies = texts + [json.dumps({"what": "a small step " * 20})] * (writes - len(texts))
    numbers = iter(range(turns))
    async with asyncpg.create_pool(url, min_size=pool_size, max_size=pool_size) as pool:
        await pool.execute("TRUNCATE plain")

        async def work() -> None:
            for number in numbers:
                for place, body in enumerate(bodies):
                    await pool.execute("INSERT INTO plain VALUES ($1, $2, $3)", number, place, body)

        begun = time.monotonic()
        await asyncio.gather(*(work() for _ in range(width)))
        return turns / (time.monotonic() - begun)
