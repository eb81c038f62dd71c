"""Every program of the local stack, as the supervisor runs it."""

import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deploy.data_folder import DataFolder
from deploy.environment import TOKEN_VARIABLE, Surroundings, process_environment, target
from deploy.nats_server import nats_binary, nats_command
from deploy.ports import HOST
from deploy.postgres import Postgres
from deploy.processes import Program

PROCESSES = ("search", "rerank", "synth", "orchestrator", "gateway")
# Whoever is asked stops before those it asks.
STOP_ORDER = (
    ("gateway",),
    ("orchestrator",),
    ("search", "rerank", "synth"),
    ("nats",),
    ("postgres",),
)
CONFIG_NAME = "zocrates_config.json"
READINESS_PATH = "readiness"


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """Makes the programs of one stack."""

    data: DataFolder
    postgres_server: Postgres
    surroundings: Surroundings
    given: Mapping[str, str]

    def process(self, name: str) -> Program:
        """One of the five processes."""
        module = "gateway" if name == "gateway" else f"services.{name}"
        return self._python(name, "-m", module)

    def migrate(self) -> Program:
        """Brings the database to this version's tables, and ends."""
        return self._python("migrate", "-m", "services.orchestrator.store.migrate")

    def models(self) -> Program:
        """Exports the models unless that was done, and ends."""
        return self._python("models", "-m", "deploy.models")

    def readiness(self) -> Program:
        """Ends when all five processes are ready."""
        ports = self.surroundings.ports
        targets = {name: target(ports, name) for name in PROCESSES if name != "gateway"}
        targets["gateway"] = f"http://{target(ports, 'gateway')}/{READINESS_PATH}"
        asked = (f"{name}={where}" for name, where in targets.items())
        return self._python("readiness", "-m", "deploy.readiness", *asked)

    def postgres(self) -> Program:
        """The database server."""
        server = self.postgres_server
        return Program(
            name="postgres",
            command=server.command(self.surroundings.ports["postgres"]),
            environment=self._server_environment(),
            folder=server.folder,
            account=server.account,
            # Ends connections and writes everything down, without waiting for clients to leave.
            stop_signal=signal.SIGINT,
            grace_s=30,
        )

    def nats(self) -> Program:
        """The message server."""
        port = self.surroundings.ports["nats"]
        return Program(
            name="nats",
            command=nats_command(nats_binary(), port=port, store=self.data.nats),
            environment=self._server_environment(),
            folder=self.data.root,
        )

    def _python(self, name: str, *arguments: str) -> Program:
        return Program(
            name=name,
            # -P: a folder named `services` where the command was typed must not shadow ours.
            command=(sys.executable, "-P", *arguments),
            environment=process_environment(name, self.given, self.surroundings),
            folder=self.data.root,
            refusal=2,
        )

    def _server_environment(self) -> dict[str, str]:
        kept = ("PATH", "HOME", "TMPDIR", "SYSTEMROOT", "TEMP", "TMP")
        environment = {name: self.given[name] for name in kept if name in self.given}
        return {**environment, "LC_ALL": "C", TOKEN_VARIABLE: self.surroundings.token}


def config_file(data: DataFolder) -> Path:
    """The ceilings' file: the data folder's own, else the one that ships with this version."""
    here = Path(__file__).resolve().parent
    places = (data.root / CONFIG_NAME, here / CONFIG_NAME, here.parent / CONFIG_NAME)
    return next((place for place in places if place.is_file()), places[-1])


def base_url(port: int) -> str:
    """Where the gateway is found."""
    return f"http://{HOST}:{port}"


def given_environment() -> dict[str, str]:
    """What the processes inherit from the shell."""
    return dict(os.environ)
