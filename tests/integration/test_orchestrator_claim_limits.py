"""A claim takes no more than its limit, whichever plan the database makes."""

from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from services.orchestrator.store.database import Database, open_database
from services.orchestrator.store.outbox import Outbox
from services.orchestrator.store.runs import Runs
from tests.integration.waiting_runs import start_run
from tests.servers import PostgresServer

# What the database falls back on while it knows little of its tables.
LEFT_OUT = ("hashagg", "hashjoin", "material", "mergejoin", "sort")


@pytest.fixture
async def with_nested_loops(
    postgres: PostgresServer, database: Database, database_url: str
) -> AsyncIterator[Database]:
    """The same database, whose joins ask the inner side again for each row of the outer one."""
    name = make_url(database_url).database
    async with open_database(postgres.url("postgres"), pool_size=2) as server:
        for kind in LEFT_OUT:
            await server.fetch(text(f'ALTER DATABASE "{name}" SET enable_{kind} = off'))
        try:
            async with open_database(database_url, pool_size=2) as pool:
                yield pool
        finally:
            await server.fetch(text(f'ALTER DATABASE "{name}" RESET ALL'))


async def test_a_replica_claims_as_many_runs_as_it_has_room_for(
    with_nested_loops: Database,
) -> None:
    for _ in range(5):
        await start_run(with_nested_loops)
    runs = Runs(with_nested_loops)
    assert [len(await runs.claim("me", limit=2, lease_s=60)) for _ in range(3)] == [2, 2, 1]


async def test_a_relay_claims_as_many_runs_as_it_has_room_for(
    with_nested_loops: Database,
) -> None:
    for _ in range(3):
        await start_run(with_nested_loops)
    outbox = Outbox(with_nested_loops)
    assert len(await outbox.claim("me", held=(), lease_s=60, limit=2)) == 2
