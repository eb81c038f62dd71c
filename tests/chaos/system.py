"""The whole system as real processes, each of which can be killed and started again."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from deploy.postgres import find_postgres
from services.orchestrator.store.migrate import migrate
from tests.servers import NatsServer, PostgresServer, create_database, free_port

ROOT = Path(__file__).resolve().parents[2]
DATABASE = "chaos"
API_KEY = "a-key-for-the-chaos-only"
START_S = 60
STOP_S = 30


@dataclass
class Program:
    """One of our processes."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    log: Path
    port: int
    stdin: int | None = None
    stdout: int | None = None
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it; who needs it waits for it."""
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", *self.command),
                cwd=ROOT,
                env={**os.environ, **self.environment},
                stdin=self.stdin,
                stdout=self.stdout,
                stderr=log,
            )

    async def start_serving(self) -> None:
        """Start it, and wait until it takes connections."""
        await self.start()
        await asyncio.wait_for(_listening(self.port), START_S)

    async def kill(self) -> None:
        """End it at once."""
        assert self.process is not None
        self.process.kill()
        await self.process.wait()

    async def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        assert self.process is not None
        self.process.terminate()
        await asyncio.wait_for(self.process.wait(), STOP_S)


@dataclass
class System:
    """Everything that runs."""

    folder: Path
    postgres: PostgresServer
    nats: NatsServer
    stages: Program
    gateway: Program
    orchestrators: tuple[Program, ...]

    @property
    def dsn(self) -> str:
        """The database, for asyncpg."""
        return self.postgres.url(DATABASE).replace("+asyncpg", "")

    async def crash_postgres(self) -> None:
        """SIGKILL for the postmaster; its children follow by themselves."""
        first = psutil.Process(self.postgres.pid)
        family = [first, *first.children()]
        first.kill()
        await asyncio.to_thread(self.postgres.kill)
        await asyncio.to_thread(psutil.wait_procs, family, START_S)


def _programs(
    folder: Path, postgres: PostgresServer, nats: NatsServer, seed: int
) -> tuple[Program, Program, tuple[Program, ...]]:
    stages_port, gateway_port = free_port(), free_port()
    ports = [free_port(), free_port()]
    stages = Program(
        name="stages",
        command=("tests.chaos.stages", str(stages_port), str(seed)),
        environment={},
        log=folder / "stages.log",
        port=stages_port,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    target = f"127.0.0.1:{stages_port}"
    orchestrators = tuple(
        Program(
            name=f"orchestrator {place}",
            command=("services.orchestrator",),
            environment={
                "ORCHESTRATOR_PORT": str(port),
                "ORCHESTRATOR_DATABASE_URL": postgres.url(DATABASE),
                "ORCHESTRATOR_NATS_URL": nats.url,
                **{f"ORCHESTRATOR_{peer}_TARGET": target for peer in ("SEARCH", "RERANK", "SYNTH")},
            },
            log=folder / f"orchestrator-{place}.log",
            port=port,
        )
        for place, port in enumerate(ports, start=1)
    )
    gateway = Program(
        name="gateway",
        command=("gateway",),
        environment={
            "GATEWAY_PORT": str(gateway_port),
            "GATEWAY_NATS_URL": nats.url,
            # Both replicas behind one target, as a name of a cluster would be.
            "GATEWAY_ORCHESTRATOR_TARGET": "ipv4:"
            + ",".join(f"127.0.0.1:{port}" for port in ports),
            "GATEWAY_SEARCH_TARGET": target,
            "GATEWAY_KEYS": json.dumps([{"key": API_KEY, "owner": "chaos", "libraries": None}]),
        },
        log=folder / "gateway.log",
        port=gateway_port,
    )
    return stages, gateway, orchestrators


@asynccontextmanager
async def running(folder: Path, seed: int) -> AsyncIterator[System]:
    """Start everything in the folder, wait until it serves, and end it."""
    async with AsyncExitStack() as opened:
        found = find_postgres(folder / "postgres", "chaos")
        found.ensure_cluster()
        postgres = PostgresServer(found, free_port(), durable=True)
        postgres.start()
        opened.callback(postgres.kill)
        await create_database(postgres, DATABASE, template="template1")
        await migrate(postgres.url(DATABASE))
        nats = NatsServer(folder / "nats", free_port())
        nats.start()
        opened.callback(nats.kill)
        stages, gateway, orchestrators = _programs(folder, postgres, nats, seed)
        for program in (stages, *orchestrators, gateway):
            await program.start()
            opened.push_async_callback(_end, program)
        for program in (stages, *orchestrators, gateway):
            await asyncio.wait_for(_listening(program.port), START_S)
        yield System(
            folder=folder,
            postgres=postgres,
            nats=nats,
            stages=stages,
            gateway=gateway,
            orchestrators=orchestrators,
        )


async def _end(program: Program) -> None:
    if program.process is not None and program.process.returncode is None:
        await program.kill()


async def _listening(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return
