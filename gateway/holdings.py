"""What a library holds and where it is read from, as JSON."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from gateway.wire import LibraryName, Reply, Request, without_nul

FolderName = Annotated[
    str, StringConstraints(min_length=1, max_length=4096), AfterValidator(without_nul)
]
# A notifier may tell keys that no interface of Zotero would make.
AnyKey = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class SourceChoice(Request):
    """Where to read the library from."""

    kind: Literal["sqlite", "local_api", "web_api"]
    data_dir: FolderName | None = None
    server: Annotated[str, StringConstraints(max_length=500)] | None = None
    base_folder: FolderName | None = None


class LibraryChange(Request):
    """Objects of one kind that changed in a library."""

    kind: Annotated[str, StringConstraints(min_length=1, max_length=50)]
    library: LibraryName
    keys: list[AnyKey] = Field(default_factory=list, max_length=10_000)


class LibraryChanges(Request):
    """What a program that watches the library has seen change."""

    events: list[LibraryChange] = Field(max_length=1_000)


class Accepted(Reply):
    """It will be done."""

    accepted: Literal[True] = True


class ScopeCount(Reply):
    """How much a search within some part of the library sees."""

    items: int
    documents: int


class LibraryEntry(Reply):
    """The personal library or a group's."""

    library: str
    title: str
    count: ScopeCount


class CollectionEntry(Reply):
    """A collection; the count includes those inside it."""

    collection: str
    name: str
    parent: str | None
    count: ScopeCount


class SavedSearchEntry(Reply):
    """A saved search; one with unsupported conditions cannot be a scope."""

    saved_search: str
    name: str
    count: ScopeCount
    unsupported: list[str]


class TagEntry(Reply):
    """A tag; an automatic one was never set by hand."""

    library: str
    tag: str
    automatic: bool
    count: ScopeCount


class Holdings(Reply):
    """Everything that a scope can name."""

    libraries: list[LibraryEntry]
    collections: list[CollectionEntry]
    saved_searches: list[SavedSearchEntry]
    tags: list[TagEntry]


class DocumentEntry(Reply):
    """A text of an item."""

    document_id: str
    library: str
    item_key: str
    alias_keys: list[str]
    """Keys of duplicate or merged items that the item stands for."""
    attachment_key: str
    title: str
    creators: list[str]
    year: str
    citation_key: str
    kind: str
    reading: str
    reading_reason: str
    page_count: int


class DocumentList(Reply):
    """A page of documents by title, and the count of all pages."""

    documents: list[DocumentEntry]
    count: ScopeCount
    next_cursor: str | None
