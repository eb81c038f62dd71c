"""What repeats on page after page and belongs to the paper, not to the text."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from services.search.text.fragments import Fragment, PageContent

# Running heads and feet stand in the outer parts of a page, within so many rows of its edge.
MARGIN_SHARE = 0.14
MARGIN_ROWS = 3
# Heights that differ by so many points are the same place.
SAME_PLACE = 4.0
LINE_NUMBER = re.compile(r"\d{1,4}")
FEWEST_LINE_NUMBERS = 6
DIGITS = re.compile(r"\d+")
PAGE_NUMBER = re.compile(
    r"\W*(?:page|p\.|seite|página|стр\.)?\s*(\d+|[ivxlc]+)(?:\s*(?:of|/|von|de|из)\s*\d+)?\W*",
    re.IGNORECASE,
)


def without_furniture(
    pages: Sequence[PageContent], labels: Sequence[str]
) -> tuple[PageContent, ...]:
    """The pages without running heads, running feet, page numbers and line numbers."""
    pages = [_without_line_numbers(page) for page in pages]
    margins = [_margin(page) for page in pages]
    repeated = _repeated(margins)
    numbered = _numbered(margins, labels)
    cleaned = []
    for index, page in enumerate(pages):
        dropped = {
            id(piece)
            for piece in margins[index]
            if _key(piece) in repeated or (index, id(piece)) in numbered
        }
        kept = tuple(piece for piece in page.fragments if id(piece) not in dropped)
        cleaned.append(replace(page, fragments=kept) if dropped else page)
    return tuple(cleaned)


def _without_line_numbers(page: PageContent) -> PageContent:
    """The page without the numbers that manuscripts print beside their lines."""
    numbers = [piece for piece in page.fragments if LINE_NUMBER.fullmatch(piece.text)]
    dropped: set[int] = set()
    for edge in {round(piece.x1) for piece in numbers}:
        column = [piece for piece in numbers if abs(piece.x1 - edge) <= 1.0]
        column.sort(key=lambda piece: -piece.y)
        steps = {int(b.text) - int(a.text) for a, b in pairwise(column)}
        if len(column) >= FEWEST_LINE_NUMBERS and steps in ({1}, {5}):
            dropped.update(id(piece) for piece in column)
    kept = tuple(piece for piece in page.fragments if id(piece) not in dropped)
    return replace(page, fragments=kept) if dropped else page


def _margin(page: PageContent) -> list[Fragment]:
    """The fragments of the outermost rows, where furniture stands."""
    heights = sorted({round(piece.y) for piece in page.fragments})
    reach = MARGIN_SHARE * page.frame.height
    low = {y for y in heights[:MARGIN_ROWS] if y <= page.frame.y0 + reach}
    high = {y for y in heights[-MARGIN_ROWS:] if y >= page.frame.y1 - reach}
    return [piece for piece in page.fragments if round(piece.y) in low | high]


def _key(piece: Fragment) -> tuple[str, int]:
    return DIGITS.sub("#", piece.text.casefold()), round(piece.y / SAME_PLACE)


def _repeated(margins: Sequence[Sequence[Fragment]]) -> set[tuple[str, int]]:
    """Texts that stand at one place on several pages, whatever numbers they hold."""
    pages: dict[tuple[str, int], set[int]] = defaultdict(set)
    for index, margin in enumerate(margins):
        for piece in margin:
            text, place = _key(piece)
            if not any(map(str.isalpha, text)):
                continue  # bare numbers are judged by how they count
            # A place near the border of two steps counts in both.
            for step in (place - 1, place, place + 1):
                pages[text, step].add(index)
    # Left and right pages often differ, and so do chapters: three pages are enough, or all of two.
    fewest = 2 if len(margins) <= 4 else 3
    return {key for key, found in pages.items() if len(found) >= fewest}


def _numbered(margins: Sequence[Sequence[Fragment]], labels: Sequence[str]) -> set[tuple[int, int]]:
    """Page numbers: they are the page's label, or they count with the pages."""
    candidates: list[tuple[int, Fragment, str]] = []
    for index, margin in enumerate(margins):
        candidates.extend(
            (index, piece, match.group(1).lower())
            for piece in margin
            if (match := PAGE_NUMBER.fullmatch(piece.text)) is not None
        )
    offsets: dict[int, set[int]] = defaultdict(set)
    for index, _, printed in candidates:
        if printed.isdecimal():
            offsets[int(printed) - index].add(index)
    fewest = 1 if len(margins) == 1 else 2
    return {
        (index, id(piece))
        for index, piece, printed in candidates
        if printed == labels[index].lower()
        or (printed.isdecimal() and len(offsets[int(printed) - index]) >= fewest)
    }
