"""Postgres is started once for all tests that need it; each test gets its own database."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from deploy.postgres import find_postgres
from services.chassis.bus import Bus, open_bus
from services.orchestrator.settings import Settings
from services.orchestrator.store.database import Database, open_database
from services.orchestrator.store.migrate import migrate
from tests.fakes.deep_question import set_deep_question
from tests.fakes.research_peers import ResearchPeers, research_peers
from tests.integration.orchestrator_stage import Chat, orchestrator, settings_for
from tests.integration.task_stage import TaskStage, TaskWire, task_stage
from tests.servers import (
    NatsServer,
    PostgresServer,
    create_database,
    emptied,
    free_port,
    reachable_folder,
)


@pytest.fixture(scope="session")
async def postgres() -> AsyncIterator[PostgresServer]:
    """A server whose template database has the current schema."""
    with reachable_folder() as folder:
        found = find_postgres(folder / "postgres", "test")
        found.ensure_cluster()
        server = PostgresServer(found, free_port())
        server.start()
        try:
            await create_database(server, "template_zocrates", template="template1")
            await migrate(server.url("template_zocrates"))
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="session")
def spare_databases() -> list[str]:
    """Databases that a test has left, emptied for the next one: a copy of the template is slow."""
    return []


@pytest.fixture
async def database_url(postgres: PostgresServer, spare_databases: list[str]) -> AsyncIterator[str]:
    """An empty database with the current schema."""
    if spare_databases:
        name = spare_databases.pop()
    else:
        name = f"test_{uuid4().hex}"
        await create_database(postgres, name, template="template_zocrates")
    yield postgres.url(name)
    if await emptied(postgres.url(name)):
        spare_databases.append(name)


@pytest.fixture(scope="module")
async def shared_database_url(postgres: PostgresServer) -> str:
    """A database for all tests of a file, each of which has an owner of its own."""
    name = f"shared_{uuid4().hex}"
    await create_database(postgres, name, template="template_zocrates")
    return postgres.url(name)


@pytest.fixture(scope="module")
async def tasks(
    shared_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[TaskStage]:
    """The servers behind the task wire, for all tests of a file."""
    async with task_stage(shared_database_url, tmp_path_factory.mktemp("nats")) as shared:
        yield shared


@pytest.fixture
async def wire(tasks: TaskStage) -> AsyncIterator[TaskWire]:
    """A client of the task wire that nobody was before."""
    async with tasks.lent() as lent:
        yield lent


@pytest.fixture
async def other(tasks: TaskStage) -> AsyncIterator[TaskWire]:
    """Somebody else."""
    async with tasks.lent() as lent:
        yield lent


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A pool on a fresh database."""
    async with open_database(database_url, pool_size=10) as pool:
        yield pool


@pytest.fixture
def nats_server(tmp_path: Path) -> Iterator[NatsServer]:
    """A server of this test's own, so that it may be killed and its streams are empty."""
    server = NatsServer(tmp_path / "nats", free_port())
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture
async def bus(nats_server: NatsServer) -> AsyncIterator[Bus]:
    """A connection to this test's own NATS server."""
    async with open_bus(nats_server.url, "test") as connection:
        yield connection


@pytest.fixture
async def peers() -> AsyncIterator[ResearchPeers]:
    """Scripted stages whose question needs both extensions; some files have others."""
    async with research_peers() as served:
        set_deep_question(served)
        yield served


@pytest.fixture
def settings(database_url: str, nats_server: NatsServer, peers: ResearchPeers) -> Settings:
    """An orchestrator's, on this test's own servers."""
    return settings_for(database_url, nats_server.url, peers)


@pytest.fixture
async def chat(settings: Settings) -> AsyncIterator[Chat]:
    """A caller of an orchestrator that runs in this process."""
    async with orchestrator(settings) as caller:
        yield caller
