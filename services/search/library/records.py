"""A Zotero library as plain values: the same records come out of every source."""

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

USER_LIBRARY = "user"


def group_library(group_id: int) -> str:
    """The name of a group's library."""
    return f"groups/{group_id}"


class LinkMode(Enum):
    """How an attachment is kept (Zotero's `linkMode`)."""

    IMPORTED_FILE = 0
    IMPORTED_URL = 1
    LINKED_FILE = 2
    LINKED_URL = 3
    EMBEDDED_IMAGE = 4

    @property
    def is_stored(self) -> bool:
        """Whether Zotero keeps the file in its own folder."""
        return self in (LinkMode.IMPORTED_FILE, LinkMode.IMPORTED_URL)


class Unread(Enum):
    """Why a text could not be read; the names are the wire's SkipReason without its prefix."""

    FILE_MISSING = "file_missing"
    ENCRYPTED = "encrypted"
    IMAGE_ONLY = "image_only"
    DAMAGED = "damaged"
    UNSUPPORTED_TYPE = "unsupported_type"
    TOO_LARGE = "too_large"
    TIMED_OUT = "timed_out"
    BASE_FOLDER_UNKNOWN = "base_folder_unknown"
    OUTSIDE_LIBRARY = "outside_library"
    NO_UNICODE_MAP = "no_unicode_map"
    CHANGING = "changing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """The personal library or a group; feeds are never read."""

    name: str
    """`user` or `groups/<id>`."""
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Creator:
    """A person or an institution with its role."""

    role: str
    """Zotero's creator type: author, editor, translator, …"""
    given: str
    family: str
    """The whole name when the creator has one field only (institutions, many CJK names)."""

    @property
    def display(self) -> str:
        """`Given Family`, or the single-field name."""
        return f"{self.given} {self.family}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A tag and whether Zotero set it by itself."""

    name: str
    automatic: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A top-level regular item that is not in the trash."""

    library: str
    key: str
    item_type: str
    title: str
    creators: tuple[Creator, ...] = ()
    date: str = ""
    """The original text of the date."""
    year: str = ""
    abstract: str = ""
    citation_key: str = ""
    """Native, else from the Extra field, else empty."""
    fields: dict[str, str] = field(default_factory=dict)
    """All other fields by Zotero's field names (DOI, publicationTitle, extra, …)."""
    tags: tuple[Tag, ...] = ()
    collections: tuple[str, ...] = ()
    """Keys of the collections that hold the item directly."""
    replaces: tuple[str, ...] = ()
    """Keys of the items of this library that were merged into this one."""
    added: str = ""
    modified: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """A stored file as its server names it."""

    library: str
    key: str
    md5: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """An attachment that is not in the trash, with its file found or the reason why not."""

    library: str
    key: str
    parent_key: str | None
    title: str
    link_mode: LinkMode
    content_type: str
    path: Path | None
    """An existing file; None for a linked URL and whenever `unread` is set."""
    unread: Unread | None = None
    detail: str = ""
    """One sentence for a person when `unread` is set."""
    remote: "RemoteFile | None" = None
    """A file that is not on this machine but can be fetched; then `path` and `unread` are unset."""
    url: str = ""
    tags: tuple[Tag, ...] = ()
    collections: tuple[str, ...] = ()
    """For a standalone attachment."""
    added: str = ""
    modified: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note as plain text."""

    library: str
    key: str
    parent_key: str | None
    title: str
    text: str
    cited_uris: tuple[str, ...] = ()
    """Item URIs of the note's citation spans."""
    tags: tuple[Tag, ...] = ()
    collections: tuple[str, ...] = ()
    added: str = ""
    modified: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """A mark in an attachment."""

    library: str
    key: str
    attachment_key: str
    kind: str
    """highlight, note, image, ink, underline or text."""
    text: str
    comment: str
    color: str
    page_label: str
    page_index: int | None
    """Physical, 0-based; None when the position names no page."""
    sort_index: str = ""
    tags: tuple[Tag, ...] = ()
    added: str = ""
    modified: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A collection that is not in the trash."""

    library: str
    key: str
    name: str
    parent_key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition of a saved search, in Zotero's own words."""

    name: str
    """A field (`title`, `tag`, `collection`, …) or a switch (`joinMode`, `recursive`, …)."""
    operator: str
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSearch:
    """A saved search that is not in the trash."""

    library: str
    key: str
    name: str
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryRecords:
    """Everything that a source gave, trash excluded, in a stable order."""

    libraries: tuple[Library, ...]
    items: tuple[Item, ...]
    attachments: tuple[Attachment, ...]
    notes: tuple[Note, ...]
    annotations: tuple[Annotation, ...]
    collections: tuple[Collection, ...]
    searches: tuple[SavedSearch, ...] = ()
    schema_version: int
    """The version that the source gives its own format."""
    notices: tuple[str, ...] = ()
    """What this source cannot give, one sentence each for a person."""
