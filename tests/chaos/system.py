"""The whole system as real processes, each of which can be killed and started again."""

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
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
# A cluster's replicas of each process, all three stages being one here.
STAGES, ORCHESTRATORS, GATEWAYS = 3, 3, 2
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
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it; who needs it waits for it."""
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", *self.command),
                cwd=ROOT,
                env={**os.environ, **self.environment},
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
    stages: Sequence[Program]
    gateways: Sequence[Program]
    orchestrators: Sequence[Program]

    @property
    def dsn(self) -> str:
        """The database, for asyncpg."""
        return self.postgres.url(DATABASE).replace("+asyncpg", "")

    @property
    def programs(self) -> Sequence[Program]:
        """All processes of ours."""
        return (*self.stages, *self.orchestrators, *self.gateways)

    @property
    def addresses(self) -> Sequence[str]:
        """Where each gateway is."""
        return [f"http://127.0.0.1:{one.port}" for one in self.gateways]

    def searches(self) -> Counter[str]:
        """How often each search was begun."""
        return Counter(
            query
            for place in range(1, STAGES + 1)
            for query in _diary(self.folder, place).read_text("utf-8").splitlines()
        )

    async def crash_postgres(self) -> None:
        """SIGKILL for the postmaster; its children follow by themselves."""
        first = psutil.Process(self.postgres.pid)
        family = [first, *first.children()]
        first.kill()
        await asyncio.to_thread(self.postgres.kill)
        await asyncio.to_thread(psutil.wait_procs, family, START_S)


def _stages(folder: Path, seed: int) -> Sequence[Program]:
    return [
        Program(
            name=f"stages {place}",
            command=("tests.chaos.stages", str(port), str(seed), str(_diary(folder, place))),
            environment={},
            log=folder / f"stages-{place}.log",
            port=port,
        )
        for place, port in _ports(STAGES)
    ]


def _orchestrators(
    folder: Path, postgres: PostgresServer, nats: NatsServer, stages: str
) -> Sequence[Program]:
    return [
        Program(
            name=f"orchestrator {place}",
            command=("services.orchestrator",),
            environment={
                "ORCHESTRATOR_PORT": str(port),
                "ORCHESTRATOR_DATABASE_URL": postgres.url(DATABASE),
                "ORCHESTRATOR_NATS_URL": nats.url,
                **{f"ORCHESTRATOR_{peer}_TARGET": stages for peer in ("SEARCH", "RERANK", "SYNTH")},
            },
            log=folder / f"orchestrator-{place}.log",
            port=port,
        )
        for place, port in _ports(ORCHESTRATORS)
    ]


def _gateways(folder: Path, nats: NatsServer, orchestrators: str, stages: str) -> Sequence[Program]:
    return [
        Program(
            name=f"gateway {place}",
            command=("gateway",),
            environment={
                "GATEWAY_PORT": str(port),
                "GATEWAY_NATS_URL": nats.url,
                "GATEWAY_ORCHESTRATOR_TARGET": orchestrators,
                "GATEWAY_SEARCH_TARGET": stages,
                "GATEWAY_KEYS": json.dumps([{"key": API_KEY, "owner": "chaos", "libraries": None}]),
            },
            log=folder / f"gateway-{place}.log",
            port=port,
        )
        for place, port in _ports(GATEWAYS)
    ]


def _ports(replicas: int) -> Iterator[tuple[int, int]]:
    return ((place, free_port()) for place in range(1, replicas + 1))


def _target(programs: Sequence[Program]) -> str:
    """All replicas behind one target, as a name of a cluster would be."""
    return "ipv4:" + ",".join(f"127.0.0.1:{one.port}" for one in programs)


def _diary(folder: Path, place: int) -> Path:
    return folder / f"searches-{place}.txt"


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
        stages = _stages(folder, seed)
        orchestrators = _orchestrators(folder, postgres, nats, _target(stages))
        system = System(
            folder=folder,
            postgres=postgres,
            nats=nats,
            stages=stages,
            gateways=_gateways(folder, nats, _target(orchestrators), _target(stages)),
            orchestrators=orchestrators,
        )
        for program in system.programs:
            await program.start()
            opened.push_async_callback(_end, program)
        for program in system.programs:
            await asyncio.wait_for(_listening(program.port), START_S)
        yield system


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
