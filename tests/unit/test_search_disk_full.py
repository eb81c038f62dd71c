"""Telling a full disk from other failures of the storage layer."""

import errno

import pytest

from services.search.errors import DiskFull, is_disk_full
from services.search.index_writer import storing


def caused(cause: Exception) -> Exception:
    error = RuntimeError("lance error")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), True),
        (RuntimeError("LanceError(IO): No space left on device (os error 28)"), True),
        (caused(OSError(errno.ENOSPC, "full")), True),
        (OSError(errno.EACCES, "Permission denied"), False),
        (RuntimeError("lance error: commit conflict"), False),
    ],
)
def test_a_full_disk_is_recognised(error: Exception, full: bool) -> None:
    assert is_disk_full(error) is full


def test_only_a_full_disk_becomes_that_error() -> None:
    with pytest.raises(DiskFull, match="free some space"), storing():
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(RuntimeError, match="conflict"), storing():
        raise RuntimeError("commit conflict")
