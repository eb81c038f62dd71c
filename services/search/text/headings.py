"""Headings found by their type, their number or their name."""

import re
from collections import Counter
from collections.abc import Sequence

from services.search.text.document_text import BlockKind
from services.search.text.heading_names import bare, comparable, is_known, numbered_level
from services.search.text.parts import Mark, Part

LONGEST_TITLE = 120
MOST_TITLE_WORDS = 16
FEWEST_NUMBERED = 3
# Title, authors and abstract together have no more characters than this.
LONGEST_OPENING = 4_000
LETTER = re.compile(r"[A-Z]\s+\S")
ABSTRACT = re.compile(
    r"(?P<name>abstract|summary|zusammenfassung|résumé|resumen|resumo|аннотация|摘要|要旨)"
    r"\s*[.:—–-]\s*\S",
    re.IGNORECASE,
)


def headings(parts: Sequence[Part]) -> list[Mark]:
    """The paragraphs that are headings by their type, their number or their name."""
    repeated = Counter(comparable(part.text) for part in parts if part.kind is BlockKind.HEADING)
    candidates = [
        index
        for index, part in enumerate(parts)
        if _may_be_heading(part) and repeated[comparable(part.text)] < 3
    ]
    sure = _sure(parts, candidates)
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


def _sure(parts: Sequence[Part], candidates: Sequence[int]) -> list[int]:
    """Candidates that their name or their number alone makes headings, and no items of a list."""
    lettered = _lettered(parts, candidates)
    numbered = [
        index
        for index in candidates
        if numbered_level(parts[index].text) is not None
        and (index in lettered or not LETTER.match(parts[index].text))
    ]
    in_type = {index for index in numbered if parts[index].kind is BlockKind.HEADING}
    plain = set(numbered) - in_type
    if len(in_type) >= FEWEST_NUMBERED:
        plain = set()
    alone = {index for index in plain if not {index - 1, index + 1} & plain}
    return [
        index
        for index in candidates
        if is_known(parts[index].text) or index in in_type or index in alone
    ]


def _run_in_abstract(parts: Sequence[Part], sure: Sequence[int]) -> Mark | None:
    """The abstract whose name is the first word of its paragraph, before all sure headings."""
    opening = parts[: sure[0]] if sure else parts
    for index, part in enumerate(opening):
        if part.page > parts[0].page + 1:
            break
        if (match := ABSTRACT.match(part.text)) is not None:
            title = match["name"].capitalize()
            return Mark(part=index, title=title, level=1, is_heading=False)
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


def _levelled(parts: Sequence[Part], chosen: Sequence[int]) -> list[Mark]:
    """Levels by number where there is one, else by what headings of the same type have."""
    by_style: dict[tuple[float, bool, bool], Counter[int]] = {}
    for index in chosen:
        level = numbered_level(parts[index].text) or (1 if is_known(parts[index].text) else None)
        if level is not None:
            by_style.setdefault(_style(parts[index]), Counter())[level] += 1
    sizes = sorted({round(parts[index].size, 1) for index in chosen}, reverse=True)
    marks: list[Mark] = []
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
        marks.append(Mark(part=index, title=" ".join(part.text.split()), level=level))
    return marks
