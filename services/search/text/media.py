"""Which kinds of files are read, told by what Zotero says of them and by their names."""

from enum import Enum
from pathlib import PurePath


class Media(Enum):
    """A kind of file that has a reader."""

    PDF = "pdf"
    WEB_PAGE = "web_page"
    EPUB = "epub"
    TEXT = "text"


BY_TYPE = {
    "application/pdf": Media.PDF,
    "application/x-pdf": Media.PDF,
    "text/html": Media.WEB_PAGE,
    "application/xhtml+xml": Media.WEB_PAGE,
    "application/epub+zip": Media.EPUB,
    "text/plain": Media.TEXT,
    "text/markdown": Media.TEXT,
    "text/x-markdown": Media.TEXT,
}
BY_ENDING = {
    ".pdf": Media.PDF,
    ".html": Media.WEB_PAGE,
    ".htm": Media.WEB_PAGE,
    ".xhtml": Media.WEB_PAGE,
    ".epub": Media.EPUB,
    ".txt": Media.TEXT,
    ".text": Media.TEXT,
    ".md": Media.TEXT,
    ".markdown": Media.TEXT,
}
# Types that say nothing, so that the name decides.
VAGUE = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/zip"})
# Types that servers give to whatever they send, so that a telling name knows better.
CARELESS = frozenset({"text/plain", "text/html"})


def media_of(content_type: str, name: str) -> Media | None:
    """The kind of a file; None if there is no reader for it."""
    told = content_type.partition(";")[0].strip().lower()
    by_name = BY_ENDING.get(PurePath(name).suffix.lower())
    if told in VAGUE or (told in CARELESS and by_name in (Media.PDF, Media.EPUB)):
        return by_name
    return BY_TYPE.get(told) or (by_name if by_name is Media.PDF else None)
