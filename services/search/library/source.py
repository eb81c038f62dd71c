"""What every source of a Zotero library offers, and how it says that it cannot."""

from collections.abc import Hashable
from typing import Protocol

import grpc

from services.chassis.errors import ServiceError
from services.search.library.attachment_paths import Location, missing
from services.search.library.records import LibraryRecords, RemoteFile


class LibrarySource(Protocol):
    """A place that a whole library can be read from."""

    @property
    def kind(self) -> str:
        """A short fixed name such as `sqlite`, shown to the person."""

    @property
    def location(self) -> str:
        """Where the library is, shown to the person."""

    @property
    def program(self) -> str:
        """What answered at the last reading, such as `Zotero 10.0.1`; empty when unknown."""

    async def read(self) -> LibraryRecords:
        """Everything the library holds now; raises one of the errors below."""

    async def signature(self) -> Hashable:
        """Something cheap to get that is another after the library changed."""

    async def fetch(self, file: RemoteFile) -> Location:
        """The file on this machine, brought here if need be, or why it cannot be had."""

    async def aclose(self) -> None:
        """Let go of connections; nothing is asked of the source any more."""


class NoLibrary(ServiceError):
    """There is no Zotero library where one was looked for."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "NO_LIBRARY"


class LibraryLocked(ServiceError):
    """The library is there but cannot be read at the moment; trying again may help."""

    code, reason = grpc.StatusCode.UNAVAILABLE, "LIBRARY_LOCKED"


class SyncStopped(ServiceError):
    """Somebody stopped the sync; what it had read stays."""

    code, reason = grpc.StatusCode.ABORTED, "SYNC_STOPPED"


class SourceUnreachable(ServiceError):
    """The program or server that holds the library does not answer; trying again may help."""

    code, reason = grpc.StatusCode.UNAVAILABLE, "SOURCE_UNREACHABLE"


class SourceRefused(ServiceError):
    """The source answers but does not give the library: a setting or a key has to change."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "SOURCE_REFUSED"


class LibraryCorrupt(ServiceError):
    """The library's database is damaged or is not a Zotero database."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "LIBRARY_CORRUPT"


class NoRoomForSnapshot(ServiceError):
    """The temporary folder has no room for a copy of the library's database."""

    code, reason = grpc.StatusCode.RESOURCE_EXHAUSTED, "DISK_FULL"


class InvalidSource(ServiceError):
    """No library can be read from the place that was named."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "INVALID_SOURCE"


class SourceFixed(ServiceError):
    """This process reads the library that its settings name, and no other."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "SOURCE_FIXED"


class NoSource:
    """Stands where no library can be read, and says why."""

    kind = ""
    location = ""
    program = ""

    def __init__(self, why: str) -> None:
        self._why = why

    async def read(self) -> LibraryRecords:
        """Raises NoLibrary with the reason."""
        raise NoLibrary(self._why)

    async def signature(self) -> Hashable:
        """Nothing changes."""
        return None

    async def fetch(self, file: RemoteFile) -> Location:
        """There is no file."""
        return missing(f"The file {file.name!r} is not on this machine.")

    async def aclose(self) -> None:
        """There is nothing to let go of."""
