"""One replica: the command of its container with its environment, as a process with an address."""

import asyncio
import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deploy.readiness import grpc_serves, http_serves
from tests.image_folder import ImageFolder
from tests.manifests import Workload

START_S = 240
TARGET = re.compile(r"^dns:///")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What stands in for the network and the disks of a cluster."""

    secrets: Mapping[str, Mapping[str, str]]
    name_server: int
    stores: Mapping[str, str]
    """What `name:port` of a store is here."""
    volumes: Path


class Pod:
    """A process that a cluster would run in a container."""

    def __init__(
        self, workload: Workload, image: ImageFolder, address: str, around: Surroundings
    ) -> None:
        self.workload = workload
        self.address = address
        self._image = image
        self._around = around
        self._process: asyncio.subprocess.Process | None = None
        self.log = around.volumes / f"{workload.name}-{address}.log"

    async def start(self) -> None:
        """Start, and wait until the probe of the manifest is answered."""
        with self.log.open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._image.command(tuple(self.workload.container.get("command", ()))),
                cwd=self._image.folder,
                env=self._image.environment(self._environment()),
                stdout=log,
                stderr=log,
            )
        if self.workload.kind == "Job":
            return
        ready = asyncio.ensure_future(self._ready())
        ended = asyncio.ensure_future(self._process.wait())
        await asyncio.wait({ready, ended}, timeout=START_S, return_when=asyncio.FIRST_COMPLETED)
        is_ready = ready.done()
        for waiting in (ready, ended):
            waiting.cancel()
        if not is_ready:
            raise TimeoutError(f"{self.workload.name} did not become ready")

    async def ended(self) -> int:
        """Wait for its end; returns its exit code."""
        assert self._process is not None
        async with asyncio.timeout(START_S):
            return await self._process.wait()

    async def stop(self) -> int:
        """Ask it to end as a cluster does, and give it the time that its manifest grants."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(self.workload.pod["terminationGracePeriodSeconds"]):
            return await self._process.wait()

    async def kill(self) -> None:
        """End it at once, if it runs."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def _ready(self) -> None:
        probe = self.workload.container["readinessProbe"]
        if "grpc" in probe:
            await grpc_serves(f"{self.address}:{probe['grpc']['port']}")
            return
        ports = {one["name"]: one["containerPort"] for one in self.workload.container["ports"]}
        asked = probe["httpGet"]
        await http_serves(f"http://{self.address}:{ports[asked['port']]}{asked['path']}")

    def _environment(self) -> dict[str, str]:
        told = {**self._image.image.environment, **self.workload.environment(self._around.secrets)}
        return {
            **{name: self._here(value) for name, value in told.items()},
            "TMPDIR": str(self._volume("tmp")),
            # The resolver that can be told which name server to ask.
            "GRPC_DNS_RESOLVER": "ares",
        }

    def _here(self, value: str) -> str:
        """A value of the cluster as it is on this machine."""
        if value == "0.0.0.0":
            return self.address
        value = TARGET.sub(f"dns://127.0.0.1:{self._around.name_server}/", value)
        for there, here in self._around.stores.items():
            value = value.replace(there, here)
        for mount in self.workload.container.get("volumeMounts", ()):
            if value == mount["mountPath"] or value.startswith(f"{mount['mountPath']}/"):
                rest = value.removeprefix(mount["mountPath"]).removeprefix("/")
                return str(self._volume(mount["name"]) / rest)
        return self._image.rooted(value)

    def _volume(self, name: str) -> Path:
        """A lasting volume is the same for every pod; what is empty at first is the pod's own."""
        volumes = self.workload.pod.get("volumes", ())
        lasting = [one["name"] for one in volumes if "emptyDir" not in one]
        owner = self.workload.name if name in lasting else f"{self.workload.name}-{self.address}"
        folder = self._around.volumes / owner / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder
