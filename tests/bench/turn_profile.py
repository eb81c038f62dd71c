"""Where a process spends its time: `python -m tests.bench.turn_profile <file> <module>`.

Runs a module as a program and writes, at its end, how many samples fell on each pair of places:
the innermost function, and the innermost function that belongs to this project.
"""

import json
import runpy
import signal
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

# CPU time, not wall time: a process that waits is not sampled.
EVERY_S = 0.002
OWN = ("services", "gateway")


class Sampler:
    """Counts where the program is at regular moments of its CPU time."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()

    def start(self) -> None:
        """Begin."""
        signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)

    def stop(self) -> None:
        """End."""
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _sample(self, number: int, frame: FrameType | None) -> None:
        inner = frame
        while frame is not None and not _own(frame):
            frame = frame.f_back
        self.counts[_package(inner), _place(frame)] += 1


def _own(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__", "")
    return str(name).startswith(OWN)


def _package(frame: FrameType | None) -> str:
    name = str(frame.f_globals.get("__name__", "")) if frame is not None else ""
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] in (*OWN, "grpc", "google") else parts[0]


def _place(frame: FrameType | None) -> str:
    if frame is None:
        return "(the event loop and libraries by themselves)"
    return f"{frame.f_globals['__name__']}.{frame.f_code.co_qualname}"


def read(path: Path) -> Mapping[tuple[str, str], int]:
    """The samples of a file."""
    return {(one[0], one[1]): one[2] for one in json.loads(path.read_text("utf-8"))}


def main() -> None:
    """Run the module named on the command line and sample it."""
    path, module = Path(sys.argv[1]), sys.argv[2]
    sys.argv = [module]
    sampler = Sampler()
    sampler.start()
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        sampler.stop()
        rows = [[*key, count] for key, count in sampler.counts.items()]
        path.write_text(json.dumps(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
