"""The process starts, or says in one sentence why it does not."""

import asyncio
import os
import socket
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from tests.servers import PostgresServer, create_database

ROOT = Path(__file__).resolve().parents[2]


async def refused(**environment: str) -> tuple[int, str]:
    """Exit code and last words of a process that does not start."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "services.orchestrator"),
        cwd=ROOT,
        env={
            **{name: value for name, value in os.environ.items() if "ORCHESTRATOR" not in name},
            "ORCHESTRATOR_LOG_LEVEL": "ERROR",
            **environment,
        },
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await asyncio.wait_for(process.communicate(), 60)
    return process.returncode or 0, errors.decode().strip()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    path.write_text('{"search_harness": {"max_retrieval_tools": 0}}')
    return path


async def test_a_bad_number_in_the_configuration_is_one_sentence(config: Path) -> None:
    code, said = await refused(
        ORCHESTRATOR_DATABASE_URL="postgresql+asyncpg://nobody@127.0.0.1:1/none",
        ORCHESTRATOR_CONFIG_FILE=str(config),
    )
    assert code == 2
    assert said == (
        f"In the configuration file {str(config)!r}: "
        "search_harness.max_retrieval_tools must be a whole number from 1 to 1000, not 0."
    )


async def test_bad_settings_are_named_by_their_variables() -> None:
    code, said = await refused(ORCHESTRATOR_PORT="high")
    assert code == 2
    assert [line.split(":")[0] for line in said.splitlines()] == [
        "ORCHESTRATOR_PORT",
        "ORCHESTRATOR_DATABASE_URL",
    ]


async def test_a_database_that_was_not_migrated_is_one_sentence(postgres: PostgresServer) -> None:
    name = f"test_{uuid4().hex}"
    await create_database(postgres, name, template="template0")
    code, said = await refused(ORCHESTRATOR_DATABASE_URL=postgres.url(name))
    assert code == 1
    assert said.startswith("The database has the schema 'none'")
    assert "\n" not in said


async def test_a_taken_port_is_one_sentence(database_url: str) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        code, said = await refused(
            ORCHESTRATOR_DATABASE_URL=database_url, ORCHESTRATOR_PORT=str(port)
        )
    assert code == 1
    assert said.splitlines()[-1].startswith(f"Cannot listen on 127.0.0.1:{port}")
