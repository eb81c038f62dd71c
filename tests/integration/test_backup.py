"""What a backup holds is enough: on an empty system a paused run goes on, an index is searched."""

import asyncio
import shutil
from pathlib import Path

from deploy.postgres import DATABASE, Postgres, find_postgres
from services.orchestrator.store.migrate import migrate
from services.search.index import open_index
from services.search.index_writer import IndexWriter
from tests.fakes.research_peers import ResearchPeers
from tests.integration.orchestrator_stage import (
    EXTEND,
    SYNTHESIZE,
    assert_told_once,
    orchestrator,
    settings_for,
)
from tests.integration.test_search_view import text_of, texts
from tests.servers import NatsServer, PostgresServer, free_port, reachable_folder
from zocrates.orchestrator.v1 import chat_pb2 as pb

TOOL_S = 60


async def run(server: Postgres, program: str, *words: str) -> None:
    """Run one of PostgreSQL's own tools."""
    process = await asyncio.create_subprocess_exec(server.binaries / program, *words)
    assert await asyncio.wait_for(process.wait(), TOOL_S) == 0


def address(url: str) -> str:
    """A database as PostgreSQL's tools know it."""
    return url.replace("+asyncpg", "")


async def test_a_paused_run_goes_on_after_a_restore_into_an_empty_system(
    database_url: str,
    nats_server: NatsServer,
    peers: ResearchPeers,
    tmp_path: Path,
) -> None:
    async with orchestrator(settings_for(database_url, nats_server.url, peers)) as chat:
        turn = await chat.start("How do sleep, memory and age go together?")
        asked = await chat.waiting(turn)
        told = await chat.page(turn)
    nats_server.kill()
    dump = tmp_path / "zocrates.dump"
    with reachable_folder() as folder:
        found = find_postgres(folder / "postgres", "new")
        await run(found, "pg_dump", "--format=custom", f"--file={dump}", address(database_url))
        found.ensure_cluster()
        server = PostgresServer(found, free_port())
        server.start()
        nats = NatsServer(tmp_path / "new nats", free_port())
        nats.start()
        try:
            url = server.url(DATABASE)
            await run(found, "pg_restore", "--no-owner", f"--dbname={address(url)}", str(dump))
            await migrate(url)
            async with orchestrator(settings_for(url, nats.url, peers)) as chat:
                assert await chat.waiting(turn) == asked
                assert list((await chat.page(turn)).events) == list(told.events)
                await chat.decide(turn, EXTEND, guidance="Only adults.")
                await chat.waiting(turn, "interrupt_ext_2")
                await chat.decide(turn, SYNTHESIZE, "interrupt_ext_2")
                page = await chat.finished(turn)
        finally:
            nats.kill()
            server.stop()
    assert page.state == pb.RUN_STATE_COMPLETED
    assert_told_once(page)
    assert peers.search.calls == {"sleep": 1, "memory": 1}
    assert len(page.events[-1].answer.citations) == 3


async def test_a_copy_of_an_index_that_nobody_writes_is_searched(tmp_path: Path) -> None:
    async with open_index(str(tmp_path / "index"), cache_bytes=1 << 24) as index:
        await IndexWriter(index).commit([text_of("ITEM", "Naps help nurses.", tmp_path)])
        shutil.copytree(tmp_path / "index", tmp_path / "copy")
    shutil.rmtree(tmp_path / "index")
    async with open_index(str(tmp_path / "copy"), cache_bytes=1 << 24) as copy:
        assert await texts(await copy.view(), "naps") == ["Naps help nurses."]
        await IndexWriter(copy).commit([text_of("MORE", "Naps help pilots.", tmp_path)])
        assert len(await texts(await copy.view(), "naps")) == 2
