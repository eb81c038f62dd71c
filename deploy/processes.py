"""One child process: started so that it cannot outlive us, heard, and stopped."""

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from deploy.account import Account
from deploy.failure import CannotStart
from deploy.postgres import as_account
from deploy.run_file import Recorded

LONGEST_LINE_BYTES = 64 * 1024
LAST_WORDS_S = 2.0
PR_SET_PDEATHSIG = 1

Hear = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What to run."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path
    account: Account | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    grace_s: float = 12.0
    """How long it may take to stop after it was asked to."""
    refusal: int | None = None
    """The exit code that stands for settings which it cannot use; to start it again is no help."""


class Ears(asyncio.SubprocessProtocol):
    """Splits what a process writes into lines, and notices its end.

    asyncio's own `Process.wait` would also wait for whoever inherited the output.
    """

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self.exited = asyncio.Event()
        self.silent = asyncio.Event()
        self._rest = b""

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Hand over each whole line, and a line that does not end in pieces."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LONGEST_LINE_BYTES:
            lines.append(self._rest)
            self._rest = b""
        for line in lines:
            self._tell(line)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """The last writer closed the output."""
        if self._rest:
            self._tell(self._rest)
        self._rest = b""
        self.silent.set()

    def process_exited(self) -> None:
        """The process itself is gone."""
        self.exited.set()

    def _tell(self, line: bytes) -> None:
        self._hear(line.decode("utf-8", errors="replace").rstrip("\r"))


class Child:
    """A running program."""

    def __init__(
        self, program: Program, transport: asyncio.SubprocessTransport, ears: Ears
    ) -> None:
        self.program = program
        self.recorded = recorded(transport.get_pid(), program.command)
        self._transport = transport
        self._ears = ears

    async def ended(self) -> int:
        """Wait for its end and its last words; returns its exit code."""
        await self._ears.exited.wait()
        # First, for what it left behind would hold its output open.
        _kill_group(self.recorded.pid)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ears.silent.wait(), LAST_WORDS_S)
        code = self._transport.get_returncode()
        self._transport.close()
        return code if code is not None else -1

    async def stop(self) -> None:
        """Ask it to end, and end it when it takes longer than its grace."""
        with suppress(ProcessLookupError):
            if os.name == "posix":
                self._transport.send_signal(self.program.stop_signal)
            else:
                self._transport.terminate()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ears.exited.wait(), self.program.grace_s)
        self.kill()
        await self._ears.exited.wait()

    def kill(self) -> None:
        """End it at once, with everything it started."""
        if self._transport.get_returncode() is None:
            with suppress(ProcessLookupError):
                self._transport.kill()
            _kill_group(self.recorded.pid)


async def spawn(program: Program, hear: Hear) -> Child:
    """Start a program; raises CannotStart when there is no such program or it may not be run."""
    ears = Ears(hear)
    try:
        transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: ears,
            *program.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(program.environment),
            cwd=program.folder,
            # The mapping holds arguments of Popen only, which its type cannot say.
            **_ties(program.stop_signal),  # type: ignore[misc]
            **as_account(program.account),
        )
    except OSError as error:
        raise CannotStart(
            f"{program.name} cannot be started: {program.command[0]!r}: {error.strerror}."
        ) from error
    return Child(program, transport, ears)


def recorded(pid: int, command: tuple[str, ...]) -> Recorded:
    """What recognises a process later; one that is gone already gets a time nothing matches."""
    try:
        process = psutil.Process(pid)
        return Recorded(pid=pid, started=process.create_time(), command=tuple(process.cmdline()))
    except psutil.Error:
        return Recorded(pid=pid, started=0.0, command=command)


def _ties(stop_signal: signal.Signals) -> dict[str, Any]:
    """Arguments that give the child a group of its own and tie its life to ours where possible."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    # Its own session: Ctrl-C in the terminal must reach the supervisor only, which stops the others
    # in order.
    ties: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "linux":
        library = ctypes.CDLL(None)
        parent = os.getpid()

        def follow_parent_into_death() -> None:
            library.prctl(PR_SET_PDEATHSIG, int(stop_signal))
            # The parent may have died before the line above.
            if os.getppid() != parent:
                os._exit(1)

        ties["preexec_fn"] = follow_parent_into_death
    return ties


def _kill_group(pid: int) -> None:
    """End what a child started and left behind; its session carries its process id."""
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
