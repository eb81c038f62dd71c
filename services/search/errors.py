"""What can go wrong in search, as callers see it; the library's own errors are with its readers."""

import errno

import grpc

from services.chassis.errors import ServiceError


class InvalidQuery(ServiceError):
    """The query is empty or too long."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "INVALID_QUERY"


class UnknownScope(ServiceError):
    """The scope names a library or collection that the index does not know."""

    code, reason = grpc.StatusCode.NOT_FOUND, "UNKNOWN_SCOPE"


class UnsupportedSearch(ServiceError):
    """The scope names a saved search with conditions that only Zotero can evaluate."""

    code, reason = grpc.StatusCode.FAILED_PRECONDITION, "UNSUPPORTED_SEARCH"


class InvalidCursor(ServiceError):
    """The cursor of a list is none that this list gave."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "INVALID_CURSOR"


class UnknownDocument(ServiceError):
    """No visible document has this id."""

    code, reason = grpc.StatusCode.NOT_FOUND, "UNKNOWN_DOCUMENT"


class UnknownSection(ServiceError):
    """The document has no such section."""

    code, reason = grpc.StatusCode.NOT_FOUND, "UNKNOWN_SECTION"


class UnknownPassage(ServiceError):
    """No visible passage has this id, or it belongs to another document."""

    code, reason = grpc.StatusCode.NOT_FOUND, "UNKNOWN_PASSAGE"


class InvalidPages(ServiceError):
    """The page range is empty or outside the document."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "INVALID_PAGES"


class InvalidQuote(ServiceError):
    """The quote is empty, too long or has no letter or digit."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "INVALID_QUOTE"


class DiskFull(ServiceError):
    """The index cannot grow; what it holds stays readable."""

    code, reason = grpc.StatusCode.RESOURCE_EXHAUSTED, "DISK_FULL"


class IndexBusy(ServiceError):
    """The index took too long to answer; the same call may succeed a moment later."""

    code, reason = grpc.StatusCode.UNAVAILABLE, "INDEX_BUSY"


class IndexUnusable(Exception):
    """The index cannot be opened; the text is one sentence for a person."""


# How the storage layer words ENOSPC and EDQUOT when it does not raise OSError itself.
FULL_DISK_TEXTS = ("no space left on device", "os error 28)", "disk quota exceeded")


def is_disk_full(error: BaseException) -> bool:
    """Whether the error, or one that caused it, says that the disk is full."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, OSError) and seen.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        text = str(seen).lower()
        if any(known in text for known in FULL_DISK_TEXTS):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
