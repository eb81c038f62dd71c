"""The demo overlay answers, pauses, and has every process replaced under load without a loss."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deploy.demo.location import QUESTIONS
from gateway import wire
from gateway.client import Client, RunId
from gateway.location import Location
from gateway.sse import ServerEvent
from tests.cluster.system import RunningCluster, running_cluster
from tests.servers import reachable_folder

QUESTION_LIST = [one["text"] for one in json.loads(QUESTIONS.read_text("utf-8"))["questions"]]
OUTSIDE_THE_LIBRARY = QUESTION_LIST[-2]
AT_ONCE = int(os.environ.get("CLUSTER_TURNS", "0"))
INDEXED_S = 120
COMPLETED = "COMPLETED"
STRAIGHT_ON = wire.TurnOptions(hitl_enabled=False)

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        sys.platform != "linux", reason="NEEDS LINUX: all of 127.0.0.0/8 is this machine only there"
    ),
    pytest.mark.skipif(
        AT_ONCE == 0,
        reason="TAKES MINUTES: `make rolling-update` does it, so it was not tried",
    ),
    pytest.mark.skipif(
        shutil.which("kubectl") is None,
        reason="NEEDS kubectl, which is not installed, so no overlay was run",
    ),
]


@pytest.fixture
async def cluster() -> AsyncIterator[RunningCluster]:
    with reachable_folder() as folder:
        async with running_cluster("demo", Path(folder)) as running:
            yield running


def client(cluster: RunningCluster) -> Client:
    return Client(Location(base_url=cluster.base_url, api_key=cluster.key))


async def test_every_process_is_replaced_under_load_and_nothing_is_lost(
    cluster: RunningCluster,
) -> None:
    async with client(cluster) as ours:
        await indexed(ours)
        asked = [event async for event in ours.ask(OUTSIDE_THE_LIBRARY)]
        waiting = asked[-1] if asked[-1].name == "request_input" else asked[-2]
        assert waiting.name == "request_input", [event.name for event in asked]
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            workers = [group.create_task(turns(cluster, place, stop)) for place in range(AT_ONCE)]
            for name in cluster.deployments:
                await cluster.replace_all(name)
            stop.set()
        ends = [end for worker in workers for end in worker.result()]
        assert set(ends) == {COMPLETED}
        assert len(ends) >= AT_ONCE
        answered = [event async for event in decided(ours, waiting)]
        assert answered[-1].data["state"] == "COMPLETED"
        assert [event.name for event in answered].count("answer") == 1


async def indexed(ours: Client) -> None:
    """Wait until the library can be searched in full."""
    async with asyncio.timeout(INDEXED_S):
        while True:
            library = await ours.library()
            if library.synced_at and 0 < library.vectors.total == library.vectors.done:
                return
            await asyncio.sleep(0.2)


async def turns(cluster: RunningCluster, place: int, stop: asyncio.Event) -> list[str]:
    """Ask one question after the other until told to stop; how each ended."""
    ends: list[str] = []
    async with client(cluster) as ours:
        while not stop.is_set():
            question = QUESTION_LIST[(place + len(ends)) % len(QUESTION_LIST)]
            events = [event async for event in ours.ask(question, options=STRAIGHT_ON)]
            errors = [str(event.data) for event in events if event.name == "error"]
            ends.append(" ".join([str(events[-1].data["state"]), *errors]))
    return ends


def decided(ours: Client, waiting: ServerEvent) -> AsyncIterator[ServerEvent]:
    run = RunId(
        session_id=str(waiting.data["session_id"]),
        invocation_id=str(waiting.data["invocation_id"]),
    )
    return ours.resume(run, str(waiting.data["interrupt_id"]), action="synthesize")
