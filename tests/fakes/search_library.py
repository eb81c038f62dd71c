"""A small library made by the tests: its records, its files, and an encoder of words."""

import asyncio
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from services.search.library.attachment_paths import Location, missing
from services.search.library.records import (
    Attachment,
    Collection,
    Creator,
    Item,
    Library,
    LibraryRecords,
    LinkMode,
    RemoteFile,
    Unread,
)
from services.search.library.source import InvalidSource, NoSource
from services.search.library_state import LibraryState, SourceChoice
from services.search.text.document_text import FileText, Page, PagedText
from services.search.text.media import Media
from services.search.text.passages import structure

DIMENSIONS = 64
EMPTY = LibraryRecords(
    libraries=(Library(name="user", title="My Library"),),
    items=(),
    attachments=(),
    notes=(),
    annotations=(),
    collections=(),
    schema_version=125,
)


class WordEncoder:
    """Texts that share words have near vectors; counts what it is given."""

    dimensions = DIMENSIONS

    def __init__(self, encoder_id: str = "words/1") -> None:
        self.encoder_id = encoder_id
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        rows = np.full((len(texts), DIMENSIONS), 1e-3, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                row[int(hashlib.sha256(word.encode()).hexdigest(), 16) % DIMENSIONS] += 1
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


@dataclass
class FakeSource:
    """A source whose records the test sets; an error is raised instead."""

    records: LibraryRecords = EMPTY
    error: Exception | None = None
    reads: int = 0
    kind: str = "sqlite"
    location: str = "/library"
    program: str = "Zotero 10.0.1"
    fetched: list[RemoteFile] = field(default_factory=list)
    files: dict[str, Path] = field(default_factory=dict)
    """Remote files by the key of their attachment."""
    is_closed: bool = False

    async def read(self) -> LibraryRecords:
        self.reads += 1
        if self.error is not None:
            raise self.error
        return self.records

    async def signature(self) -> LibraryRecords:
        return self.records

    async def fetch(self, file: RemoteFile) -> Location:
        self.fetched.append(file)
        path = self.files.get(file.key)
        return Location(path=path) if path else missing("The server does not have it.")

    async def aclose(self) -> None:
        self.is_closed = True


@dataclass
class FakeSources:
    """Opens the one source, or those that a person may choose by their data folder."""

    first: FakeSource
    others: dict[str, FakeSource] = field(default_factory=dict)
    configured: SourceChoice | None = None
    is_demo_library: bool = False

    def none(self) -> NoSource:
        return NoSource("No library is set.")

    def opened_at_start(self, state: LibraryState) -> FakeSource:
        return self.others[state.chosen.data_dir] if state.chosen else self.first

    async def opened_for_person(self, choice: SourceChoice) -> FakeSource:
        if choice.data_dir not in self.others:
            raise InvalidSource(f"There is no library in {choice.data_dir!r}.")
        return self.others[choice.data_dir]

    def is_demo(self, location: str) -> bool:
        return self.is_demo_library

    def recheck_s(self, kind: str) -> float:
        return 0.0


@dataclass
class FormFeedReader:
    """Reads text files whose pages are divided by form feeds, labelled from 11 on."""

    opened: list[Path] = field(default_factory=list)
    gate: asyncio.Event | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        return None

    async def warm(self) -> None:
        return None

    async def read(self, path: Path, media: Media, document_id: str) -> FileText:
        self.opened.append(path)
        if self.gate is not None:
            await self.gate.wait()
        text = await asyncio.to_thread(path.read_text, encoding="utf-8")
        if text == "encrypted":
            paged = PagedText(
                pages=(), outline=(), page_count=0, unread=Unread.ENCRYPTED, detail="Locked."
            )
        else:
            pages = tuple(
                Page(index=index, label=str(index + 11), text=page)
                for index, page in enumerate(text.split("\f"))
            )
            paged = PagedText(pages=pages, outline=(), page_count=len(pages))
        return FileText(paged=paged, structured=structure(paged, document_id))


class Shelf:
    """Builds records; files are written below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.records = EMPTY

    def item(self, key: str, title: str, *, library: str = "user", **fields: object) -> Self:
        """Add an item."""
        creators = (Creator(role="author", given="Ada", family="Lovelace"),)
        values = {"item_type": "journalArticle", "creators": creators, "year": "2020", **fields}
        item = Item(library=library, key=key, title=title, **values)  # type: ignore[arg-type]
        return self._with(items=(*self.records.items, item))

    def file(self, key: str, parent: str | None, text: str, *, library: str = "user") -> Self:
        """Add a PDF attachment with this text; a form feed begins a page."""
        path = self._folder / f"{key}.pdf"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        attachment = Attachment(
            library=library,
            key=key,
            parent_key=parent,
            title="PDF",
            link_mode=LinkMode.IMPORTED_FILE,
            content_type="application/pdf",
            path=path,
        )
        others = tuple(one for one in self.records.attachments if one.key != key)
        return self._with(attachments=(*others, attachment))

    def collection(self, key: str, parent: str | None = None) -> Self:
        """Add a collection."""
        made = Collection(library="user", key=key, name=key, parent_key=parent)
        return self._with(collections=(*self.records.collections, made))

    def without_item(self, key: str) -> Self:
        """Take an item and its files away."""
        return self._with(
            items=tuple(one for one in self.records.items if one.key != key),
            attachments=tuple(one for one in self.records.attachments if one.parent_key != key),
        )

    def renamed(self, key: str, title: str) -> Self:
        """Give an item another title."""
        items = tuple(
            replace(one, title=title) if one.key == key else one for one in self.records.items
        )
        return self._with(items=items)

    def _with(self, **changes: object) -> Self:
        self.records = replace(self.records, **changes)  # type: ignore[arg-type]
        return self
