"""The folder that keeps everything of one local installation between starts."""

import os
import secrets
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import site_state_path, user_data_path

from deploy.failure import CannotStart

DATA_VARIABLE = "ZOCRATES_DATA"
# Windows has no such flag; there the file is written as any other.
SYNCHRONOUS = getattr(os, "O_SYNC", 0)
LEAST_FREE_BYTES = 200 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFolder:
    """Where each part of the stack keeps its files."""

    root: Path

    @property
    def run_file(self) -> Path:
        """What the command line reads to find the running stack."""
        return self.root / "run.json"

    @property
    def lock_file(self) -> Path:
        """Held by the one stack that runs on this data."""
        return self.root / "stack.lock"

    @property
    def logs(self) -> Path:
        """One log a process."""
        return self.root / "logs"

    @property
    def postgres(self) -> Path:
        """Owned by the account that Postgres runs as."""
        return self.root / "postgres"

    @property
    def nats(self) -> Path:
        """The streams of JetStream."""
        return self.root / "nats"

    @property
    def indexes(self) -> Path:
        """One library index a library, so that changing the library loses none."""
        return self.root / "indexes"

    @property
    def postgres_password(self) -> Path:
        """Made once; without it the database cannot be opened."""
        return self.root / "postgres.password"

    @property
    def api_key(self) -> Path:
        """Made once; what the command line and the page show to the gateway."""
        return self.root / "api.key"

    @property
    def mind_file(self) -> Path:
        """The language model that was chosen, with its key."""
        return self.root / "mind.json"

    def log_of(self, name: str) -> Path:
        """The log of one process."""
        return self.logs / f"{name}.log"


def is_root() -> bool:
    """Whether this process may do anything on this machine; never on Windows."""
    return sys.platform != "win32" and os.geteuid() == 0


def chosen_root(named: Path | None, environ: Mapping[str, str]) -> Path:
    """The folder that was named, by argument or environment, or the usual one of this user."""
    if named is not None:
        return named.expanduser().resolve()
    if value := environ.get(DATA_VARIABLE):
        return Path(value).expanduser().resolve()
    return default_root()


def default_root() -> Path:
    """The usual folder: root's own home is closed to the account that Postgres runs as."""
    if is_root():
        return site_state_path("zocrates", appauthor=False)
    return user_data_path("zocrates", appauthor=False)


def prepare(root: Path) -> DataFolder:
    """Make the folder and prove that it can be written to; raises CannotStart."""
    folder = DataFolder(root=root)
    try:
        root.mkdir(parents=True, exist_ok=True)
        # Others may pass through to what they own (Postgres as root), but not look around.
        root.chmod(0o711 if is_root() else 0o700)
        for private in (folder.logs, folder.indexes):
            private.mkdir(mode=0o700, exist_ok=True)
        probe = root / f".probe-{os.getpid()}"
        probe.write_bytes(b"0" * 4096)
        probe.unlink()
        free = shutil.disk_usage(root).free
    except OSError as error:
        raise CannotStart(
            f"The data folder {str(root)!r} cannot be written to ({error.strerror}); "
            f"name another one with {DATA_VARIABLE}."
        ) from error
    if free < LEAST_FREE_BYTES:
        raise CannotStart(
            f"Only {free // 2**20} MB are free on the disk of {str(root)!r} and "
            f"{LEAST_FREE_BYTES // 2**20} MB are needed; free some or name another folder "
            f"with {DATA_VARIABLE}."
        )
    return folder


def lasting_secret(path: Path) -> str:
    """The secret kept in a private file, made on first use."""
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        value = secrets.token_urlsafe(32)
        write_lasting(path, value + "\n")
        return value


def write_private(path: Path, text: str) -> None:
    """Replace a file at once by one that only its owner can read."""
    os.replace(_written_beside(path, text, os.O_TRUNC), path)


def write_lasting(path: Path, text: str) -> None:
    """The same, for what must be there after a power failure too; that takes its time."""
    os.replace(_written_beside(path, text, os.O_TRUNC | SYNCHRONOUS), path)


def _written_beside(path: Path, text: str, flags: int) -> Path:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | flags, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return beside
