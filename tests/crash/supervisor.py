"""Keeps orchestrators alive that are made to die: `python -m tests.crash.supervisor`.

It has imported everything and started nothing, so that a process of the real composition is a fork
away. Orders come as JSON lines on standard input, one for each process; what dies is started again
until the input ends.
"""

import gc
import json
import os
import select
import signal
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

from services.chassis import server
from services.chassis.telemetry import telemetry
from services.orchestrator import process
from services.orchestrator.ceilings import Harness
from services.orchestrator.settings import Settings
from tests.crash.seams import Fate, seamed

TOO_MANY_EXITS = 20


class Supervisor:
    """The processes by their folders."""

    def __init__(self) -> None:
        self._orders: dict[int, dict[str, Any]] = {}
        self._exits = 0
        # Unbuffered, so that `select` sees what is still to be read.
        self._orders_from = os.fdopen(sys.stdin.fileno(), "rb", buffering=0)

    def run(self) -> None:
        """Start what is asked for and start again what died, until nobody asks any more."""
        told, tells = os.pipe()
        os.set_blocking(tells, False)
        signal.set_wakeup_fd(tells)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        try:
            while True:
                ready, _, _ = select.select([sys.stdin, told], [], [])
                if told in ready:
                    os.read(told, 4096)
                    self._start_again()
                if sys.stdin in ready:
                    line = self._orders_from.readline()
                    if not line:
                        return
                    self._order(json.loads(line))
        finally:
            for pid in self._orders:
                os.kill(pid, signal.SIGKILL)

    def _order(self, order: dict[str, Any]) -> None:
        if "restart" not in order:
            self._start(order)
            return
        for pid, known in self._orders.items():
            if known["folder"] == order["restart"]:
                os.kill(pid, signal.SIGKILL)

    def _start(self, order: dict[str, Any]) -> None:
        pid = os.fork()
        if pid == 0:
            _be_orchestrator(order)
        self._orders[pid] = order

    def _start_again(self) -> None:
        while self._orders:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            order = self._orders.pop(pid)
            if not os.WIFSIGNALED(status):
                self._exits += 1
                print(f"{order['folder']}: exit status {status}", file=sys.stderr, flush=True)
            if self._exits < TOO_MANY_EXITS:
                self._start(order)


def _be_orchestrator(order: dict[str, Any]) -> NoReturn:
    """The real process, with the seams between it and its surroundings."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        folder = Path(order["folder"])
        log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, sys.stderr.fileno())
        os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
        settings = Settings(**order["settings"])
        fate = Fate(folder)

        async def work(stop: Any) -> None:  # the event that ends the process
            async with process.surroundings(settings) as around:
                await process.work(seamed(around, fate.reach), settings, Harness(), stop)

        with telemetry("orchestrator", "WARNING"):
            server.run(work)
        code = 0
    except BaseException:  # the fork must never go on in what its parent does
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    # What is shared with the forks is not to be copied for the sake of a collection.
    gc.collect()
    gc.freeze()
    print("ready", flush=True)
    Supervisor().run()
