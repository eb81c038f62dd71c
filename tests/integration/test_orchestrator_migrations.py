"""The schema's history ends where the tables are, and goes back to nothing."""

import asyncio
from uuid import uuid4

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect
from sqlalchemy.ext.asyncio import create_async_engine

from services.orchestrator.store.database import open_database
from services.orchestrator.store.migrate import alembic_config, is_current, migrate
from services.orchestrator.store.schema import REVISION, WrongSchema, require_schema
from services.orchestrator.tables import metadata
from tests.servers import PostgresServer, create_database


def differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"compare_server_default": True})
    return compare_metadata(context, metadata)


async def empty_database(postgres: PostgresServer) -> str:
    name = f"test_{uuid4().hex}"
    await create_database(postgres, name, template="template0")
    return postgres.url(name)


async def test_migrations_make_exactly_the_tables(database_url: str) -> None:
    engine = create_async_engine(database_url)
    async with engine.connect() as connection:
        assert await connection.run_sync(differences) == []
        assert await connection.run_sync(is_current)
    await engine.dispose()


async def test_the_schema_goes_down_to_nothing_and_up_again(postgres: PostgresServer) -> None:
    url = await empty_database(postgres)
    await migrate(url)
    await migrate(url, "base")
    engine = create_async_engine(url)
    async with engine.connect() as connection:
        left = await connection.run_sync(lambda sync: inspect(sync).get_table_names())
        assert left == ["alembic_version"]
        assert not await connection.run_sync(is_current)
    await migrate(url)
    async with engine.connect() as connection:
        assert await connection.run_sync(differences) == []
    await engine.dispose()


async def test_two_migrations_at_once_wait_for_each_other(postgres: PostgresServer) -> None:
    url = await empty_database(postgres)
    await asyncio.gather(*(migrate(url) for _ in range(3)))
    engine = create_async_engine(url)
    async with engine.connect() as connection:
        assert await connection.run_sync(is_current)
    await engine.dispose()


async def test_a_serving_process_accepts_only_the_latest_schema(
    postgres: PostgresServer, database_url: str
) -> None:
    assert ScriptDirectory.from_config(alembic_config()).get_current_head() == REVISION
    async with open_database(database_url, pool_size=2) as database:
        await require_schema(database)
    async with open_database(await empty_database(postgres), pool_size=2) as database:
        with pytest.raises(WrongSchema, match="has the schema 'none'"):
            await require_schema(database)
