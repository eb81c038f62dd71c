"""How the serving process and the file reader write to each other: a length, then JSON."""

import json
from dataclasses import dataclass
from typing import Any

from services.search.library.records import Unread
from services.search.text.document_text import (
    FileText,
    Page,
    PagedText,
    PassageText,
    Section,
    Span,
    StructuredText,
)
from services.search.text.media import Media

HEADER_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A file to be read."""

    path: str
    media: str
    document_id: str
    max_pages: int
    deadline_s: float

    @property
    def kind(self) -> Media:
        """The kind of the file."""
        return Media(self.media)


def frame(body: bytes) -> bytes:
    """The body with its length before it."""
    return len(body).to_bytes(HEADER_BYTES, "big") + body


def body_length(header: bytes) -> int:
    """The length of the body that follows the header."""
    return int.from_bytes(header, "big")


def encode_text(text: FileText) -> bytes:
    """What was read of a file as JSON, without the layout that passages were made from."""
    paged, structured = text.paged, text.structured
    return json.dumps(
        {
            "pages": [[page.index, page.label, page.text] for page in paged.pages],
            "page_count": paged.page_count,
            "unread": paged.unread.value if paged.unread else None,
            "detail": paged.detail,
            "sections": [_section_values(section) for section in structured.sections],
            "passages": [_passage_values(passage) for passage in structured.passages],
        }
    ).encode()


def decode_text(body: bytes) -> FileText:
    """The text that `encode_text` wrote."""
    raw = json.loads(body)
    return FileText(
        paged=PagedText(
            pages=tuple(
                Page(index=index, label=label, text=text) for index, label, text in raw["pages"]
            ),
            outline=(),
            page_count=raw["page_count"],
            unread=Unread(raw["unread"]) if raw["unread"] else None,
            detail=raw["detail"],
        ),
        structured=StructuredText(
            sections=tuple(_section(values) for values in raw["sections"]),
            passages=tuple(_passage(values) for values in raw["passages"]),
        ),
    )


def _section_values(section: Section) -> list[Any]:
    return [
        section.section_id,
        section.title,
        section.level,
        section.path,
        section.first_page_index,
        section.last_page_index,
        section.words,
    ]


def _section(values: list[Any]) -> Section:
    section_id, title, level, path, first, last, words = values
    return Section(
        section_id=section_id,
        title=title,
        level=level,
        path=tuple(path),
        first_page_index=first,
        last_page_index=last,
        words=words,
    )


def _passage_values(passage: PassageText) -> list[Any]:
    spans = [
        [span.start, span.end, span.page_index, span.page_label, span.page_start]
        for span in passage.spans
    ]
    return [
        passage.passage_id,
        passage.ordinal,
        passage.section_id,
        passage.section_path,
        passage.text,
        spans,
        passage.words,
    ]


def _passage(values: list[Any]) -> PassageText:
    passage_id, ordinal, section_id, path, text, spans, words = values
    return PassageText(
        passage_id=passage_id,
        ordinal=ordinal,
        section_id=section_id,
        section_path=tuple(path),
        text=text,
        spans=tuple(
            Span(start=start, end=end, page_index=index, page_label=label, page_start=page_start)
            for start, end, index, label, page_start in spans
        ),
        words=words,
    )
