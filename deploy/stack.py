"""Everything on this machine with one command: `python -m deploy.stack`, or `zocrates up`."""

import argparse
import asyncio
import functools
import os
import secrets
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import FrameType

from filelock import FileLock, Timeout

from deploy.announcement import announce_ready, announce_start
from deploy.console import Console, refuse
from deploy.data_folder import DataFolder, chosen_root, lasting_secret, prepare
from deploy.environment import Surroundings
from deploy.failure import CannotStart
from deploy.index_folder import index_folder
from deploy.local_stack import LocalStack
from deploy.mind import read_mind
from deploy.model_folder import models_folder
from deploy.orphans import stop_leftovers
from deploy.page_link import one_time_link
from deploy.ports import ANY_PORT, USUAL_PORTS, Reservation, reserve
from deploy.postgres import Postgres, find_postgres
from deploy.processes import recorded
from deploy.programs import Programs, base_url, config_file, given_environment
from deploy.run_file import RunFile, read_run_file
from deploy.zotero_folder import SOURCES, SQLITE, Library, choose_library

PACKAGE = "zocrates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the person asked for."""

    data: Path | None = None
    library: Path | None = None
    demo: bool = False
    source: str = SQLITE
    server: str = ""
    any_ports: bool = False
    quiet: bool = False
    while_stdin_is_open: bool = False


def parse(arguments: Sequence[str]) -> Wish:
    """Read the arguments; wrong ones exit with code 2, as argparse does."""
    parser = argparse.ArgumentParser(
        prog="zocrates up",
        description="Start Postgres, NATS and the five processes on this machine, until Ctrl-C.",
    )
    parser.add_argument("--library", type=Path, metavar="FOLDER", help="a Zotero data folder")
    parser.add_argument("--demo", action="store_true", help="search the demo library")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where everything is kept")
    parser.add_argument(
        "--any-ports", action="store_true", help="use free ports instead of the usual ones"
    )
    parser.add_argument("--quiet", action="store_true", help="say nothing unless it cannot start")
    parser.add_argument(
        "--while-stdin-is-open", action="store_true", help="stop when the standard input ends"
    )
    parser.add_argument(
        "--source",
        choices=SOURCES,
        default=SQLITE,
        help="read the database, ask the running Zotero, or ask Zotero's server",
    )
    parser.add_argument(
        "--server", default="", metavar="URL", help="where the API of Zotero answers"
    )
    given = parser.parse_args(arguments)
    if given.server and given.source == SQLITE:
        parser.error("--server is where an API answers; say which with --source")
    if given.demo and given.source != SQLITE:
        parser.error("--demo is a data folder of its own; give --demo or --source")
    if given.demo and given.library is not None:
        parser.error("--demo and --library name two libraries; give one of them")
    return Wish(**vars(given))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the stack until it is asked to stop; returns the exit code."""
    wish = parse(sys.argv[1:] if arguments is None else arguments)
    console = Console(sys.stdout, quiet=wish.quiet)
    try:
        library = choose_library(
            named=wish.library,
            demo=wish.demo,
            environ=os.environ,
            home=Path.home(),
            source=wish.source,
            server=wish.server,
        )
        data = prepare(chosen_root(wish.data, os.environ))
        with _only_stack(data):
            asyncio.run(_serve(wish, console, library, data))
    except CannotStart as error:
        return refuse(str(error))
    except OSError as error:
        # A full disk, a folder that went away: the system's own words say it best.
        return refuse(f"{error.filename or 'the system'}: {error.strerror or error}.")
    except KeyboardInterrupt:
        # Before the first process was started, so there is nothing to stop.
        return 130
    console.say("Everything has stopped.")
    return 0


@contextmanager
def _only_stack(data: DataFolder) -> Iterator[None]:
    """Hold the data folder; raises CannotStart when another stack does."""
    lock = FileLock(data.lock_file, mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        run = read_run_file(data.run_file)
        where = f" at {run.base_url}" if run is not None and run.base_url else ""
        raise CannotStart(
            f"Zocrates already runs on {str(data.root)!r}{where}; "
            "stop it there with Ctrl-C, or start on other data with --data FOLDER."
        ) from error
    try:
        yield
    finally:
        lock.release()


async def _serve(wish: Wish, console: Console, library: Library, data: DataFolder) -> None:
    password = lasting_secret(data.postgres_password)
    server = find_postgres(data.postgres, password)
    left_over = stop_leftovers(read_run_file(data.run_file), server.cluster)
    ports = {
        name: reserve(ANY_PORT if wish.any_ports else usual) for name, usual in USUAL_PORTS.items()
    }
    announce_start(
        console,
        version=version(PACKAGE),
        library=library,
        data=data,
        ports=ports,
        left_over=left_over,
    )
    stack, run_file = _compose(data, console, library, server, ports)
    await stack.run(
        _stop_requests(stack, console, watch_stdin=wish.while_stdin_is_open),
        functools.partial(_tell_ready, console, library, data, run_file),
    )


def _compose(
    data: DataFolder,
    console: Console,
    library: Library,
    server: Postgres,
    ports: Mapping[str, Reservation],
) -> tuple[LocalStack, RunFile]:
    numbers = {name: reservation.port for name, reservation in ports.items()}
    run_file = RunFile(
        version=version(PACKAGE),
        state="starting",
        base_url=base_url(numbers["gateway"]),
        api_key=lasting_secret(data.api_key),
        data=str(data.root),
        token=secrets.token_hex(16),
        library=library.place,
        ports=numbers,
    )
    surroundings = Surroundings(
        ports=numbers,
        library=library,
        index=index_folder(data.indexes, library),
        models=models_folder(),
        config_file=config_file(data),
        database_url=server.url(numbers["postgres"]),
        api_key=run_file.api_key,
        token=run_file.token,
        mind=read_mind(data.mind_file),
    )
    programs = Programs(
        data=data,
        postgres_server=server,
        surroundings=surroundings,
        given=given_environment(),
    )
    stack = LocalStack(
        data=data,
        console=console,
        programs=programs,
        ports=ports,
        run_file=run_file,
        supervisor_process=recorded(os.getpid(), tuple(sys.argv)),
    )
    return stack, run_file


async def _tell_ready(
    console: Console, library: Library, data: DataFolder, run: RunFile, seconds: float
) -> None:
    link = None
    if not console.is_quiet:
        link = await asyncio.to_thread(one_time_link, run.base_url, run.api_key)
    announce_ready(
        console, seconds=seconds, base_url=run.base_url, link=link, library=library, data=data
    )


def _stop_requests(stack: LocalStack, console: Console, *, watch_stdin: bool) -> asyncio.Event:
    """An event that the first signal sets; a second signal ends everything at once."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def ask() -> None:
        if stop.is_set():
            console.say("Stopping at once …")
            stack.kill()
            return
        console.say("Stopping … (Ctrl-C again stops at once)")
        stop.set()

    def on_signal(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(ask)

    # The last is a terminal that was closed; Windows does not know it.
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if (number := getattr(signal, name, None)) is not None:
            signal.signal(number, on_signal)

    def read_to_the_end() -> None:
        # Not through sys.stdin, whose lock would be held while Python shuts down.
        while os.read(sys.stdin.fileno(), 4096):
            continue
        loop.call_soon_threadsafe(stop.set)

    if watch_stdin:
        threading.Thread(target=read_to_the_end, daemon=True).start()
    return stop


if __name__ == "__main__":
    sys.exit(main())
