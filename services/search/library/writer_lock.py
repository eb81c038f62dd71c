"""One writer at a time on an index folder."""

from pathlib import Path

from filelock import FileLock, Timeout

from services.search.library.source import LibraryLocked

LOCK_FILE = "writer.lock"


class WriterLock:
    """Keeps a second writer on the same folder from doing the same work; nothing for a URI."""

    def __init__(self, folder: Path | None) -> None:
        self._lock = FileLock(folder / LOCK_FILE, thread_local=False) if folder else None

    @property
    def is_exclusive(self) -> bool:
        """Whether holding it proves that no other writer is at work."""
        return self._lock is not None

    def acquire(self) -> None:
        """Take the lock, if it is not held already; raises LibraryLocked."""
        if self._lock is None or self._lock.is_locked:
            return
        try:
            self._lock.acquire(blocking=False)
        except Timeout as error:
            raise LibraryLocked(
                "Another process is writing this index; stop it, or let it do the work."
            ) from error

    def release(self) -> None:
        """Let go of the lock."""
        if self._lock is not None:
            self._lock.release()
