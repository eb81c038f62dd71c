"""The production overlay with three replicas of each process and two gateways."""

import asyncio
import os
import shutil
import sys
import sysconfig
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.cluster.installation import production
from tests.cluster.people import COMPLETED, client, decided, indexed, paused, turns
from tests.cluster.system import RunningCluster, running_cluster
from tests.e2e.conftest import ADDRESS, KEY
from tests.servers import reachable_folder

AT_ONCE = int(os.environ.get("CLUSTER_TURNS", "0"))
CALLED = ("search", "rerank", "synth", "orchestrator")
REPLICAS = {**dict.fromkeys(CALLED, 3), "gateway": 2}
PUBLIC = tuple(
    f"tests/e2e/test_{name}.py" for name in ("questions", "shannon_sdk", "published_description")
)
GRPCURL = Path(sysconfig.get_path("scripts")) / "grpcurl"

pytestmark = [
    pytest.mark.timeout(1800),
    pytest.mark.skipif(
        sys.platform != "linux", reason="NEEDS LINUX: all of 127.0.0.0/8 is this machine only there"
    ),
    pytest.mark.skipif(
        AT_ONCE == 0, reason="TAKES MINUTES: `make replicas` does it, so it was not tried"
    ),
    pytest.mark.skipif(
        shutil.which("kubectl") is None,
        reason="NEEDS kubectl, which is not installed, so no overlay was run",
    ),
]


@pytest.fixture
async def cluster() -> AsyncIterator[RunningCluster]:
    with reachable_folder() as folder, production(REPLICAS) as installation:
        async with running_cluster(installation, Path(folder)) as running:
            yield running


async def test_three_of_each_answer_as_one_and_any_of_them_may_die(
    cluster: RunningCluster,
) -> None:
    assert {name: len(cluster.pods[name]) for name in REPLICAS} == REPLICAS
    async with client(cluster) as ours:
        await indexed(ours)
        waiting = await paused(ours)
        for pod in (
            pod for name, pods in cluster.pods.items() if name != "gateway" for pod in pods
        ):
            if pod.workload.kind == "Deployment":
                await is_seen_by_grpcurl(f"{pod.address}:{pod.workload.grpc_port}")
        await passes_as_one_stack_does(cluster)
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            workers = [group.create_task(turns(cluster, place, stop)) for place in range(AT_ONCE)]
            for name in CALLED:
                await cluster.lose(name)
            stop.set()
        assert {end for worker in workers for end in worker.result()} == {COMPLETED}
        answered = [event async for event in decided(ours, waiting)]
        assert answered[-1].data["state"] == COMPLETED
        assert [event.name for event in answered].count("answer") == 1


async def passes_as_one_stack_does(cluster: RunningCluster) -> None:
    """The tests of the whole stack that need nothing but its address."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pytest", "-q", *PUBLIC),
        env={**os.environ, ADDRESS: cluster.base_url, KEY: cluster.key},
    )
    assert await process.wait() == 0


async def is_seen_by_grpcurl(address: str) -> None:
    """A person can look at the process, and it says that it serves."""
    process = await asyncio.create_subprocess_exec(
        *(GRPCURL, "-plaintext", "-max-time", "20", address, "grpc.health.v1.Health/Check"),
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await asyncio.wait_for(process.communicate(), 30)
    assert b'"SERVING"' in said, address
