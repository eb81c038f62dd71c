"""The text of a document as values: pages, sections, passages and where they stand on paper."""

from dataclasses import dataclass
from enum import Enum

from services.search.library.records import Unread

# The index of the one page that a text without pages is kept as.
NO_PAGE = -1


class BlockKind(Enum):
    """What a paragraph of a page is, by its place and its type."""

    TEXT = "text"
    HEADING = "heading"
    CAPTION = "caption"
    TABLE = "table"
    NOTE = "note"
    """A footnote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A half-open range of a page's text that is one paragraph."""

    start: int
    end: int
    kind: BlockKind
    size: float
    """The type size relative to that of most of the document's text."""
    bold: bool = False
    level: int = 0
    """Set where the file itself says that a section begins: 1 for the outermost."""
    title: str = ""
    """The title of that section when the paragraph is not its heading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One physical page's text in reading order."""

    index: int
    """Physical, 0-based; NO_PAGE when the text has no pages."""
    label: str
    """The printed label; `<index + 1>` when the file has none, empty when there are no pages."""
    text: str
    """Paragraphs separated by blank lines."""
    blocks: tuple[Block, ...] = ()
    """The paragraphs of the text in order; empty when only the text is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineEntry:
    """A bookmark of the file."""

    title: str
    level: int
    """1 for the outermost."""
    page_index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PagedText:
    """What was read of a file."""

    pages: tuple[Page, ...]
    outline: tuple[OutlineEntry, ...]
    page_count: int
    """Physical pages of the file: more than `pages` when only a part was read, 0 without pages."""
    unread: Unread | None = None
    """Set when nothing was read, or only a part."""
    detail: str = ""

    @property
    def is_without_pages(self) -> bool:
        """Whether the text is one that has no pages, such as a web page's."""
        return any(page.index == NO_PAGE for page in self.pages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A titled stretch of the text, in reading order."""

    section_id: str
    """`s<number>` in order, unique in the document."""
    title: str
    level: int
    path: tuple[str, ...]
    """Titles from the outermost section to this one."""
    first_page_index: int
    last_page_index: int
    """Where the section ends, its own sections included; both are 0 for a text without pages."""
    words: int
    """Words of the section itself, without those of its own sections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A half-open code point range of a passage's text that stands on one page."""

    start: int
    end: int
    page_index: int
    page_label: str
    page_start: int
    """Where the range begins in the text of its page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageText:
    """A chunk of some 180 to 220 words on paragraph borders, within one section."""

    passage_id: str
    ordinal: int
    section_id: str
    section_path: tuple[str, ...]
    text: str
    spans: tuple[Span, ...]
    words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredText:
    """Sections and passages of a document; the reference list is left out of both."""

    sections: tuple[Section, ...]
    passages: tuple[PassageText, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """A file's pages, or the reason why there are none, and what was made of them."""

    paged: PagedText
    structured: StructuredText
