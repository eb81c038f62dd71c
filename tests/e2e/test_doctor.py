"""`zocrates doctor` says in a line each what is wrong, and what to do."""

import os
import signal
import subprocess
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.run_file import Recorded, RunFile
from tests.e2e.conftest import Stack

ZOCRATES = Path(sysconfig.get_path("scripts")) / "zocrates"
NOTICED_S = 30


def doctor(data: Path, **environ: str) -> tuple[int, list[str]]:
    done = subprocess.run(
        [ZOCRATES, "doctor", "--data", data],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **environ},
    )
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def wrong(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("WRONG")]


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + NOTICED_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.5)


def test_everything_is_well_with_a_running_stack(stack: Stack) -> None:
    until(lambda: doctor(stack.data)[0] == 0)
    code, lines = doctor(stack.data)
    assert (code, wrong(lines)) == (0, [])
    assert any(line.startswith("ok     questions ") for line in lines)
    assert any("vectors for" in line for line in lines)


def test_a_process_that_hangs_is_named_with_its_log(stack: Stack) -> None:
    hung = stack.pids["rerank"]
    os.kill(hung, signal.SIGSTOP)
    try:
        until(lambda: bool(wrong(doctor(stack.data)[1])))
        code, lines = doctor(stack.data)
    finally:
        os.kill(hung, signal.SIGCONT)
    log = stack.data / "logs" / "rerank.log"
    assert code == 1
    assert wrong(lines) == [f"WRONG  rerank         others do not reach it; read {log}"]
    until(lambda: doctor(stack.data)[0] == 0)


def test_a_stack_that_was_killed_is_told_from_one_that_was_stopped(own_data: Path) -> None:
    code, lines = doctor(own_data)
    assert (code, lines[-1].split(maxsplit=2)[:2]) == (0, ["note", "stack"])
    gone = Recorded(pid=2**22 - 1, started=0.0, command=("gone",))
    RunFile(
        version="0",
        state="ready",
        base_url="http://127.0.0.1:1",
        api_key="",
        data=str(own_data),
        token="",
        pids={"stack": gone},
    ).write(own_data / "run.json")
    code, lines = doctor(own_data)
    assert code == 1
    assert "it was killed" in wrong(lines)[0]


@pytest.mark.skipif(os.name != "posix", reason="permissions of files are those of POSIX")
def test_a_secret_that_others_can_read_is_wrong(own_data: Path) -> None:
    (own_data / "api.key").write_text("secret\n")
    (own_data / "api.key").chmod(0o644)
    code, lines = doctor(own_data)
    assert code == 1
    assert wrong(lines)[0].endswith("close them with: chmod 600 FILE")


def test_a_library_and_a_model_that_cannot_be_used_are_named(own_data: Path) -> None:
    (own_data / "mind.json").write_text("{")
    (own_data / "mind.json").chmod(0o600)
    code, lines = doctor(own_data, ZOCRATES_LIBRARY="/nowhere", SYNTH_MODEL="")
    assert code == 1
    assert [line.split()[1] for line in wrong(lines)] == ["library", "language"]
