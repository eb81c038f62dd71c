"""Loopback ports: the usual one of each process, or a free one where it is taken."""

import os
import random
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from deploy.failure import CannotStart

HOST = "127.0.0.1"
USUAL_PORTS: Mapping[str, int] = {
    "search": 50051,
    "rerank": 50052,
    "synth": 50053,
    "orchestrator": 50054,
    "gateway": 8080,
    "postgres": 54321,
    "nats": 4223,
}
ANY_PORT = 0
# Below what Linux, macOS and Windows hand out for outgoing connections.
QUIET_PORTS = range(20_000, 32_768)
TRIES = 20


@dataclass(slots=True, kw_only=True)
class Reservation:
    """A port that nobody else can bind until it is released, just before its process starts."""

    port: int
    usual: int
    _socket: socket.socket

    @property
    def is_replacement(self) -> bool:
        """Whether the usual port was taken."""
        return self.usual not in (ANY_PORT, self.port)

    def release(self) -> None:
        """Let the process bind it."""
        self._socket.close()


def reserve(usual: int) -> Reservation:
    """Reserve the usual port, or a free one when it is taken; 0 asks for any free one."""
    # Not the system's own choice first: any program's outgoing connection could take that port in
    # the moment between its release and its process.
    quiet = random.sample(QUIET_PORTS, TRIES)
    for port in dict.fromkeys((*([usual] if usual != ANY_PORT else []), *quiet, ANY_PORT)):
        # Asked first: some systems let a second process bind beside one that listens everywhere.
        if port != ANY_PORT and is_answered(port):
            continue
        held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            if os.name == "posix":
                # Else connections of the last run, not quite forgotten, would keep the port taken.
                held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            held.bind((HOST, port))
            # Only a listening socket keeps other processes with the same option away.
            held.listen(1)
        except OSError:
            held.close()
            continue
        return Reservation(port=held.getsockname()[1], usual=usual, _socket=held)
    raise CannotStart(f"This system gives no free port on {HOST}; stop what uses them all.")


def is_answered(port: int) -> bool:
    """Whether a process listens on the port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.2)
        return probe.connect_ex((HOST, port)) == 0
