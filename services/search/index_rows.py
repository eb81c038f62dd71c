"""What the index holds, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What kind of text a document is; OTHER is a file of a type that is not read."""

    PDF = "pdf"
    WEB_PAGE = "web_page"
    EPUB = "epub"
    TEXT = "text"
    ABSTRACT = "abstract"
    NOTE = "note"
    ANNOTATION = "annotation"
    OTHER = "other"


class Reading(Enum):
    """How much was read; the names are the wire's ReadingState without its prefix."""

    FULL = "full"
    PARTIAL = "partial"
    ABSTRACT_ONLY = "abstract_only"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedDocument:
    """A document as its committed row tells it."""

    document_id: str
    generation: str
    """Names the passages and pages that belong to this row; see `new_generation`."""
    library: str
    item_key: str
    attachment_key: str
    kind: Kind
    title: str
    creators: tuple[str, ...]
    year: str
    citation_key: str
    tags: tuple[str, ...]
    collections: tuple[str, ...]
    """`<library>/<key>` of every collection that holds the item, and of their ancestors."""
    page_count: int
    reading: Reading
    reading_reason: str
    skip: str
    """Why the text was not read, or not all of it: the value of an `Unread`; else empty."""
    fingerprint: str
    """Changes when the text has to be read again."""
    passages: int
    words: int

    @property
    def item(self) -> tuple[str, str]:
        """Library and key of the top-level item."""
        return self.library, self.item_key


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedSection:
    """A titled stretch of a document, in reading order."""

    section_id: str
    title: str
    level: int
    path: tuple[str, ...]
    first_page_index: int
    last_page_index: int
    words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedSpan:
    """A half-open code point range of a passage's text that stands on one page."""

    start: int
    end: int
    page_index: int
    page_label: str
    page_start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedPassage:
    """A passage of one generation of a document."""

    passage_id: str
    document_id: str
    generation: str
    ordinal: int
    section_id: str
    section_path: tuple[str, ...]
    text: str
    words: int
    spans: tuple[IndexedSpan, ...]
    digest: str
    """Of the text that is embedded: a vector is the passage's own while their digests agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedPage:
    """The text of a page; a text without pages is one page with index -1 and no label."""

    page_index: int
    page_label: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedText:
    """A whole document, ready to be committed."""

    document: IndexedDocument
    sections: tuple[IndexedSection, ...]
    passages: tuple[IndexedPassage, ...]
    pages: tuple[IndexedPage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """All committed documents at one version of their table."""

    version: int
    by_id: Mapping[str, IndexedDocument]

    def is_live(self, document_id: str, generation: str) -> bool:
        """Whether rows of this generation belong to the committed document."""
        document = self.by_id.get(document_id)
        return document is not None and document.generation == generation

    @property
    def passages(self) -> int:
        """Passages of all documents."""
        return sum(document.passages for document in self.by_id.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A passage that a retriever returned, best first in its list."""

    place: int
    """Where the view that was asked has the passage."""
    passage_id: str
    document_id: str
    score: float
    """BM25, or the cosine."""
