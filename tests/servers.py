"""Real Postgres and NATS servers that tests start, kill and start again."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import asyncpg
from sqlalchemy.engine import make_url

from deploy.nats_server import nats_binary
from deploy.postgres import Postgres, as_account

START_S = 30
FIRST_PORT = 20_000
PORTS_OF_A_WORKER = 1_000


def free_port() -> int:
    """A port that nobody listens on, from a range that belongs to this test worker alone.

    Below the range that the system hands out by itself: neither another worker nor an outgoing
    connection can take it before the server that it is meant for.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = FIRST_PORT + worker * PORTS_OF_A_WORKER
    while True:
        # Not the seeded generator: two tests must not start on the same port.
        port = first + secrets.randbelow(PORTS_OF_A_WORKER)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@contextmanager
def reachable_folder() -> Iterator[Path]:
    """A folder that an unprivileged account can enter, which pytest's own is not."""
    folder = Path(tempfile.mkdtemp(prefix="zocrates-test-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class PostgresServer:
    """A cluster that a test may also kill and start again."""

    def __init__(
        self, postgres: Postgres, port: int, *, durable: bool = False, options: Sequence[str] = ()
    ) -> None:
        self._postgres = postgres
        self._port = port
        self._options = options
        # Tests need no protection from a power cut; measurements must pay for it.
        self._fsync = "on" if durable else "off"
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: str) -> str:
        """What SQLAlchemy connects to."""
        url = make_url(self._postgres.url(self._port)).set(database=database)
        return url.render_as_string(hide_password=False)

    @property
    def pid(self) -> int:
        """The process that all others of the server descend from."""
        assert self._process is not None, "the server does not run"
        return self._process.pid

    def start(self) -> None:
        """Start, and wait until connections are accepted."""
        deadline = time.monotonic() + START_S
        while True:
            self._process = subprocess.Popen(
                [
                    *self._postgres.command(self._port),
                    f"--fsync={self._fsync}",
                    "--max_connections=120",
                    *self._options,
                ],
                cwd=self._postgres.folder,
                stderr=subprocess.DEVNULL,
                **as_account(self._postgres.account),
            )
            while self._process.poll() is None:
                ready = subprocess.run(self._postgres.readiness_command(self._port), check=False)
                if ready.returncode == 0:
                    return
                assert time.monotonic() < deadline, "Postgres did not become ready"
                time.sleep(0.05)
            # Right after a kill the shared memory of the old server may still be there.
            assert time.monotonic() < deadline, "Postgres did not start"
            time.sleep(0.2)

    def kill(self) -> None:
        """Stop as a crash does: connections break, committed data stays."""
        self._stop(signal.SIGQUIT)

    def stop(self) -> None:
        """Stop in order, without waiting for clients."""
        self._stop(signal.SIGINT)

    def _stop(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(START_S)
            self._process = None


class NatsServer:
    """A NATS server that a test may also kill and start again on the same port."""

    def __init__(self, folder: Path, port: int, *, options: Sequence[str] = ()) -> None:
        self._folder = folder
        self._port = port
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The server's process."""
        assert self._process is not None, "the server does not run"
        return self._process.pid

    @property
    def url(self) -> str:
        """What clients connect to."""
        return f"nats://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start, and wait until connections are accepted."""
        options = ["-js", "-sd", str(self._folder), "-a", "127.0.0.1", "-p", str(self._port)]
        self._process = subprocess.Popen(
            [str(nats_binary()), *options, *self._options],
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + START_S
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 1):
                return
            assert self._process.poll() is None, "NATS did not start"
            assert time.monotonic() < deadline, "NATS did not become ready"
            time.sleep(0.02)

    def forget(self) -> None:
        """Lose all that was stored."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def kill(self) -> None:
        """Stop at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(START_S)
            self._process = None


async def emptied(url: str) -> bool:
    """Delete all rows; False when a table is still in use, and the database with it."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        await connection.execute("SET lock_timeout = '1s'; TRUNCATE session CASCADE")
        await connection.execute("TRUNCATE request_key")
    except asyncpg.LockNotAvailableError:
        return False
    finally:
        await connection.close()
    return True


async def create_database(server: PostgresServer, name: str, *, template: str) -> None:
    """Make a database as a copy of another."""
    dsn = server.url("postgres").replace("+asyncpg", "")
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    finally:
        await connection.close()
