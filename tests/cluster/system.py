"""An overlay on this machine: its containers as processes, with names, addresses and disks.

Every pod has an address of its own (all of 127.0.0.0/8 is this machine), so that ports, names and
the choice of a replica are those of a cluster. What a cluster adds (policies, limits, schedules)
is not here.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path

from deploy.postgres import find_postgres
from tests.cluster.entrance import entrance
from tests.cluster.installation import Installation
from tests.cluster.names import name_server
from tests.cluster.pod import Pod, Surroundings
from tests.dockerfile import images
from tests.image_folder import ImageFolder, lay_out
from tests.manifests import Workload, our_workloads
from tests.servers import NatsServer, PostgresServer, free_port

GATEWAY_PORT = 8080


class Cluster:
    """What runs, by workload."""

    def __init__(
        self,
        workloads: Mapping[str, Workload],
        layouts: Mapping[str, ImageFolder],
        replicas: Mapping[str, int],
    ) -> None:
        self.workloads = workloads
        self._replicas = replicas
        self.addresses: dict[str, list[str]] = {name: [] for name in workloads}
        self.pods: dict[str, list[Pod]] = {name: [] for name in workloads}
        self._layouts = layouts
        network = f"127.{10 + secrets.randbelow(200)}.{secrets.randbelow(250)}"
        self._free = (f"{network}.{number}" for number in count(1))

    async def run_job(self, name: str, around: Surroundings) -> None:
        """Run a job to its end."""
        pod = self._pod(name, around)
        await pod.start()
        assert await pod.ended() == 0, pod.log.read_text("utf-8")

    async def deploy(self, name: str, around: Surroundings) -> None:
        """Start all replicas of a deployment."""
        replicas = self._replicas.get(name, self.workloads[name].manifest["spec"]["replicas"])
        await asyncio.gather(*(self._add(name, around) for _ in range(replicas)))

    async def replace_all(self, name: str, around: Surroundings) -> None:
        """Replace every replica by a new one, as the strategy of the deployment says."""
        strategy = self.workloads[name].manifest["spec"]["strategy"]
        for old in list(self.pods[name]):
            if strategy.get("type") == "Recreate":
                await self._remove(old)
                await self._add(name, around)
            else:
                assert strategy["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
                await self._add(name, around)
                await self._remove(old)

    async def lose(self, name: str, around: Surroundings) -> None:
        """Kill the oldest replica without a word, and start another."""
        pod = self.pods[name].pop(0)
        await pod.kill()
        self.addresses[name].remove(pod.address)
        await self._add(name, around)

    async def end(self) -> None:
        """End everything at once."""
        await asyncio.gather(*(pod.kill() for pods in self.pods.values() for pod in pods))

    def _pod(self, name: str, around: Surroundings) -> Pod:
        workload = self.workloads[name]
        pod = Pod(workload, self._layouts[workload.target], next(self._free), around)
        self.pods[name].append(pod)
        return pod

    async def _add(self, name: str, around: Surroundings) -> None:
        pod = self._pod(name, around)
        try:
            await pod.start()
        except TimeoutError as error:
            raise AssertionError(f"{pod.log.name}: {pod.log.read_text('utf-8')}") from error
        self.addresses[name].append(pod.address)

    async def _remove(self, pod: Pod) -> None:
        """Take it out of its service and stop it, without the farewell that its manifest grants."""
        self.addresses[pod.workload.name].remove(pod.address)
        try:
            code = await pod.stop()
        except TimeoutError as error:
            raise AssertionError(f"{pod.log.name}: {pod.log.read_text('utf-8')}") from error
        self.pods[pod.workload.name].remove(pod)
        log = pod.log.read_text("utf-8")
        assert code == 0, log
        assert "Traceback" not in log, log


class RunningCluster:
    """A cluster that takes questions at an address."""

    def __init__(self, cluster: Cluster, around: Surroundings, port: int, key: str) -> None:
        self.base_url = f"http://127.0.0.1:{port}"
        self.key = key
        self._cluster = cluster
        self._around = around

    @property
    def deployments(self) -> list[str]:
        """The names of what serves."""
        found = self._cluster.workloads.values()
        return [one.name for one in found if one.kind == "Deployment"]

    @property
    def pods(self) -> Mapping[str, Sequence[Pod]]:
        """What runs, by workload."""
        return self._cluster.pods

    async def replace_all(self, name: str) -> None:
        """Replace every replica of a deployment, one after the other."""
        await self._cluster.replace_all(name, self._around)

    async def lose(self, name: str) -> None:
        """Kill a replica, which is replaced by another."""
        await self._cluster.lose(name, self._around)


@asynccontextmanager
async def running_cluster(
    installation: Installation, folder: Path
) -> AsyncIterator[RunningCluster]:
    """Start an overlay with real stores; everything ends with the block."""
    password, key = secrets.token_urlsafe(16), secrets.token_urlsafe(24)
    workloads = {one.name: one for one in our_workloads(installation.overlay)}
    targets = {one.target for one in workloads.values()}
    layouts = {one: lay_out(images()[one], folder / "images" / one) for one in targets}
    cluster = Cluster(workloads, layouts, installation.replicas)
    async with AsyncExitStack() as opened:
        around = Surroundings(
            secrets=installation.secrets(password, key),
            name_server=await opened.enter_async_context(name_server(cluster.addresses)),
            stores=_stores(folder, password, opened),
            volumes=folder / "volumes",
        )
        around.volumes.mkdir()
        opened.push_async_callback(cluster.end)
        await cluster.run_job("migrate", around)
        deployed = [one.name for one in workloads.values() if one.kind == "Deployment"]
        await asyncio.gather(*(cluster.deploy(name, around) for name in deployed))
        port = await opened.enter_async_context(
            entrance(cluster.addresses, "gateway", GATEWAY_PORT)
        )
        yield RunningCluster(cluster, around, port, key)


def _stores(folder: Path, password: str, opened: AsyncExitStack) -> Mapping[str, str]:
    """Postgres and NATS, and what stands for their names here."""
    found = find_postgres(folder / "postgres", password)
    found.ensure_cluster()
    postgres_port, nats_port = free_port(), free_port()
    postgres = PostgresServer(found, postgres_port)
    postgres.start()
    opened.callback(postgres.stop)
    nats = NatsServer(folder / "nats", nats_port)
    nats.start()
    opened.callback(nats.kill)
    return {
        "postgres:5432": f"127.0.0.1:{postgres_port}",
        "nats:4222": f"127.0.0.1:{nats_port}",
        "nats.nats.svc:4222": f"127.0.0.1:{nats_port}",
    }
