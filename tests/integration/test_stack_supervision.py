"""Supervision with small programs in place of the real ones."""

import asyncio
import io
import os
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from deploy.console import Console
from deploy.data_folder import DataFolder, prepare
from deploy.failure import CannotStart
from deploy.processes import Program
from deploy.supervision import Supervisor

PATIENCE_S = 20


class Scene:
    """A supervisor and what it said."""

    def __init__(self, data: DataFolder) -> None:
        self.said = io.StringIO()
        self.data = data
        self.supervisor = Supervisor(data=data, console=Console(self.said), changed=lambda: None)

    def program(self, code: str, name: str = "worker", grace_s: float = 10) -> Program:
        return Program(
            name=name,
            command=(sys.executable, "-u", "-c", code),
            environment=dict(os.environ),
            folder=self.data.root,
            grace_s=grace_s,
        )

    def log(self, name: str = "worker") -> str:
        path = self.data.log_of(name)
        return path.read_text() if path.exists() else ""

    async def heard(self, text: str, name: str = "worker") -> None:
        async with asyncio.timeout(PATIENCE_S):
            while text not in self.log(name):  # noqa: ASYNC110  # a file tells nobody
                await asyncio.sleep(0.01)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    scene = Scene(prepare(tmp_path / "data"))
    yield scene
    await scene.supervisor.stop([])


async def test_a_program_that_fails_is_told_with_its_last_words(scene: Scene) -> None:
    program = scene.program("print('one'); raise SystemExit('no space left')")
    with pytest.raises(CannotStart, match=r"worker failed \(exit code 1: no space left\); read "):
        await scene.supervisor.run_once(program)


async def test_a_program_that_does_not_exist_is_one_sentence(scene: Scene) -> None:
    program = Program(name="ghost", command=("/no/such/program",), environment={}, folder=Path("/"))
    with pytest.raises(CannotStart, match="ghost cannot be started: '/no/such/program'"):
        await scene.supervisor.keep(program)


async def test_a_program_that_always_fails_is_given_up_after_five_deaths(scene: Scene) -> None:
    await scene.supervisor.keep(scene.program("raise SystemExit('bad setting')"))
    with pytest.raises(CannotStart, match=r"stopped 5 times .*\(exit code 1: bad setting\); read "):
        await asyncio.wait_for(scene.supervisor.failed, PATIENCE_S)
    assert scene.log() == "bad setting\n" * 5
    assert scene.said.getvalue().count("starting it again") == 4


async def test_a_program_that_refuses_its_settings_is_not_started_again(scene: Scene) -> None:
    code = "print('max_tools is no setting.'); raise SystemExit(2)"
    await scene.supervisor.keep(replace(scene.program(code), refusal=2))
    with pytest.raises(CannotStart, match=r"^worker cannot start: max_tools is no setting; read "):
        await asyncio.wait_for(scene.supervisor.failed, PATIENCE_S)
    assert scene.log() == "max_tools is no setting.\n"


def is_running(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


async def test_a_child_that_keeps_the_output_open_hides_no_death(scene: Scene) -> None:
    # The grandchild inherits the output and would sleep on.
    code = (
        "import subprocess, sys;"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
        "print(child.pid)"
    )
    await asyncio.wait_for(scene.supervisor.run_once(scene.program(code)), PATIENCE_S)
    pid = int(scene.log())
    # The signal is sent; when the system acts on it is its own business.
    async with asyncio.timeout(PATIENCE_S):
        while is_running(pid):  # noqa: ASYNC110 (what is waited for is another process)
            await asyncio.sleep(0.01)


async def test_a_program_that_does_not_want_to_stop_is_ended_after_its_grace(scene: Scene) -> None:
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('up'); time.sleep(60)"
    )
    await scene.supervisor.keep(scene.program(code, grace_s=0.2))
    await scene.heard("up")
    await asyncio.wait_for(scene.supervisor.stop([["worker"]]), PATIENCE_S)
    assert scene.supervisor.recorded == {}


async def test_programs_stop_in_the_order_that_is_given(scene: Scene, tmp_path: Path) -> None:
    stopped = tmp_path / "stopped"
    for name in ("second", "first"):
        code = (
            "import signal, sys, time\n"
            "def stop(*_):\n"
            f"    open({str(stopped)!r}, 'a').write('{name} '); sys.exit()\n"
            "signal.signal(signal.SIGTERM, stop); print('up'); time.sleep(60)"
        )
        await scene.supervisor.keep(scene.program(code, name))
        await scene.heard("up", name)
    await scene.supervisor.stop([["first"], ["second"]])
    assert stopped.read_text() == "first second "


async def test_warnings_are_relayed_and_the_rest_goes_to_the_log(scene: Scene) -> None:
    lines = ('{"level": "info", "event": "quiet"}', '{"level": "warning", "event": "loud"}')
    await scene.supervisor.run_once(scene.program(f"print({lines[0]!r}); print({lines[1]!r})"))
    assert scene.log().splitlines() == list(lines)
    assert scene.said.getvalue() == "      worker | loud\n"


async def test_a_line_without_an_end_is_kept_in_pieces(scene: Scene) -> None:
    await scene.supervisor.run_once(scene.program("print('x' * 1_000_000, end='')"))
    assert len(scene.log().replace("\n", "")) == 1_000_000
