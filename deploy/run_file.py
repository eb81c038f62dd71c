"""run.json: what runs on a data folder, for the command line, the plugin and the next start."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from deploy.data_folder import write_private


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A process as it was started: enough to recognise it later and mistake no other for it."""

    pid: int
    started: float
    """Seconds since the epoch, as the operating system tells it."""
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFile:
    """The content of run.json."""

    version: str
    state: str
    """`starting`, then `ready`."""
    base_url: str
    api_key: str
    data: str
    token: str
    """In the environment of every process of this stack and of nothing else."""
    library: str = ""
    ports: Mapping[str, int] = field(default_factory=dict)
    pids: Mapping[str, Recorded] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Replace the file at once; only its owner can read it."""
        write_private(path, json.dumps(asdict(self), indent=2) + "\n")


def read_run_file(path: Path) -> RunFile | None:
    """The run that the file tells of, or None when there is none or it is damaged."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        pids = {
            str(name): Recorded(
                pid=int(one["pid"]),
                started=float(one["started"]),
                command=tuple(map(str, one["command"])),
            )
            for name, one in content.pop("pids").items()
        }
        return RunFile(**content, pids=pids)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        # Written in one step, so only an edited file or another version's: nothing in it is proof.
        return None
