"""What orchestration costs when search, rerank and synth answer at once."""

import asyncio
import os
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median

from deploy.postgres import find_postgres
from services.chassis.bus import Msg, open_bus
from services.chassis.channel import open_channel
from services.orchestrator.store.migrate import migrate
from tests.bench.machine import spread
from tests.fakes.research_peers import call, conclude, passage, research_peers
from tests.servers import (
    NatsServer,
    PostgresServer,
    create_database,
    free_port,
    reachable_folder,
)
from zocrates.orchestrator.v1 import chat_pb2 as pb
from zocrates.orchestrator.v1 import chat_pb2_grpc as rpc

DATABASE = "bench"
WARM_UP = 10
RUNS = {1: 40, 32: 400}
# converse, three turns, three calls, rerank, synthesize, verify
STEPS = 10
SCRIPT = [
    [call("search_corpus", query="a"), call("search_corpus", query="b")],
    [call("search_corpus", query="c")],
    [conclude()],
]


class Client:
    """Starts runs and waits for their answers on NATS."""

    def __init__(self, stub: rpc.ChatServiceStub) -> None:
        self._stub = stub
        self._ended: dict[str, asyncio.Event] = {}

    async def on_answer(self, message: Msg) -> None:
        """Note an answer; the run's id is in the subject."""
        self._event(message.subject.split(".")[3]).set()

    async def ask(self) -> float:
        """One run from the request to its answer event, in seconds."""
        begun = time.perf_counter()
        turn = await self._stub.StartTurn(pb.StartTurnRequest(prompt="Why sleep?"), timeout=60)
        async with asyncio.timeout(60):
            await self._event(turn.run_id).wait()
        return time.perf_counter() - begun

    async def ask_often(self, times: int) -> list[float]:
        """So many runs, one after the other."""
        return [await self.ask() for _ in range(times)]

    def _event(self, run_id: str) -> asyncio.Event:
        return self._ended.setdefault(run_id, asyncio.Event())


async def measure_orchestration() -> None:
    """Print runs per second alone and 32 at a time, and milliseconds a step."""
    async with AsyncExitStack() as opened:
        folder = opened.enter_context(reachable_folder())
        found = find_postgres(folder / "postgres", "bench")
        found.ensure_cluster()
        postgres = PostgresServer(found, free_port(), durable=True)
        postgres.start()
        opened.callback(postgres.kill)
        await create_database(postgres, DATABASE, template="template1")
        await migrate(postgres.url(DATABASE))
        nats = NatsServer(folder / "nats", free_port())
        nats.start()
        opened.callback(nats.kill)
        peers = await opened.enter_async_context(research_peers())
        peers.synth.script = SCRIPT
        peers.search.hits = {
            query: [passage(8 * place + number) for number in range(8)]
            for place, query in enumerate("abc")
        }
        port = free_port()
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "services.orchestrator",
            stderr=(folder / "orchestrator.log").open("wb"),
            env={
                **os.environ,
                "ORCHESTRATOR_PORT": str(port),
                "ORCHESTRATOR_DATABASE_URL": postgres.url(DATABASE),
                "ORCHESTRATOR_NATS_URL": nats.url,
                "ORCHESTRATOR_CONFIG_FILE": str(Path(__file__).parents[2] / "zocrates_config.json"),
                **{
                    f"ORCHESTRATOR_{name.upper()}_TARGET": peers.target(name)
                    for name in ("search", "rerank", "synth")
                },
            },
        )
        try:
            await _measure(nats.url, port)
        finally:
            process.terminate()
            await process.wait()


async def _measure(nats_url: str, port: int) -> None:
    async with open_bus(nats_url, "bench") as bus, open_channel(f"127.0.0.1:{port}") as channel:
        async with asyncio.timeout(30):
            await channel.channel_ready()
        client = Client(rpc.ChatServiceStub(channel))
        await bus.subscribe("zocrates.events.*.*.answer", client.on_answer)
        for _ in range(WARM_UP):
            await client.ask()
        for width, runs in RUNS.items():
            begun = time.perf_counter()
            shares = await asyncio.gather(*(client.ask_often(runs // width) for _ in range(width)))
            taken = time.perf_counter() - begun
            seconds = [one for share in shares for one in share]
            print(
                f"orchestration, {width} at a time: {len(seconds) / taken:.1f} runs/s, "
                f"a run {spread(seconds)}, {median(seconds) * 1000 / STEPS:.1f} ms a step "
                f"({STEPS} steps)"
            )
