"""The local stack from its first process to its last."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace

from deploy.console import Console
from deploy.data_folder import DataFolder
from deploy.failure import CannotStart
from deploy.ports import Reservation
from deploy.processes import Program
from deploy.programs import STOP_ORDER, Programs
from deploy.run_file import Recorded, RunFile
from deploy.supervision import Supervisor

DATABASE_DEADLINE_S = 60.0
PAUSE_S = 0.05
# Longer than looking whether the models are there, shorter than exporting them.
EXPORT_IS_LONG_S = 4.0

Tell = Callable[[float], Coroutine[None, None, None]]


class LocalStack:
    """Starts everything, as much at once as possible, and stops everything in order."""

    def __init__(
        self,
        *,
        data: DataFolder,
        console: Console,
        programs: Programs,
        ports: Mapping[str, Reservation],
        run_file: RunFile,
        supervisor_process: Recorded,
    ) -> None:
        self._data = data
        self._console = console
        self._programs = programs
        self._ports = ports
        self._run_file = run_file
        self._own_process = supervisor_process
        self._supervisor = Supervisor(data=data, console=console, changed=self._write_run_file)

    async def run(self, stop: asyncio.Event, tell_ready: Tell) -> None:
        """Start, tell after how many seconds all is ready, and serve until asked to stop.

        Raises CannotStart. Whatever happens, nothing runs when this returns.
        """
        started = time.monotonic()
        try:
            await self._until(stop, self._start())
            if not stop.is_set():
                self._run_file = replace(self._run_file, state="ready")
                self._write_run_file()
                await self._until(stop, tell_ready(time.monotonic() - started))
                await self._until(stop, _for_ever())
        finally:
            await self._supervisor.stop(STOP_ORDER)
            self._data.run_file.unlink(missing_ok=True)

    def kill(self) -> None:
        """End everything at once; the next start finds the data as after a crash."""
        self._supervisor.kill()

    async def _start(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._start_database())
            group.create_task(self._start_models())
            await self._keep(self._programs.nats())
            await self._keep(self._programs.process("synth"))
            await self._keep(self._programs.process("gateway"))
        await self._supervisor.run_once(self._programs.readiness())

    async def _start_database(self) -> None:
        server = self._programs.postgres_server
        await asyncio.to_thread(server.ensure_cluster)
        await self._keep(self._programs.postgres())
        await self._database_accepts()
        await self._supervisor.run_once(self._programs.migrate())
        await self._keep(self._programs.process("orchestrator"))

    async def _start_models(self) -> None:
        exporting = asyncio.create_task(self._supervisor.run_once(self._programs.models()))
        await asyncio.wait([exporting], timeout=EXPORT_IS_LONG_S)
        if not exporting.done():
            self._console.say("Preparing the embedding model, once for this installation …")
        await exporting
        await self._keep(self._programs.process("search"))
        await self._keep(self._programs.process("rerank"))

    async def _keep(self, program: Program) -> None:
        self._ports[program.name].release()
        await self._supervisor.keep(program)

    async def _database_accepts(self) -> None:
        command = self._programs.postgres_server.readiness_command(self._ports["postgres"].port)
        deadline = time.monotonic() + DATABASE_DEADLINE_S
        while True:
            probe = await asyncio.create_subprocess_exec(*command)
            if await probe.wait() == 0:
                return
            if time.monotonic() > deadline:
                log = self._data.log_of("postgres")
                raise CannotStart(f"The database did not become ready; its log is {log}")
            await asyncio.sleep(PAUSE_S)

    async def _until(self, stop: asyncio.Event, work: Coroutine[None, None, None]) -> None:
        """Do the work until it is done, a process is given up, or a stop is asked for."""
        working, stopping = asyncio.create_task(work), asyncio.create_task(stop.wait())
        watched: set[asyncio.Future[None] | asyncio.Task[bool]] = {
            working,
            stopping,
            self._supervisor.failed,
        }
        await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        given_up = self._supervisor.failed.done()
        for task in (working, stopping):
            task.cancel()
        results = await asyncio.gather(working, stopping, return_exceptions=True)
        if given_up:
            self._supervisor.failed.result()
        if isinstance(error := results[0], Exception):
            raise _reason(error)

    def _write_run_file(self) -> None:
        pids = {"stack": self._own_process, **self._supervisor.recorded}
        self._run_file = replace(self._run_file, pids=pids)
        try:
            self._run_file.write(self._data.run_file)
        except OSError as error:
            self._console.trouble("stack", f"{self._data.run_file}: {error.strerror}")


async def _for_ever() -> None:
    await asyncio.Event().wait()


def _reason(error: Exception) -> Exception:
    """The first error inside a group of them, since one sentence is told."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
