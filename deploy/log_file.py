"""A log that keeps its last megabytes."""

import os
from pathlib import Path

MOST_BYTES = 5 * 1024 * 1024
KEPT_FILES = 3


class LogFile:
    """Appends lines to a private file and starts a new one when it has grown large.

    A disk that is full costs log lines, never the process that writes them.
    """

    def __init__(self, path: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self._path = path
        self._most_bytes = most_bytes
        self._lost = False

    @property
    def path(self) -> Path:
        """The newest of the files."""
        return self._path

    def write(self, line: str) -> bool:
        """Append a line; says whether this is the first that could not be written."""
        try:
            self._append(line.encode("utf-8", errors="replace") + b"\n")
        except OSError:
            first, self._lost = not self._lost, True
            return first
        self._lost = False
        return False

    def _append(self, data: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        descriptor = os.open(self._path, flags, 0o600)
        try:
            os.write(descriptor, data)
            size = os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
        if size > self._most_bytes:
            self._rotate()

    def _rotate(self) -> None:
        for age in range(KEPT_FILES - 1, 0, -1):
            younger = self._aged(age - 1)
            if younger.exists():
                os.replace(younger, self._aged(age))

    def _aged(self, age: int) -> Path:
        return self._path if age == 0 else self._path.with_name(f"{self._path.name}.{age}")
