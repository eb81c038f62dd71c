"""The local stack as a context manager, for tests and measurements.

It is the very command that a person runs, in a process of its own, so there is one truth about how
the pieces start and stop.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from deploy.run_file import RunFile, read_run_file

START_S = 180.0
STOP_S = 60.0
PAUSE_S = 0.05
SUPERVISOR = "stack"


class StackFailed(Exception):
    """The stack did not start or stop; the text holds what it said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningStack:
    """A stack that is ready."""

    data: Path
    supervisor: subprocess.Popen[bytes]
    output: Path

    @property
    def run(self) -> RunFile:
        """What run.json says now."""
        run = read_run_file(self.data / "run.json")
        if run is None:
            raise StackFailed(f"The stack is gone.\n{self.said()}")
        return run

    @property
    def base_url(self) -> str:
        """Where the gateway is."""
        return self.run.base_url

    @property
    def api_key(self) -> str:
        """The key that the gateway asks for."""
        return self.run.api_key

    @property
    def ports(self) -> Mapping[str, int]:
        """The ports of the processes by name."""
        return self.run.ports

    @property
    def pids(self) -> Mapping[str, int]:
        """The ids of the processes by name; the supervisor is `stack`."""
        return {name: one.pid for name, one in self.run.pids.items()}

    def kill(self, name: str) -> int:
        """End a process the hard way; returns the id that it had."""
        pid = self.pids[name]
        psutil.Process(pid).kill()
        return pid

    def restarted(self, name: str, former: int, *, within_s: float = 30.0) -> int:
        """Wait until a process lives again with another id, which is returned."""
        wait_until(lambda: self.pids.get(name, former) != former, within_s, self.said)
        return self.pids[name]

    def everything(self) -> list[psutil.Process]:
        """The supervisor and all that descends from it."""
        supervisor = psutil.Process(self.supervisor.pid)
        return [supervisor, *supervisor.children(recursive=True)]

    def stop(self) -> int:
        """Stop as Ctrl-C does; returns the exit code."""
        if self.supervisor.poll() is None:
            if os.name == "posix":
                self.supervisor.send_signal(signal.SIGINT)
            elif self.supervisor.stdin is not None:
                self.supervisor.stdin.close()
        try:
            return self.supervisor.wait(STOP_S)
        except subprocess.TimeoutExpired as error:
            raise StackFailed(f"The stack did not stop within {STOP_S:g} s") from error

    def said(self) -> str:
        """What the supervisor wrote so far."""
        return self.output.read_text(encoding="utf-8", errors="replace")


def command(
    *, data: Path, library: Path | None, quiet: bool, any_ports: bool, more: Sequence[str] = ()
) -> list[str]:
    """The command that starts a stack; without a library, on the demo one."""
    chosen = ["--library", str(library)] if library is not None else ["--demo"]
    flags = [
        *(["--quiet"] if quiet else []),
        *(["--any-ports"] if any_ports else []),
        "--while-stdin-is-open",
    ]
    return [sys.executable, "-P", "-m", "deploy.stack", "--data", str(data), *chosen, *flags, *more]


@contextmanager
def stack(
    *, data: Path, library: Path | None = None, quiet: bool = True, any_ports: bool = True
) -> Iterator[RunningStack]:
    """Start a stack, wait until it is ready, and stop it on leaving; raises StackFailed.

    It also ends with the process that uses it, however that one ends.
    """
    data.mkdir(parents=True, exist_ok=True)
    output = data / "supervisor.out"
    with output.open("wb") as said:
        supervisor = subprocess.Popen(
            command(data=data, library=library, quiet=quiet, any_ports=any_ports),
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
    running = RunningStack(data=data, supervisor=supervisor, output=output)
    try:
        wait_until(lambda: is_ready(running), START_S, running.said)
        yield running
    finally:
        running.stop()
        if supervisor.stdin is not None:
            supervisor.stdin.close()


def is_ready(running: RunningStack) -> bool:
    """Whether all processes answered that they are ready; raises StackFailed when it ended."""
    if running.supervisor.poll() is not None:
        raise StackFailed(running.said() or f"It ended with {running.supervisor.returncode}")
    run = read_run_file(running.data / "run.json")
    return (
        run is not None
        and run.state == "ready"
        and SUPERVISOR in run.pids
        and run.pids[SUPERVISOR].pid == running.supervisor.pid
    )


def wait_until(
    holds: Callable[[], bool], within_s: float, said: Callable[[], str] = lambda: ""
) -> None:
    """Wait for a condition; raises StackFailed with what was said when it does not come."""
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            raise StackFailed(f"Nothing within {within_s:g} s.\n{said()}")
        time.sleep(PAUSE_S)
