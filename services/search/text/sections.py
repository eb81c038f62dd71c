"""A document's sections, from its outline or else from its headings, without the reference list."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from services.search.text.document_text import BlockKind, OutlineEntry, Page, PagedText
from services.search.text.heading_names import (
    bare,
    comparable,
    is_known,
    is_reference_list,
    numbered_level,
)

FRONT_MATTER = "Front matter"
FULL_TEXT = "Full text"
LONGEST_TITLE = 120
MOST_TITLE_WORDS = 16
FEWEST_NUMBERED = 3
# Title, authors and abstract together have no more characters than this.
LONGEST_OPENING = 4_000
# An outline's title and a printed one may differ by a sign that one of them cannot show.
ALIKE = 0.8
LETTER = re.compile(r"[A-Z]\s+\S")
ABSTRACT = re.compile(
    r"(?P<name>abstract|summary|zusammenfassung|résumé|resumen|resumo|аннотация|摘要|要旨)\s*[.:—–-]\s*\S",
    re.IGNORECASE,
)
# An outline is taken when this share of its titles is found on the pages it names.
OUTLINE_SHARE = 0.5
REFERENCE_ENTRY = re.compile(r"\s*(?:\[\w{1,12}\]|\(?\d{1,3}[.)])\s.*(?:19|20)\d\d", re.DOTALL)
FEWEST_ENTRIES = 5


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A section and its own paragraphs."""

    title: str
    level: int
    page: int
    """Where its heading is."""
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """The place where a section begins."""

    part: int
    title: str
    level: int
    is_heading: bool = True
    """Whether the paragraph at that place is the heading and no text of the section."""


def divide(paged: PagedText) -> tuple[Stretch, ...]:
    """The sections in reading order; reference lists are left out."""
    parts = parts_of(paged.pages)
    headings = _headings(parts)
    marks = _from_outline(paged.outline, parts, headings) or headings
    ends = (
        _reference_tail(parts) if not any(is_reference_list(m.title) for m in marks) else len(parts)
    )
    return _stretches(parts[:ends], [mark for mark in marks if mark.part < ends])


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


def _headings(parts: Sequence[Part]) -> list[_Mark]:
    """The paragraphs that are headings by their type, their number or their name."""
    repeated = Counter(comparable(part.text) for part in parts if part.kind is BlockKind.HEADING)
    candidates = [
        index
        for index, part in enumerate(parts)
        if _may_be_heading(part) and repeated[comparable(part.text)] < 3
    ]
    lettered = _lettered(parts, candidates)
    sure = [
        index
        for index in candidates
        if _is_sure(parts[index]) and (index in lettered or not LETTER.match(parts[index].text))
    ]
    numbered = [index for index in sure if numbered_level(parts[index].text)]
    styles = {_style(parts[index]) for index in sure}
    if len(numbered) >= FEWEST_NUMBERED:
        chosen = [index for index in candidates if index in sure or _style(parts[index]) in styles]
    else:
        chosen = [index for index in candidates if index in sure or _stands_out(parts[index])]
    chosen = _without_front_matter(parts, chosen, sure)
    abstract = _run_in_abstract(parts, sure)
    if abstract is None:
        return _levelled(parts, chosen)
    return [abstract, *_levelled(parts, [index for index in chosen if index > abstract.part])]


def _run_in_abstract(parts: Sequence[Part], sure: Sequence[int]) -> _Mark | None:
    """The abstract whose name is the first word of its paragraph, before all sure headings."""
    opening = parts[: sure[0]] if sure else parts
    for index, part in enumerate(opening):
        if part.page > parts[0].page + 1:
            break
        if (match := ABSTRACT.match(part.text)) is not None:
            title = match["name"].capitalize()
            return _Mark(part=index, title=title, level=1, is_heading=False)
    return None


def _lettered(parts: Sequence[Part], candidates: Sequence[int]) -> set[int]:
    """Candidates such as `A Proofs` that another letter before or after shows to be numbered.

    A single letter alone is more often a word: `A Perspective`.
    """
    found = [
        (index, parts[index].text[0]) for index in candidates if LETTER.match(parts[index].text)
    ]
    letters = {ord(letter) for _, letter in found}
    return {
        index
        for index, letter in found
        if ord(letter) - 1 in letters or (letter == "A" and ord(letter) + 1 in letters)
    }


def _may_be_heading(part: Part) -> bool:
    text = part.text
    if part.kind not in (BlockKind.HEADING, BlockKind.TEXT) or len(text) > LONGEST_TITLE:
        return False
    if len(text.split()) > MOST_TITLE_WORDS or "\n" in text:
        return False
    letters = sum(char.isalpha() for char in text)
    if letters < 2 or 2 * letters < len(text.replace(" ", "")):
        return False
    if part.kind is BlockKind.HEADING:
        return True
    return is_known(text) or (
        numbered_level(text) is not None
        and not text.endswith((".", ",", ";", ":"))
        and len(text.split()) <= 12
        and bare(text)[:1].isalpha()
        and not re.search(r"(?:19|20)\d\d", text)
    )


def _is_sure(part: Part) -> bool:
    """Whether number or name alone make the paragraph a heading."""
    return is_known(part.text) or numbered_level(part.text) is not None


def _stands_out(part: Part) -> bool:
    return part.kind is BlockKind.HEADING and (part.size >= 1.0 or part.bold)


def _style(part: Part) -> tuple[float, bool, bool]:
    return round(part.size, 1), part.bold, part.text.isupper()


def _without_front_matter(
    parts: Sequence[Part], chosen: Sequence[int], sure: Sequence[int]
) -> list[int]:
    """Drop the title and the authors: what stands before the first sure heading."""
    if not chosen:
        return []
    first = parts[chosen[0]].page
    opening = [index for index in chosen if parts[index].page == first]
    begin = next((index for index in sure if parts[index].page <= first + 1), None)
    if begin is None or sum(len(part.text) for part in parts[:begin]) > LONGEST_OPENING:
        largest = max(parts[index].size for index in opening)
        title = next(index for index in opening if parts[index].size == largest)
        # A title is larger than the headings; without one the first heading is a section's.
        others = [parts[index].size for index in chosen if index != title]
        begin = title + 1 if largest > max(others, default=0.0) else chosen[0]
    return [index for index in chosen if index >= begin]


def _levelled(parts: Sequence[Part], chosen: Sequence[int]) -> list[_Mark]:
    """Levels by number where there is one, else by what headings of the same type have."""
    by_style: dict[tuple[float, bool, bool], Counter[int]] = {}
    for index in chosen:
        level = numbered_level(parts[index].text) or (1 if is_known(parts[index].text) else None)
        if level is not None:
            by_style.setdefault(_style(parts[index]), Counter())[level] += 1
    sizes = sorted({round(parts[index].size, 1) for index in chosen}, reverse=True)
    marks: list[_Mark] = []
    for index in chosen:
        part = parts[index]
        level = numbered_level(part.text) or (1 if is_known(part.text) else None)
        if level is None:
            known = by_style.get(_style(part))
            level = (
                known.most_common(1)[0][0]
                if known
                else min(sizes.index(round(part.size, 1)) + 1, 3)
            )
        marks.append(_Mark(part=index, title=" ".join(part.text.split()), level=level))
    return marks


def _from_outline(
    outline: Sequence[OutlineEntry], parts: Sequence[Part], headings: Sequence[_Mark]
) -> list[_Mark]:
    """The outline's sections at the places of their titles; empty if it does not fit the text."""
    marks: list[_Mark] = []
    found = 0
    earliest = 0
    for entry in outline:
        place = _find_title(entry, parts, earliest)
        if place is not None:
            found += 1
            wanted = comparable(entry.title)
            is_heading = comparable(parts[place].text) == wanted or _is_alike(parts[place], wanted)
            title = " ".join(parts[place].text.split()) if is_heading else entry.title
        else:
            place = next(
                (i for i in range(earliest, len(parts)) if parts[i].page >= entry.page_index),
                None,
            )
            is_heading, title = False, entry.title
        if place is None:
            continue
        earliest = place + 1 if is_heading else place
        marks.append(_Mark(part=place, title=title, level=entry.level, is_heading=is_heading))
    if len(marks) < 2 or found < OUTLINE_SHARE * len(outline):
        return []
    marks = _without_document_title(marks)
    taken = {mark.part for mark in marks}
    # Outlines often leave out the abstract and the reference list.
    smallest = min((parts[mark.part].size for mark in marks if mark.is_heading), default=0.0)
    extra = [
        mark
        for mark in headings
        if mark.part not in taken
        and is_known(mark.title)
        and (
            not mark.is_heading
            or parts[mark.part].size >= smallest
            or is_reference_list(mark.title)
        )
    ]
    return sorted([*marks, *extra], key=lambda mark: mark.part)


def _find_title(entry: OutlineEntry, parts: Sequence[Part], earliest: int) -> int | None:
    """The paragraph that is the title or begins with it, on the page named or the one after."""
    wanted = comparable(entry.title)
    if not wanted:
        return None
    near = [
        index
        for index in range(earliest, len(parts))
        if entry.page_index <= parts[index].page <= entry.page_index + 1
    ]
    whole = next((index for index in near if comparable(parts[index].text) == wanted), None)
    if whole is not None:
        return whole
    beginning = next(
        (index for index in near if comparable(parts[index].text[:300]).startswith(wanted)), None
    )
    if beginning is not None:
        return beginning
    return next((index for index in near if _is_alike(parts[index], wanted)), None)


def _is_alike(part: Part, wanted: str) -> bool:
    if part.kind is not BlockKind.HEADING:
        return False
    return SequenceMatcher(None, comparable(part.text), wanted).ratio() >= ALIKE


def _without_document_title(marks: list[_Mark]) -> list[_Mark]:
    """Lift everything by a level if all of it is below one entry, the document's title."""
    if sum(mark.level == 1 for mark in marks) != 1 or marks[0].level != 1:
        return marks
    return [
        _Mark(
            part=mark.part,
            title=mark.title,
            level=mark.level - 1,
            is_heading=mark.is_heading,
        )
        for mark in marks[1:]
    ]


def _reference_tail(parts: Sequence[Part]) -> int:
    """Where a reference list without a heading begins at the end of the text; else the end."""
    begin = len(parts)
    misses = 0
    for index in range(len(parts) - 1, len(parts) // 2, -1):
        if REFERENCE_ENTRY.match(parts[index].text):
            begin, misses = index, 0
        elif (misses := misses + 1) > 2:
            break
    entries = sum(REFERENCE_ENTRY.match(part.text) is not None for part in parts[begin:])
    return begin if entries >= FEWEST_ENTRIES else len(parts)


def _stretches(parts: Sequence[Part], marks: Sequence[_Mark]) -> tuple[Stretch, ...]:
    stretches: list[Stretch] = []
    first = marks[0].part if marks else len(parts)
    if first:
        title = FRONT_MATTER if marks else FULL_TEXT
        stretches.append(
            Stretch(title=title, level=1, page=parts[0].page, parts=tuple(parts[:first]))
        )
    ends = [*(mark.part for mark in marks[1:]), len(parts)]
    for mark, end in zip(marks, ends, strict=False):
        if is_reference_list(mark.title):
            continue
        begin = mark.part + 1 if mark.is_heading else mark.part
        stretches.append(
            Stretch(
                title=mark.title,
                level=mark.level,
                page=parts[mark.part].page,
                parts=tuple(parts[begin:end]),
            )
        )
    return tuple(stretches)
