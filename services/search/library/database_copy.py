"""A private, consistent copy of a Zotero database that another program may be writing."""

import errno
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from services.search.library.source import (
    LibraryCorrupt,
    LibraryLocked,
    NoLibrary,
    NoRoomForSnapshot,
)

DATABASE = "zotero.sqlite"
# Changes outside the main file: a write-ahead log (Zotero 10 on), a rollback journal (before).
COMPANIONS = ("-wal", "-journal")
ATTEMPTS = 6
FIRST_PAUSE_S = 0.1

Fingerprint = tuple[tuple[int, int] | None, ...]


@contextmanager
def open_copy(data_dir: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a checked copy of the library's database, gone on leaving.

    The original files are only ever read as bytes: SQLite never opens them, so no lock is taken
    and no journal of theirs is replayed.
    """
    original = data_dir / DATABASE
    _require(original)
    # mkdtemp makes the folder readable by its owner only.
    with tempfile.TemporaryDirectory(
        prefix="zocrates-library-", ignore_cleanup_errors=True
    ) as temp:
        copy = Path(temp) / DATABASE
        with closing(_checked_copy(original, copy)) as connection:
            yield connection


def _require(original: Path) -> None:
    if original.is_file():
        return
    raise NoLibrary(
        f"There is no {DATABASE} in {str(original.parent)!r}; choose Zotero's data folder, which "
        "Zotero shows under Settings > Advanced > Files and Folders.",
        data_dir=original.parent,
    )


def _checked_copy(original: Path, copy: Path) -> sqlite3.Connection:
    """Copy until the files held still and the copy is whole, or say why that did not happen."""
    seen_broken: Fingerprint | None = None
    pause_s = FIRST_PAUSE_S
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(pause_s)
            pause_s *= 2
        before = _fingerprint(original)
        _copy_files(original, copy)
        if _fingerprint(original) != before:
            continue
        try:
            return _open_whole(copy)
        except sqlite3.DatabaseError as error:
            # Sizes and times can miss a write under way, so a failed check is tried once more.
            if before == seen_broken:
                raise LibraryCorrupt(
                    f"The database {str(original)!r} is damaged or is not a Zotero database; start "
                    "Zotero, which repairs its database if it can, or restore the "
                    f"{DATABASE}.bak of the same folder.",
                    path=original,
                ) from error
            seen_broken = before
    raise LibraryLocked(
        f"The database {str(original)!r} kept changing while it was copied; wait until Zotero has "
        "finished its work, or close it, and try again.",
        path=original,
    )


def _files(database: Path) -> tuple[Path, ...]:
    return database, *(database.with_name(database.name + end) for end in COMPANIONS)


def _fingerprint(database: Path) -> Fingerprint:
    return tuple(_size_and_time(path) for path in _files(database))


def _size_and_time(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error) from error
    return status.st_size, status.st_mtime_ns


def _copy_files(original: Path, copy: Path) -> None:
    for source, target in zip(_files(original), _files(copy), strict=True):
        target.unlink(missing_ok=True)
        try:
            shutil.copyfile(source, target)
        except FileNotFoundError:
            continue  # a companion may come and go; the fingerprint notices
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise NoRoomForSnapshot(
                    "There is no room for a copy of the library's database in "
                    f"{str(copy.parent.parent)!r}; free some space or set TMPDIR to a larger disk.",
                    path=original,
                ) from error
            raise _unreadable(source, error) from error


def _unreadable(path: Path, error: OSError) -> LibraryLocked:
    return LibraryLocked(
        f"The file {str(path)!r} cannot be read ({error.strerror}); check its permissions, or "
        "close Zotero and try again.",
        path=path,
    )


def _open_whole(copy: Path) -> sqlite3.Connection:
    """Open read-write, so that SQLite replays the log or rolls the journal back, and check it."""
    connection = sqlite3.connect(copy, isolation_level=None)
    try:
        connection.text_factory = _text
        findings = [row[0] for row in connection.execute("PRAGMA quick_check(1)")]
        if findings != ["ok"]:
            raise sqlite3.DatabaseError("; ".join(map(str, findings)))
        if not list(connection.execute("PRAGMA table_info(version)")):
            raise sqlite3.DatabaseError("there is no version table")
        connection.execute("PRAGMA query_only = on")
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


def _text(raw: bytes) -> str:
    """Text as stored; a broken byte must not hide the rest of a library."""
    return raw.decode("utf-8", "replace")
