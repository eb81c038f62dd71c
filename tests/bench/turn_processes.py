"""The processes of the standard turn, each real and apart, and the CPU time that each took."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from deploy.postgres import find_postgres
from services.chassis.channel import open_channel
from services.orchestrator.store.migrate import migrate
from tests.bench import turn_database, turn_script, turn_stages
from tests.servers import (
    NatsServer,
    PostgresServer,
    create_database,
    free_port,
    reachable_folder,
)

DATABASE = "bench"
API_KEY = "a-key-for-measuring-only"
START_S = 120
END_S = 30

Process = asyncio.subprocess.Process


@dataclass(kw_only=True)
class Stand:
    """Everything that a turn needs, and the means to look at it."""

    folder: Path
    postgres: PostgresServer
    nats: NatsServer
    stages: Process
    stages_port: int
    orchestrator_port: int = field(default_factory=free_port)
    gateway_port: int = field(default_factory=free_port)
    processes: dict[str, Process] = field(default_factory=dict)

    @property
    def dsn(self) -> str:
        """The database, for asyncpg."""
        return self.postgres.url(DATABASE).replace("+asyncpg", "")

    def profile_of(self, name: str) -> Path:
        """Where the samples of a process are written."""
        return self.folder / f"{name}.samples"

    async def start(self, *, sampled: bool = False) -> None:
        """Start orchestrator and gateway, and wait until they serve."""
        await self._run("orchestrator", "services.orchestrator", self._orchestrator(), sampled)
        async with open_channel(f"127.0.0.1:{self.orchestrator_port}") as channel:
            await asyncio.wait_for(channel.channel_ready(), START_S)
        await self._run("gateway", "gateway", self._gateway(), sampled)
        async with asyncio.timeout(START_S):
            while not await _listens(self.gateway_port):  # noqa: ASYNC110 (another process)
                await asyncio.sleep(0.05)

    async def stop(self) -> None:
        """Stop them in order."""
        for name in ("gateway", "orchestrator"):
            process = self.processes.pop(name)
            process.terminate()
            await asyncio.wait_for(process.wait(), END_S)

    def cpu_seconds(self) -> Mapping[str, float]:
        """CPU time so far by process; the client is this one."""
        pids = {
            "client": os.getpid(),
            "postgres": self.postgres.pid,
            "nats": self.nats.pid,
            "stages": self.stages.pid,
            **{name: process.pid for name, process in self.processes.items()},
        }
        return {name: _cpu_of(pid, family=name == "postgres") for name, pid in pids.items()}

    async def begun(self) -> Mapping[str, float]:
        """When stages were begun, by question and pass; the stages end with this."""
        said, _ = await asyncio.wait_for(self.stages.communicate(b""), END_S)
        times: Mapping[str, float] = json.loads(said.decode().splitlines()[-1])
        return times

    async def _run(
        self, name: str, module: str, environment: Mapping[str, str], sampled: bool
    ) -> None:
        how = ["tests.bench.turn_profile", str(self.profile_of(name)), module]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                *(how if sampled else [module]),
                stderr=log,
                env={**os.environ, **environment},
            )

    def _orchestrator(self) -> Mapping[str, str]:
        config = self.folder / "config.json"
        config.write_text(json.dumps(turn_script.HARNESS), encoding="utf-8")
        stages = f"127.0.0.1:{self.stages_port}"
        return {
            "ORCHESTRATOR_PORT": str(self.orchestrator_port),
            "ORCHESTRATOR_DATABASE_URL": self.postgres.url(DATABASE),
            "ORCHESTRATOR_NATS_URL": self.nats.url,
            "ORCHESTRATOR_CONFIG_FILE": str(config),
            **{f"ORCHESTRATOR_{name}_TARGET": stages for name in ("SEARCH", "RERANK", "SYNTH")},
        }

    def _gateway(self) -> Mapping[str, str]:
        return {
            "GATEWAY_PORT": str(self.gateway_port),
            "GATEWAY_NATS_URL": self.nats.url,
            "GATEWAY_ORCHESTRATOR_TARGET": f"127.0.0.1:{self.orchestrator_port}",
            "GATEWAY_KEYS": json.dumps([{"key": API_KEY, "owner": "bench", "libraries": None}]),
        }


@asynccontextmanager
async def stand(*, together: bool) -> AsyncIterator[Stand]:
    """Postgres with fsync, NATS, the scripted stages; orchestrator and gateway not started yet."""
    async with AsyncExitStack() as opened:
        folder = opened.enter_context(reachable_folder())
        found = find_postgres(folder / "postgres", "bench")
        found.ensure_cluster()
        postgres = PostgresServer(found, free_port(), durable=True, options=turn_database.OPTIONS)
        postgres.start()
        opened.callback(postgres.kill)
        await create_database(postgres, DATABASE, template="template1")
        await migrate(postgres.url(DATABASE))
        nats = NatsServer(folder / "nats", free_port())
        nats.start()
        opened.callback(nats.kill)
        shape: Sequence[str] = [turn_stages.TOGETHER] if together else []
        stages = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "tests.bench.turn_stages", *shape),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        opened.push_async_callback(_end, stages)
        assert stages.stdout is not None
        port = int(await asyncio.wait_for(stages.stdout.readline(), START_S))
        standing = Stand(
            folder=folder, postgres=postgres, nats=nats, stages=stages, stages_port=port
        )
        opened.push_async_callback(_end_all, standing)
        await turn_database.prepare(standing.dsn)
        yield standing


async def _end_all(standing: Stand) -> None:
    for process in standing.processes.values():
        await _end(process)


async def _end(process: Process) -> None:
    if process.returncode is None:
        process.kill()
        await process.wait()


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


def _cpu_of(pid: int, *, family: bool) -> float:
    first = psutil.Process(pid)
    times = [one.cpu_times() for one in [first, *(first.children() if family else [])]]
    return sum(one.user + one.system for one in times)
