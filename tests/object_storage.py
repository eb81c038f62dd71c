"""An S3 server that tests start: a process of its own, with a bucket that is new for each test."""

import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection

from tests.servers import free_port

START_S = 60
KEYS = {"access_key_id": "test", "secret_access_key": "test", "region": "us-east-1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectStorage:
    """A running server."""

    port: int

    @property
    def options(self) -> Mapping[str, str]:
        """How the index reaches it."""
        return {"endpoint": f"http://127.0.0.1:{self.port}", "allow_http": "true", **KEYS}

    def bucket(self) -> str:
        """A new, empty bucket."""
        name = f"zocrates-{secrets.token_hex(6)}"
        assert _status(self.port, "PUT", f"/{name}") == 200
        return name


@contextmanager
def object_storage() -> Iterator[ObjectStorage]:
    """A server that holds everything in memory."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(process, port)
        yield ObjectStorage(port=port)
    finally:
        process.kill()
        process.wait()


def _wait(process: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = time.monotonic() + START_S
    while True:
        with suppress(OSError):
            if _status(port, "GET", "/moto-api/") == 200:
                return
        assert process.poll() is None, "the server ended"
        assert time.monotonic() < deadline, "the server did not start"
        time.sleep(0.05)


def _status(port: int, method: str, path: str) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        # The signature is not checked, but tells the server which service is meant.
        signed = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request"
        connection.request(method, path, headers={"Authorization": signed})
        return connection.getresponse().status
    finally:
        connection.close()
