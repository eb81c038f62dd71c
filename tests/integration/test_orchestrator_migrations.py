"""The schema's history ends where the tables are, and goes back to nothing."""

import asyncio
from uuid import uuid4

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from services.orchestrator.store.database import open_database
from services.orchestrator.store.history import History
from services.orchestrator.store.migrate import alembic_config, is_current, migrate
from services.orchestrator.store.schema import REVISION, WrongSchema, require_schema
from services.orchestrator.tables import metadata
from tests.servers import PostgresServer, create_database

DOCUMENT = (
    '"library": "user", "key": "K%s", "attachment_key": "A", "creators": ["Ada Meyer"], '
    '"year": "2019", "citation_key": "meyer", "kind": "DOCUMENT_KIND_PDF", "page_count": 9, '
    '"reading_state": "READING_STATE_FULL", "reading_reason": "", "id": "d%s", "title": "%s"'
)
PASSAGE = (
    '{"document": {%s}, "section_path": ["Results"], "ordinal": 7, "page_spans": [[0, 9, 3, "iv"]]}'
)
ONE, OTHER = PASSAGE % DOCUMENT % (1, 1, "One"), PASSAGE % DOCUMENT % (2, 2, "Other")
# As the schema before packed evidence had it.
LOOSE_EVIDENCE = (
    "INSERT INTO session (id, owner, title) VALUES ('s', 'o', 't')",
    "INSERT INTO run (id, session_id, ordinal, kind, owner, prompt, active_items, scope, options, "
    "ceilings, state, stage, trace, schema_version) VALUES ('r', 's', 1, 'chat', 'o', 'p', '[]', "
    "'{}', '{}', '{}', 'RUNNING', 'SEARCH', '{}', 1)",
    f"INSERT INTO evidence VALUES ('r', 'a', 0, 'call_0', 2, 1, 0.5, 'One two', '{ONE}'), "
    f"('r', 'b', 1, 'call_0', 1, 2, NULL, 'Three', '{ONE}'), "
    f"('r', 'c', 2, 'call_1', 1, 1, 0.25, 'Four', '{OTHER}')",
)
ALL_EVIDENCE = "SELECT * FROM evidence ORDER BY ordinal"


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


async def test_evidence_is_packed_and_unpacked_whole(postgres: PostgresServer) -> None:
    url = await empty_database(postgres)
    await migrate(url, "2026_12_03_reviews")
    engine = create_async_engine(url, poolclass=NullPool)
    async with engine.begin() as connection:
        for statement in LOOSE_EVIDENCE:
            await connection.execute(text(statement))
    async with engine.connect() as connection:
        before = (await connection.execute(text(ALL_EVIDENCE))).all()
    await migrate(url)
    async with open_database(url, pool_size=1) as database:
        recorded = await History(database).load("r")
    assert [(one.passage.id, one.step_key, one.words) for one in recorded.evidence] == [
        *(("a", "call_0", 2), ("b", "call_0", 1), ("c", "call_1", 1)),
    ]
    first, second, third = (one.passage for one in recorded.evidence)
    assert (first.text, first.page_at(2), first.section_path) == (
        "One two",
        (3, "iv"),
        ("Results",),
    )
    assert first.document is second.document
    assert (first.document.item.key, third.document.title) == ("K1", "Other")
    async with engine.begin() as connection:
        await connection.run_sync(
            lambda sync: command.downgrade(alembic_config(sync), "2026_12_03_reviews")
        )
    async with engine.connect() as connection:
        assert (await connection.execute(text(ALL_EVIDENCE))).all() == before
    await engine.dispose()
