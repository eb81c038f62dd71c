"""A PDF file as pages of text in reading order."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from services.search.library.records import Unread
from services.search.text.brackets import with_meant_brackets
from services.search.text.columns import Column, reading_order, usual_gutter
from services.search.text.document_text import Block, BlockKind, OutlineEntry, Page, PagedText
from services.search.text.fragments import Frame, PageContent
from services.search.text.furniture import without_furniture
from services.search.text.glyphs import read_page
from services.search.text.hyphens import Joiner
from services.search.text.paragraphs import Paragraph, paragraphs_of

# A page where more of the characters than this mean nothing in Unicode cannot be read.
MOST_UNMAPPED = 0.3
# A page with fewer characters than this under a picture is a picture.
FEWEST_CHARACTERS = 20
MOST_CHARACTERS = 20_000_000
LONGEST_OUTLINE = 2_000
# Per cent of the pages, from the first, that the usual type size is taken from.
FRONT_SHARE = 60
NOT_OPENED = {
    raw.FPDF_ERR_PASSWORD: (Unread.ENCRYPTED, "The PDF needs a password."),
    raw.FPDF_ERR_SECURITY: (Unread.ENCRYPTED, "The PDF is protected in a way that cannot be read."),
    raw.FPDF_ERR_FORMAT: (Unread.DAMAGED, "The file is damaged or is not a PDF."),
}
NO_PAGE = PageContent(
    frame=Frame(x0=0.0, y0=0.0, x1=0.0, y1=0.0), fragments=(), characters=0, unmapped=0
)


def read_pdf(path: Path, *, max_pages: int = 2000) -> PagedText:
    """The text of a PDF; what cannot be read is told in the result, never raised."""
    try:
        # Opened first by ourselves, because pdfium does not tell a missing file from a broken one.
        with path.open("rb") as file:
            file.read(1)
        document = pdfium.PdfDocument(path)
    except (OSError, ValueError) as error:
        return _unread(Unread.FILE_MISSING, f"{str(path)!r} cannot be opened ({error}).")
    except pdfium.PdfiumError as error:
        reason, detail = NOT_OPENED.get(error.err_code, NOT_OPENED[raw.FPDF_ERR_FORMAT])
        return _unread(reason, detail)
    try:
        return _read(document, max_pages)
    except pdfium.PdfiumError as error:
        return _unread(Unread.DAMAGED, f"The file is damaged ({error}).")
    finally:
        document.close()


def _unread(reason: Unread, detail: str, page_count: int = 0) -> PagedText:
    return PagedText(pages=(), outline=(), page_count=page_count, unread=reason, detail=detail)


def _read(document: Any, max_pages: int) -> PagedText:
    count = len(document)
    contents: list[PageContent] = []
    damaged: set[int] = set()
    characters = 0
    for index in range(min(count, max_pages)):
        if characters > MOST_CHARACTERS:
            break
        try:
            content = _read_content(document, index)
        except pdfium.PdfiumError:
            damaged.add(index)
            content = NO_PAGE
        characters += content.characters
        contents.append(content)
    labels = [_label(document, index) for index in range(len(contents))]
    # A library's stamp on every scanned page is no text, so furniture goes before the judgement.
    contents = list(without_furniture(contents, labels))
    reason, detail = judge(contents, count, damaged)
    readable = [content if not _is_unmapped(content) else NO_PAGE for content in contents]
    if not any(content.fragments for content in readable):
        if reason is None:
            reason, detail = Unread.IMAGE_ONLY, "The pages hold no text."
        return _unread(reason, detail, count)
    return PagedText(
        pages=lay_out(readable, labels),
        outline=_outline(document, len(contents)),
        page_count=count,
        unread=reason,
        detail=detail,
    )


def _read_content(document: Any, index: int) -> PageContent:
    page = document[index]
    try:
        return read_page(page)
    finally:
        page.close()


def _label(document: Any, index: int) -> str:
    return _clean(document.get_page_label(index)) or str(index + 1)


def _clean(title: str) -> str:
    """One line without control characters and lone surrogates."""
    return " ".join("".join(char if char.isprintable() else " " for char in title).split())


def judge(
    contents: Sequence[PageContent], count: int, damaged: set[int]
) -> tuple[Unread | None, str]:
    """Why only a part of the pages could be read, or none: what most unread pages suffer from."""
    reasons: Counter[Unread] = Counter()
    for index, content in enumerate(contents):
        if index in damaged:
            reasons[Unread.DAMAGED] += 1
        elif _is_unmapped(content):
            reasons[Unread.NO_UNICODE_MAP] += 1
        elif content.picture and _letters(content) < FEWEST_CHARACTERS:
            reasons[Unread.IMAGE_ONLY] += 1
        elif content.cut:
            reasons[Unread.TOO_LARGE] += 1
    if count > len(contents):
        reasons[Unread.TOO_LARGE] += count - len(contents)
    if not reasons:
        return None, ""
    reason, pages = reasons.most_common(1)[0]
    what = {
        Unread.DAMAGED: "cannot be read because the file is damaged",
        Unread.NO_UNICODE_MAP: "have text in fonts that do not say which letters they show",
        Unread.IMAGE_ONLY: "are pictures without text; they need text recognition",
        Unread.TOO_LARGE: "are beyond the size that is read",
    }[reason]
    return reason, f"{pages} of {count} pages {what}."


def _is_unmapped(content: PageContent) -> bool:
    return content.unmapped > MOST_UNMAPPED * content.characters


def _letters(content: PageContent) -> int:
    return sum(len(fragment.text) for fragment in content.fragments)


def lay_out(contents: Sequence[PageContent], labels: Sequence[str]) -> tuple[Page, ...]:
    """The pages' text: columns in order, halves of paragraphs joined, divided words whole."""
    gutter = usual_gutter([content.fragments for content in contents])
    columns = with_meant_brackets(
        [reading_order(content.fragments, gutter) for content in contents]
    )
    body_size = _body_size(columns)
    paragraphs = [paragraphs_of(page, body_size) for page in columns]
    joiner = Joiner(line.text for page in columns for column in page for line in column.lines)
    return tuple(
        _page(index, label, found, joiner, body_size)
        for index, (label, found) in enumerate(zip(labels, paragraphs, strict=True))
    )


def _body_size(pages: Sequence[Sequence[Column]]) -> float:
    """The usual type size, seen from the front: a long reference list is in smaller type."""
    sizes: Counter[float] = Counter()
    for page in pages[: max(1, FRONT_SHARE * len(pages) // 100)]:
        for column in page:
            for line in column.lines:
                sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 1.0


def _page(
    index: int, label: str, paragraphs: Sequence[Paragraph], joiner: Joiner, body_size: float
) -> Page:
    blocks: list[Block] = []
    texts: list[str] = []
    start = 0
    for paragraph in paragraphs:
        lines = [line.text for line in paragraph.lines]
        is_table = paragraph.kind is BlockKind.TABLE
        text = "\n".join(lines) if is_table else joiner.join(lines)
        block = Block(
            start=start,
            end=start + len(text),
            kind=paragraph.kind,
            size=round(paragraph.size / body_size, 2),
            bold=all(line.bold for line in paragraph.lines),
        )
        blocks.append(block)
        texts.append(text)
        start = block.end + 2
    return Page(index=index, label=label, text="\n\n".join(texts), blocks=tuple(blocks))


def _outline(document: Any, pages: int) -> tuple[OutlineEntry, ...]:
    entries: list[OutlineEntry] = []
    for bookmark in document.get_toc(max_depth=8):
        if len(entries) >= LONGEST_OUTLINE:
            break
        destination = bookmark.get_dest()
        page_index = destination.get_index() if destination else None
        title = _clean(bookmark.get_title())
        if title and page_index is not None and page_index < pages:
            entries.append(
                OutlineEntry(title=title, level=bookmark.level + 1, page_index=page_index)
            )
    return tuple(entries)
