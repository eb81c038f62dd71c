"""The text of an EPUB book: its chapters in order, with sections by headings or contents."""

import posixpath
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from services.search.library.records import Unread
from services.search.text.decoding import decoded
from services.search.text.document_text import BlockKind, PagedText
from services.search.text.flow import Flow, tidy
from services.search.text.heading_names import comparable
from services.search.text.markup import Close, Open, tokens
from services.search.text.web_page import MarkedBlock, marked_blocks

CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
# All chapters of a book together; a bomb of a few kilobytes unpacks to thousands of times that.
MOST_BYTES = 200_000_000
LARGEST_CHAPTER = 50_000_000
LARGEST_PACKAGE = 20_000_000
MOST_CHAPTERS = 10_000
CHAPTERS = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})
# Where a heading is looked for that the table of contents names.
NEAR = 3
DAMAGED = "The file is damaged or is not an EPUB book."


class _Unreadable(Exception):
    """The book cannot be read, for a reason."""

    def __init__(self, reason: Unread, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A line of the table of contents."""

    title: str
    level: int
    fragment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Package:
    """What the book says of its files."""

    chapters: tuple[str, ...]
    contents: str
    """The file with the table of contents; empty without one."""


def read_epub(path: Path) -> PagedText:
    """The text of a book; what cannot be read is told in the result, never raised."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _Book(archive).read()
    except _Unreadable as error:
        return _unread(error.reason, error.detail)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, KeyError):
        return _unread(Unread.DAMAGED, DAMAGED)


def _unread(reason: Unread, detail: str) -> PagedText:
    return PagedText(pages=(), outline=(), page_count=0, unread=reason, detail=detail)


class _Book:
    """One reading of one archive; nothing is ever unpacked to disk."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._names = {info.filename: info for info in archive.infolist()}
        self._left = MOST_BYTES

    def read(self) -> PagedText:
        package = self._package()
        self._refuse_protected(package)
        contents = self._contents(package)
        flow = Flow()
        missing = 0
        for name in package.chapters:
            if name == package.contents:
                continue  # the table of contents is no text
            if name not in self._names:
                missing += 1
                continue
            blocks = marked_blocks(self._text(name, LARGEST_CHAPTER), xml=True)
            for block in _with_contents(blocks, contents.get(name, ())):
                flow.add(block.text, block.kind, level=block.level, title=block.title)
        text = flow.text()
        if not missing or text.unread is not None:
            return text
        detail = f"{missing} of {len(package.chapters)} chapters are not in the file."
        return replace(text, unread=Unread.DAMAGED, detail=detail)

    def _text(self, name: str, most: int) -> str:
        info = self._names.get(name)
        if info is None:
            raise _Unreadable(Unread.DAMAGED, DAMAGED)
        if info.flag_bits & 0x1:
            raise _Unreadable(Unread.ENCRYPTED, "The book needs a password.")
        most = min(most, self._left)
        with self._archive.open(info) as file:
            # What the archive says of its sizes may be a lie, so what comes out is counted.
            data = file.read(most + 1)
        if len(data) > most:
            raise _Unreadable(Unread.TOO_LARGE, "The book unpacks to more than a book can hold.")
        self._left -= len(data)
        return decoded(data, is_markup=True)

    def _package(self) -> _Package:
        container = self._text(CONTAINER, LARGEST_PACKAGE)
        root = next(
            (
                tag.attributes.get("full-path", "")
                for tag in tokens(container, xml=True)
                if isinstance(tag, Open) and tag.name == "rootfile"
            ),
            "",
        )
        folder = posixpath.dirname(root)
        files: dict[str, tuple[str, str]] = {}
        order: list[str] = []
        contents = ncx = ""
        for tag in tokens(self._text(root, LARGEST_PACKAGE), xml=True):
            if not isinstance(tag, Open):
                continue
            attributes = tag.attributes
            if tag.name == "item":
                name = _inside(folder, attributes.get("href", ""))
                media = attributes.get("media-type", "")
                files[attributes.get("id", "")] = name, media
                if "nav" in attributes.get("properties", "").split():
                    contents = name
                elif media == "application/x-dtbncx+xml":
                    ncx = name
            elif tag.name == "itemref":
                order.append(attributes.get("idref", ""))
        chapters = [files[one][0] for one in order if one in files and files[one][1] in CHAPTERS]
        if not chapters:
            raise _Unreadable(Unread.DAMAGED, "The book does not say which chapters it has.")
        return _Package(chapters=tuple(chapters[:MOST_CHAPTERS]), contents=contents or ncx)

    def _refuse_protected(self, package: _Package) -> None:
        """Books with protected chapters say so; protected fonts do not matter."""
        if ENCRYPTION not in self._names:
            return
        listed = tokens(self._text(ENCRYPTION, LARGEST_PACKAGE), xml=True)
        protected = {
            unquote(tag.attributes.get("uri", ""))
            for tag in listed
            if isinstance(tag, Open) and tag.name == "cipherreference"
        }
        if protected & set(package.chapters):
            raise _Unreadable(Unread.ENCRYPTED, "The book is protected against being read.")

    def _contents(self, package: _Package) -> dict[str, list[_Entry]]:
        """The lines of the table of contents by the chapter that they lead to."""
        if package.contents not in self._names:
            return {}
        folder = posixpath.dirname(package.contents)
        found: dict[str, list[_Entry]] = {}
        depth, target, title = 0, "", ""
        for token in tokens(self._text(package.contents, LARGEST_PACKAGE), xml=True):
            match token:
                case Open(name="ol" | "navpoint"):
                    depth += 1
                    title = "" if token.name == "navpoint" else title
                case Close(name="ol" | "navpoint"):
                    depth -= 1
                case Open(name="a"):
                    target, title = token.attributes.get("href", ""), ""
                case Open(name="content"):
                    _put(found, folder, token.attributes.get("src", ""), title, depth)
                case Close(name="a"):
                    _put(found, folder, target, title, depth)
                case Close(name="nav"):
                    break  # the first one is the table of contents; others list pages
                case str():
                    title += token
        return found


def _put(found: dict[str, list[_Entry]], folder: str, target: str, title: str, depth: int) -> None:
    name, _, fragment = target.partition("#")
    if (title := tidy(title)) and name and depth > 0:
        entry = _Entry(title=title, level=depth, fragment=unquote(fragment))
        found.setdefault(_inside(folder, name), []).append(entry)


def _inside(folder: str, target: str) -> str:
    """The name in the archive of what a reference leads to."""
    return posixpath.normpath(posixpath.join(folder, unquote(target.partition("#")[0])))


def _with_contents(
    blocks: Sequence[MarkedBlock], entries: Sequence[_Entry]
) -> Sequence[MarkedBlock]:
    """The chapter with sections where the contents name one and the chapter has no heading."""
    for entry in entries:
        begin = next(
            (index for index, block in enumerate(blocks) if entry.fragment in block.ids), 0
        )
        near = blocks[begin : begin + NEAR]
        if not near or any(block.level for block in near):
            continue
        wanted = comparable(entry.title)
        printed = next((block for block in near if comparable(block.text) == wanted), None)
        if printed is not None:
            printed.kind, printed.level = BlockKind.HEADING, entry.level
        else:
            near[0].level, near[0].title = entry.level, entry.title
    return blocks
