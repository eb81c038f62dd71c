"""A document's paragraphs in one row, and the marks that say where its sections begin."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.search.text.document_text import BlockKind, Page


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A paragraph: a range of a page's text."""

    page: int
    """The page's position among the pages read."""
    start: int
    end: int
    text: str
    kind: BlockKind
    size: float = 1.0
    bold: bool = False
    level: int = 0
    """Set where the file itself says that a section begins."""
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The place where a section begins."""

    part: int
    title: str
    level: int
    is_heading: bool = True
    """Whether the paragraph at that place is the heading and no text of the section."""


def told_marks(parts: Sequence[Part]) -> list[Mark]:
    """The sections that the file itself tells, as markup does; the outermost have level 1."""
    outermost = min((part.level for part in parts if part.level), default=1)
    return [
        Mark(
            part=index,
            title=part.title or " ".join(part.text.split()),
            level=part.level - outermost + 1,
            is_heading=part.kind is BlockKind.HEADING,
        )
        for index, part in enumerate(parts)
        if part.level
    ]


def parts_of(pages: Sequence[Page]) -> tuple[Part, ...]:
    """The paragraphs of all pages."""
    parts: list[Part] = []
    for position, page in enumerate(pages):
        if page.blocks:
            parts.extend(
                Part(
                    page=position,
                    start=block.start,
                    end=block.end,
                    text=page.text[block.start : block.end],
                    kind=block.kind,
                    size=block.size,
                    bold=block.bold,
                    level=block.level,
                    title=block.title,
                )
                for block in page.blocks
            )
        else:
            parts.extend(_plain_parts(position, page.text))
    return tuple(part for part in parts if part.text.strip())


def _plain_parts(position: int, text: str) -> list[Part]:
    """Paragraphs by blank lines, for a text whose layout is not known."""
    return [
        Part(
            page=position,
            start=match.start(),
            end=match.end(),
            text=match.group(),
            kind=BlockKind.TEXT,
        )
        for match in re.finditer(r"\S(?:.*?\S)??(?=\s*\n\s*\n|\s*\Z)", text, re.DOTALL)
    ]
