"""What a killed stack left running: recognised without doubt, then stopped.

A process is ours only with proof: it has the recorded id, start time and command line, or its
environment carries the token that only this data folder's run.json knows, or it is a Postgres
server on this very cluster. Anything else is left alone.
"""

import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

from deploy.environment import TOKEN_VARIABLE
from deploy.run_file import Recorded, RunFile

# The clock that start times are told by may be set meanwhile.
START_TOLERANCE_S = 2.0
PATIENCE_S = 8.0
PAUSE_S = 0.02


def stop_leftovers(run: RunFile | None, cluster: Path) -> list[str]:
    """Stop the proven leftovers and return their names; the caller holds the data folder's lock."""
    found: dict[int, tuple[str, psutil.Process]] = {}
    if run is not None:
        for name, one in run.pids.items():
            if (process := proven(one)) is not None:
                found[process.pid] = (name, process)
        for process in token_carriers(run.token):
            found.setdefault(process.pid, (process.name(), process))
    if (server := server_on(cluster)) is not None:
        found.setdefault(server.pid, ("postgres", server))
    servers = [process for name, process in found.values() if name == "postgres"]
    others = [process for name, process in found.values() if name != "postgres"]
    # Postgres last, as its clients are still writing.
    stop_all(others, gently=signal.SIGTERM)
    stop_all(servers, gently=signal.SIGINT)
    return sorted({name for name, _ in found.values()})


def proven(one: Recorded) -> psutil.Process | None:
    """The live process that was recorded, or None when the id is free or somebody else's now."""
    try:
        process = psutil.Process(one.pid)
        same = (
            abs(process.create_time() - one.started) < START_TOLERANCE_S
            and tuple(process.cmdline()) == one.command
            and is_alive(process)
        )
    except psutil.Error:
        return None
    return process if same else None


def token_carriers(token: str) -> list[psutil.Process]:
    """The processes whose environment carries a stack's token, such as workers of its processes."""
    carriers = []
    for process in psutil.process_iter():
        try:
            if token and process.environ().get(TOKEN_VARIABLE) == token:
                carriers.append(process)
        except (psutil.Error, OSError):
            # Another user's, or gone since: no proof.
            continue
    return carriers


def server_on(cluster: Path) -> psutil.Process | None:
    """The Postgres server that runs on the cluster, as the cluster's own lock file tells."""
    lock = cluster / "postmaster.pid"
    try:
        process = psutil.Process(int(lock.read_text(errors="replace").split("\n", 1)[0]))
        if str(cluster) in process.cmdline() and process.name().startswith("postgres"):
            return process
    except (OSError, ValueError, psutil.Error):
        # No lock file or no such process: nothing to stop.
        return None
    return None


def stop_all(processes: Iterable[psutil.Process], *, gently: signal.Signals) -> None:
    """Ask each to end, then end those that have not within the patience."""
    asked = list(processes)
    for process in asked:
        _send(process, gently)
    for process in _still_alive(asked, until=time.monotonic() + PATIENCE_S):
        _send(process, None)
    _still_alive(asked, until=time.monotonic() + PATIENCE_S)


def _still_alive(processes: Iterable[psutil.Process], *, until: float) -> list[psutil.Process]:
    """Wait until all have ended; returns those that have not by then."""
    alive = [process for process in processes if is_alive(process)]
    while alive and time.monotonic() < until:
        time.sleep(PAUSE_S)
        alive = [process for process in alive if is_alive(process)]
    return alive


def is_alive(process: psutil.Process) -> bool:
    """Whether it runs; one that ended and whose parent did not ask about it does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _send(process: psutil.Process, gently: signal.Signals | None) -> None:
    try:
        if gently is None:
            process.kill()
        elif sys.platform == "win32":
            process.terminate()
        else:
            process.send_signal(gently)
    except psutil.NoSuchProcess:
        # It ended by itself, which is what was wanted.
        return
