"""One file to its text, whatever its kind: what the reader's process does with a request."""

import os
from pathlib import Path

from services.search.library.records import Unread
from services.search.text.decoding import decoded, is_binary
from services.search.text.document_text import FileText, PagedText, StructuredText
from services.search.text.epub import read_epub
from services.search.text.media import Media
from services.search.text.passages import structure
from services.search.text.pdf import read_pdf
from services.search.text.plain import read_plain
from services.search.text.web_page import read_web_page

# A snapshot with all its pictures inside may be large; a text of this size is no reading matter.
LARGEST_PAGE = 100_000_000
LARGEST_TEXT = 50_000_000
MARKDOWN = frozenset({".md", ".markdown"})
XML = frozenset({".xhtml", ".xml"})
# A file that is being written is looked at so often.
ATTEMPTS = 3
NOTHING = StructuredText(sections=(), passages=())


def read_file(path: Path, media: Media, document_id: str, *, max_pages: int) -> FileText:
    """The file's text in passages; a file that is written to meanwhile is read again."""
    for _ in range(ATTEMPTS):
        before = _stamp(path)
        paged = _read(path, media, max_pages)
        if _stamp(path) == before:
            break
    else:
        paged = _unread(
            Unread.CHANGING, "The file kept changing while it was read; the next sync tries again."
        )
    structured = structure(paged, document_id) if paged.pages else NOTHING
    return FileText(paged=paged, structured=structured)


def _stamp(path: Path) -> tuple[int, int] | None:
    """What changes when the file is written to; None when it cannot be looked at."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns


def _read(path: Path, media: Media, max_pages: int) -> PagedText:
    match media:
        case Media.PDF:
            return read_pdf(path, max_pages=max_pages)
        case Media.EPUB:
            return _opened(path) or read_epub(path)
        case Media.WEB_PAGE:
            data = _bytes(path, LARGEST_PAGE)
            if isinstance(data, PagedText):
                return data
            is_xml = path.suffix.lower() in XML or data.lstrip()[:5] == b"<?xml"
            return read_web_page(decoded(data, is_markup=True), xml=is_xml)
        case Media.TEXT:
            data = _bytes(path, LARGEST_TEXT)
            if isinstance(data, PagedText):
                return data
            text = decoded(data, is_markup=False)
            return read_plain(text, is_markdown=path.suffix.lower() in MARKDOWN)


def _opened(path: Path) -> PagedText | None:
    """Why the file cannot be opened; None if it can."""
    try:
        with path.open("rb") as file:
            file.read(1)
    except (OSError, ValueError) as error:
        return _unread(Unread.FILE_MISSING, f"{str(path)!r} cannot be opened ({error}).")
    return None


def _bytes(path: Path, most: int) -> bytes | PagedText:
    """The whole of a text file, or why it is none."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:
        return _unread(Unread.FILE_MISSING, f"{str(path)!r} cannot be opened ({error}).")
    if len(data) > most:
        return _unread(Unread.TOO_LARGE, f"The file is larger than {most // 1_000_000} MB.")
    if is_binary(data):
        return _unread(Unread.DAMAGED, "The file is damaged or is not text.")
    return data


def _unread(reason: Unread, detail: str) -> PagedText:
    return PagedText(pages=(), outline=(), page_count=0, unread=reason, detail=detail)
