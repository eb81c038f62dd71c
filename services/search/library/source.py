"""What every source of a Zotero library offers, and how it says that it cannot."""

from typing import Protocol

import grpc

from services.chassis.errors import ServiceError
from services.search.library.records import LibraryRecords


class LibrarySource(Protocol):
    """A place that a whole library can be read from."""

    @property
    def kind(self) -> str:
        """A short fixed name such as `sqlite`, shown to the person."""

    @property
    def location(self) -> str:
        """Where the library is, shown to the person."""

    def read(self) -> LibraryRecords:
        """Everything the library holds now; blocks, so call it in a thread."""


class NoLibrary(ServiceError):
    """There is no Zotero library where one was looked for."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "NO_LIBRARY"


class LibraryLocked(ServiceError):
    """The library is there but cannot be read at the moment; trying again may help."""

    code, reason = grpc.StatusCode.UNAVAILABLE, "LIBRARY_LOCKED"


class LibraryCorrupt(ServiceError):
    """The library's database is damaged or is not a Zotero database."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "LIBRARY_CORRUPT"


class NoRoomForSnapshot(ServiceError):
    """The temporary folder has no room for a copy of the library's database."""

    code, reason = grpc.StatusCode.RESOURCE_EXHAUSTED, "DISK_FULL"
