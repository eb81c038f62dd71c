"""The demo overlay answers, pauses, and has every process replaced under load without a loss."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.cluster.installation import DEMO
from tests.cluster.people import COMPLETED, client, decided, indexed, paused, turns
from tests.cluster.system import RunningCluster, running_cluster
from tests.servers import reachable_folder

AT_ONCE = int(os.environ.get("CLUSTER_TURNS", "0"))

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
        async with running_cluster(DEMO, Path(folder)) as running:
            yield running


async def test_every_process_is_replaced_under_load_and_nothing_is_lost(
    cluster: RunningCluster,
) -> None:
    async with client(cluster) as ours:
        await indexed(ours)
        waiting = await paused(ours)
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
