"""Keeping the processes alive: a dead one is started again, and too many deaths end everything."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from deploy.console import Console
from deploy.data_folder import DataFolder
from deploy.failure import CannotStart
from deploy.log_file import LogFile
from deploy.log_lines import read_line
from deploy.processes import Child, Program, spawn
from deploy.restarts import Deaths
from deploy.run_file import Recorded


class Supervisor:
    """Owns the running processes. `failed` is set when the stack cannot go on."""

    def __init__(self, *, data: DataFolder, console: Console, changed: Callable[[], None]) -> None:
        self._data = data
        self._console = console
        self._changed = changed
        self._children: dict[str, Child] = {}
        self._keepers: dict[str, asyncio.Task[None]] = {}
        self._stopping = asyncio.Event()
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def recorded(self) -> Mapping[str, Recorded]:
        """The processes that live now."""
        return {name: child.recorded for name, child in self._children.items()}

    async def keep(self, program: Program) -> None:
        """Start a program and keep it alive; raises CannotStart when there is no starting it."""
        voice = Voice(program.name, self._data.log_of(program.name), self._console)
        child = await self._start(program, voice)
        self._keepers[program.name] = asyncio.create_task(self._keep(child, voice))

    async def run_once(self, program: Program) -> None:
        """Run a program to its end; raises CannotStart with its last words unless it succeeds."""
        voice = Voice(program.name, self._data.log_of(program.name), self._console)
        child = await self._start(program, voice)
        code = await self._end(child)
        if code != 0 and not self._stopping.is_set():
            raise CannotStart(
                f"{program.name} failed ({told_death(code, voice.last_words)}); read {voice.path}"
            )

    async def stop(self, order: Iterable[Iterable[str]]) -> None:
        """Stop the processes, those of one group together, one group after the other."""
        self._stopping.set()
        self._console.hush()
        for names in order:
            children = [self._children[name] for name in names if name in self._children]
            await asyncio.gather(*(child.stop() for child in children))
        for child in list(self._children.values()):
            await child.stop()
        await asyncio.gather(*self._keepers.values())

    def kill(self) -> None:
        """End every process at once."""
        self._stopping.set()
        for child in self._children.values():
            child.kill()

    async def _keep(self, child: Child, voice: "Voice") -> None:
        name, deaths = child.program.name, Deaths()
        while True:
            code = await self._end(child)
            if self._stopping.is_set():
                return
            if code == child.program.refusal:
                self._give_up(f"{name} cannot start: {voice.last_words}; read {voice.path}")
                return
            deaths = deaths.with_another(time.monotonic())
            if deaths.are_too_many:
                self._give_up(
                    f"{name} stopped {len(deaths.times)} times within a minute "
                    f"({told_death(code, voice.last_words)}); read {voice.path}"
                )
                return
            self._console.trouble(
                name,
                f"stopped ({told_death(code, voice.last_words)}); starting it again "
                f"in {deaths.delay_s:g} s; its log is {voice.path}",
            )
            await self._pause(deaths.delay_s)
            if self._stopping.is_set():
                return
            try:
                child = await self._start(child.program, voice)
            except CannotStart as error:
                self._give_up(str(error))
                return

    async def _start(self, program: Program, voice: "Voice") -> Child:
        child = await spawn(program, voice.hear)
        self._children[program.name] = child
        self._changed()
        return child

    async def _end(self, child: Child) -> int:
        code = await child.ended()
        self._children.pop(child.program.name, None)
        if not self._stopping.is_set():
            self._changed()
        return code

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    def _give_up(self, reason: str) -> None:
        if not self.failed.done():
            self.failed.set_exception(CannotStart(reason))


class Voice:
    """What a program says over all its lives: all of it to its log, warnings to the terminal."""

    def __init__(self, name: str, path: Path, console: Console) -> None:
        self.path = path
        self.last_words = ""
        self._name = name
        self._log = LogFile(path)
        self._console = console

    def hear(self, raw: str) -> None:
        """Take one line."""
        if self._log.write(raw):
            self._console.trouble(self._name, f"its log {self.path} cannot be written to.")
        if raw.strip():
            line = read_line(raw)
            self.last_words = line.text.rstrip(".")
            self._console.relay(self._name, line)


def told_death(code: int, last_words: str) -> str:
    """How a process ended, as a person reads it."""
    if code < 0:
        # Somebody ended it: what it wrote before has nothing to do with that.
        return f"killed by signal {-code}"
    return f"exit code {code}: {last_words}" if last_words else f"exit code {code}"
