"""Passages as a run keeps them: text, pages and what a citation says of the document. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

NO_PAGE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A Zotero item; a key is unique only within its library."""

    library: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The text that a passage belongs to. Kind and reading state are names of the wire's enums."""

    id: str
    item: Item
    attachment_key: str
    title: str
    creators: tuple[str, ...]
    year: str
    citation_key: str
    kind: str
    reading_state: str
    reading_reason: str
    page_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSpan:
    """A half-open range of the text's code points on one physical page."""

    start: int
    end: int
    page_index: int
    page_label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A chunk of a document."""

    id: str
    document: Document
    section_path: tuple[str, ...]
    text: str
    page_spans: tuple[PageSpan, ...]
    ordinal: int

    def cut(self, end: int) -> "Passage":
        """The passage up to a code point, its page spans cut with it."""
        spans = tuple(
            replace(span, end=min(span.end, end)) for span in self.page_spans if span.start < end
        )
        return replace(self, text=self.text[:end], page_spans=spans)

    def page_at(self, offset: int) -> tuple[int, str]:
        """Physical page and label of a code point; NO_PAGE and "" for a text without pages."""
        for span in self.page_spans:
            if span.start <= offset < span.end:
                return span.page_index, span.page_label
        if not self.page_spans:
            return NO_PAGE, ""
        nearest = min(self.page_spans, key=lambda span: abs(span.start - offset))
        return nearest.page_index, nearest.page_label

    @property
    def heading(self) -> str:
        """Document and section titles on one line."""
        return " · ".join(part for part in (self.document.title, *self.section_path) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A passage that a run gathered, and how."""

    passage: Passage
    words: int
    # 1-based best place in the result that brought it.
    rank: int
    similarity: float | None
    step_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """Evidence that the rerank stage kept."""

    evidence: Evidence
    score: float
    # Of its sentences in their order; empty when they were not scored.
    sentence_scores: Sequence[float] = ()
