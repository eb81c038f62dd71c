"""The cluster of the local stack, with the real programs."""

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.account import Account, closed_folder
from deploy.data_folder import is_root
from deploy.failure import CannotStart
from deploy.orphans import server_on, stop_leftovers
from deploy.postgres import Postgres, as_account, find_postgres
from tests.servers import free_port, reachable_folder

needs_root = pytest.mark.skipif(
    not is_root(), reason="NEEDS ROOT: running Postgres as another account was not tested"
)


@pytest.fixture
def data() -> Iterator[Path]:
    with reachable_folder() as folder:
        yield folder


@pytest.fixture
def server(data: Path) -> Postgres:
    return find_postgres(data / "postgres", "the-password")


def started(server: Postgres, port: int) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        server.command(port),
        cwd=server.folder,
        stderr=subprocess.DEVNULL,
        **as_account(server.account),
    )
    while process.poll() is None:
        if subprocess.run(server.readiness_command(port), check=False).returncode == 0:
            return process
    raise AssertionError(f"Postgres ended with {process.returncode}")


def test_a_cluster_is_made_once_and_is_private(server: Postgres) -> None:
    assert server.ensure_cluster()
    assert not server.ensure_cluster()
    assert stat.S_IMODE(server.cluster.stat().st_mode) == 0o700
    assert [path.name for path in server.folder.iterdir()] == ["cluster"]


def test_a_start_that_was_killed_while_making_the_cluster_is_made_good(server: Postgres) -> None:
    half = server.folder / "cluster.unfinished" / "base"
    half.mkdir(parents=True)
    assert server.ensure_cluster()
    assert not half.exists()


def test_a_lock_whose_process_id_went_to_another_program_does_not_block(server: Postgres) -> None:
    server.ensure_cluster()
    lock = server.cluster / "postmaster.pid"
    lock.write_text(f"{os.getpid()}\n{server.cluster}\n")
    server.ensure_cluster()
    assert not lock.exists()


def test_a_server_that_was_left_running_is_found_and_stopped(server: Postgres) -> None:
    server.ensure_cluster()
    process = started(server, free_port())
    try:
        found = server_on(server.cluster)
        assert found is not None
        assert found.pid == process.pid
        assert stop_leftovers(None, server.cluster) == ["postgres"]
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()


def test_nobody_enters_without_the_password(server: Postgres) -> None:
    server.ensure_cluster()
    rules = (server.cluster / "pg_hba.conf").read_text().splitlines()
    methods = {line.split()[-1] for line in rules if line and not line.startswith("#")}
    assert methods == {"scram-sha-256"}


@needs_root
def test_programs_that_the_account_cannot_reach_are_copied_and_work(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(account: Account, path: Path) -> Path | None:
        return path if path.name == "bin" else closed_folder(account, path)

    monkeypatch.setattr("deploy.postgres.closed_folder", closed)
    server = find_postgres(data / "postgres", "the-password")
    assert server.binaries.is_relative_to(data / "programs")
    assert server.ensure_cluster()
    process = started(server, free_port())
    process.terminate()
    assert process.wait(10) == 0


@needs_root
def test_a_data_folder_that_the_account_cannot_reach_is_one_sentence(data: Path) -> None:
    closed = data / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(CannotStart, match=rf"cannot enter '{closed}'; name a data folder"):
        find_postgres(closed / "inner" / "postgres", "the-password")
