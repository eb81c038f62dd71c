import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from deploy.environment import TOKEN_VARIABLE
from deploy.orphans import proven, stop_leftovers, token_carriers
from deploy.processes import recorded
from deploy.run_file import Recorded
from tests.unit.test_stack_run_file import RUN

SLEEP = "import time; print('up', flush=True); time.sleep(60)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEP}"


@contextmanager
def sleeping(
    code: str = SLEEP, **variables: str
) -> Iterator[tuple[subprocess.Popen[str], Recorded]]:
    command = [sys.executable, "-c", code]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **variables}
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    try:
        yield process, recorded(process.pid, tuple(command))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def has_ended(process: subprocess.Popen[str]) -> bool:
    return psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE or (
        process.poll() is not None
    )


def test_a_recorded_process_is_stopped(tmp_path: Path) -> None:
    with sleeping() as (process, record):
        run = replace(RUN, pids={"search": record})
        assert stop_leftovers(run, tmp_path) == ["search"]
        assert has_ended(process)


def test_one_that_does_not_listen_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deploy.orphans.PATIENCE_S", 0.2)
    with sleeping(STUBBORN) as (process, record):
        stop_leftovers(replace(RUN, pids={"search": record}), tmp_path)
        assert has_ended(process)


def test_a_process_with_the_same_id_but_another_start_is_left_alone(tmp_path: Path) -> None:
    with sleeping() as (process, record):
        earlier = replace(record, started=record.started - 60)
        assert stop_leftovers(replace(RUN, pids={"search": earlier}), tmp_path) == []
        assert not has_ended(process)


def test_a_process_with_the_same_id_but_another_command_is_left_alone(tmp_path: Path) -> None:
    with sleeping() as (process, record):
        other = replace(record, command=(sys.executable, "-m", "services.search"))
        assert stop_leftovers(replace(RUN, pids={"search": other}), tmp_path) == []
        assert not has_ended(process)


def test_a_worker_is_known_by_the_token_in_its_environment(tmp_path: Path) -> None:
    token = f"token-of-this-test-{time.monotonic_ns()}"
    with sleeping(**{TOKEN_VARIABLE: token}) as (ours, _), sleeping() as (other, _):
        assert [process.pid for process in token_carriers(token)] == [ours.pid]
        stop_leftovers(replace(RUN, pids={}, token=token), tmp_path)
        assert has_ended(ours)
        assert not has_ended(other)


def test_an_empty_token_proves_nothing() -> None:
    with sleeping(**{TOKEN_VARIABLE: ""}):
        assert token_carriers("") == []


def test_one_that_ended_by_itself_needs_no_stopping(tmp_path: Path) -> None:
    with sleeping() as (process, record):
        process.kill()
        process.wait()
        assert proven(record) is None
        assert stop_leftovers(replace(RUN, pids={"search": record}), tmp_path) == []


def test_a_lock_of_a_program_that_is_no_postgres_leads_to_no_stop(tmp_path: Path) -> None:
    with sleeping() as (process, _):
        (tmp_path / "postmaster.pid").write_text(f"{process.pid}\n{tmp_path}\n")
        assert stop_leftovers(None, tmp_path) == []
        assert not has_ended(process)
