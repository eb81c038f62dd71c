"""Passages of a document: about 200 words each, within a section, with their places on paper."""

import hashlib
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from services.chassis.words import WORD, count_words, sentences
from services.search.text.document_text import (
    NO_PAGE,
    BlockKind,
    Page,
    PagedText,
    PassageText,
    Section,
    Span,
    StructuredText,
)
from services.search.text.paragraphs import ends_sentence, goes_on
from services.search.text.parts import Part
from services.search.text.sections import Stretch, divide

MOST_WORDS = 220
# A passage of so many words rather ends with its paragraph than in the middle of the next.
BORDER_WORDS = 120
# A shorter rest is put to the passage before it.
REST_WORDS = 60
# A paragraph is divided before packing where it is longer than so many characters.
LONGEST_UNIT = 20_000
BLANK_LINE = "\n\n"
DIVISION = re.compile(r"[^\W\d_][-\u2010\u00ad]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A text and where it stands."""

    text: str
    spans: tuple[Span, ...] = ()

    @property
    def words(self) -> int:
        """Its number of words."""
        return count_words(self.text)

    def cut(self, start: int, end: int) -> "Located":
        """The part of it between two places."""
        spans = [
            replace(
                span,
                start=max(span.start, start) - start,
                end=min(span.end, end) - start,
                page_start=span.page_start + max(0, start - span.start),
            )
            for span in self.spans
            if span.start < end and start < span.end
        ]
        return Located(text=self.text[start:end], spans=tuple(spans))

    def then(self, other: "Located", between: str) -> "Located":
        """It and the other with a separator between them."""
        if not self.text:
            return other
        shift = len(self.text) + len(between)
        spans = list(self.spans)
        for span in other.spans:
            moved = replace(span, start=span.start + shift, end=span.end + shift)
            if spans and _adjoin(spans[-1], moved):
                spans[-1] = replace(spans[-1], end=moved.end)
            else:
                spans.append(moved)
        return Located(text=self.text + between + other.text, spans=tuple(spans))


def _adjoin(left: Span, right: Span) -> bool:
    """Whether two spans are one stretch of a page, what is between them included."""
    return (
        left.page_index == right.page_index
        and right.page_start - left.page_start == right.start - left.start
    )


def structure(paged: PagedText, document_id: str) -> StructuredText:
    """Sections and passages of a document with pages."""
    stretches = divide(paged)
    units = [_units(stretch, paged.pages) for stretch in stretches]
    return _structured(stretches, units, document_id, paged.pages)


def structure_plain(text: str, document_id: str, title: str) -> StructuredText:
    """One section and its passages of a text without pages, such as a note or an abstract."""
    units = [
        Located(text=paragraph.strip())
        for paragraph in re.split(r"\n\s*\n", text)
        if paragraph.strip()
    ]
    if not units:
        return StructuredText(sections=(), passages=())
    stretch = Stretch(title=title, level=1, page=0, parts=())
    return _structured([stretch], [units], document_id, ())


def _units(stretch: Stretch, pages: Sequence[Page]) -> list[Located]:
    """The section's paragraphs, those that a page's end divides made whole."""
    units: list[Located] = []
    pending = deque(stretch.parts)
    while pending:
        part = pending.popleft()
        unit = _located(part, pages)
        while (other := _other_half(part, pending)) is not None:
            part = pending[other]
            del pending[other]
            unit = _continued(unit, _located(part, pages))
        units.append(unit)
    return units


def _located(part: Part, pages: Sequence[Page]) -> Located:
    page = pages[part.page]
    if page.index == NO_PAGE:
        return Located(text=part.text)
    span = Span(
        start=0,
        end=len(part.text),
        page_index=page.index,
        page_label=page.label,
        page_start=part.start,
    )
    return Located(text=part.text, spans=(span,))


def _other_half(part: Part, following: Iterable[Part]) -> int | None:
    """The paragraph of the next page that goes on with this one, past notes and figures."""
    if part.kind is not BlockKind.TEXT or ends_sentence(part.text):
        return None
    for index, other in enumerate(following):
        if other.kind is BlockKind.TEXT:
            is_next = other.page == part.page + 1
            return index if is_next and goes_on(other.text) else None
    return None


def _continued(unit: Located, other: Located) -> Located:
    if DIVISION.search(unit.text) and other.text[:1].islower():
        return unit.cut(0, len(unit.text) - 1).then(other, "")
    return unit.then(other, " ")


def _structured(
    stretches: Sequence[Stretch],
    units: Sequence[Sequence[Located]],
    document_id: str,
    pages: Sequence[Page],
) -> StructuredText:
    sections = _sections(stretches, units, pages)
    occurrences: Counter[str] = Counter()
    passages: list[PassageText] = []
    for section, paragraphs in zip(sections, units, strict=True):
        if section is None:
            continue
        for located in pack(paragraphs):
            passages.append(
                PassageText(
                    passage_id=passage_id(document_id, located.text, occurrences[located.text]),
                    ordinal=len(passages),
                    section_id=section.section_id,
                    section_path=section.path,
                    text=located.text,
                    spans=located.spans,
                    words=located.words,
                )
            )
            occurrences[located.text] += 1
    return StructuredText(
        sections=tuple(section for section in sections if section is not None),
        passages=tuple(passages),
    )


def passage_id(document_id: str, text: str, occurrence: int) -> str:
    """The same for the same text of the same document, whatever stands before or after it."""
    material = f"{document_id}\0{text}\0{occurrence}"
    return hashlib.sha256(material.encode()).hexdigest()[:32]


def _sections(
    stretches: Sequence[Stretch], units: Sequence[Sequence[Located]], pages: Sequence[Page]
) -> list[Section | None]:
    """The sections; None for one that has neither text nor sections of its own with text."""
    found: list[Section | None] = []
    path: list[tuple[int, str]] = []
    number = 0
    for index, stretch in enumerate(stretches):
        while path and path[-1][0] >= stretch.level:
            path.pop()
        path.append((stretch.level, stretch.title))
        below = _below(stretches, index)
        spans = [span for i in (index, *below) for unit in units[i] for span in unit.spans]
        words = sum(unit.words for unit in units[index])
        if not words and not any(unit.words for i in below for unit in units[i]):
            found.append(None)
            continue
        number += 1
        begin = max(pages[stretch.page].index, 0) if pages else 0
        found.append(
            Section(
                section_id=f"s{number}",
                title=stretch.title,
                level=len(path),
                path=tuple(title for _, title in path),
                first_page_index=begin,
                last_page_index=max([begin, *(span.page_index for span in spans)]),
                words=words,
            )
        )
    return found


def _below(stretches: Sequence[Stretch], index: int) -> range:
    """The sections of a section."""
    end = index + 1
    while end < len(stretches) and stretches[end].level > stretches[index].level:
        end += 1
    return range(index + 1, end)


def pack(paragraphs: Sequence[Located]) -> list[Located]:
    """Passages of the paragraphs: whole ones where they fit, else divided at sentences."""
    packed: list[Located] = []
    current, used = Located(text=""), 0
    queue = deque((unit, unit.words) for unit in _bounded(paragraphs))
    while queue:
        unit, words = queue.popleft()
        if used + words <= MOST_WORDS:
            current, used = current.then(unit, BLANK_LINE), used + words
            continue
        if used < BORDER_WORDS:
            head, rest = _split(unit, MOST_WORDS - used, must=not current.text)
            if head is not None:
                current, unit = current.then(head, BLANK_LINE), rest
                words -= head.words
        packed.append(current)
        current, used = Located(text=""), 0
        if unit.text:
            queue.appendleft((unit, words))
    if current.text:
        packed.append(current)
    return _without_rest(packed)


def _bounded(units: Iterable[Located]) -> Iterator[Located]:
    """The paragraphs, those of unusual length in parts, since each is gone through many times."""
    for unit in units:
        begin, text = 0, unit.text
        while len(text) - begin > LONGEST_UNIT:
            ends = [end for _, end in sentences(text[begin : begin + LONGEST_UNIT])][:-1]
            end = begin + (ends[-1] if ends else LONGEST_UNIT)
            yield unit.cut(begin, end)
            begin = (
                end
                + len(text[end : end + LONGEST_UNIT])
                - len(text[end : end + LONGEST_UNIT].lstrip())
            )
        yield unit.cut(begin, len(text)) if begin else unit


def _split(unit: Located, room: int, *, must: bool) -> tuple[Located | None, Located]:
    """As many whole sentences as there is room for, and the others; at a word if it must be."""
    end = 0
    used = 0
    for start, stop in sentences(unit.text):
        used += count_words(unit.text[start:stop])
        if used > room:
            break
        end = stop
    if not end and must:
        words = list(WORD.finditer(unit.text))
        end = words[room].start() if room < len(words) else len(unit.text)
    if not end:
        return None, unit
    head = unit.cut(0, len(unit.text[:end].rstrip()))
    begin = len(unit.text) - len(unit.text[end:].lstrip())
    return head, unit.cut(begin, len(unit.text))


def _without_rest(packed: list[Located]) -> list[Located]:
    """Share the words of a short last passage and the one before it."""
    if len(packed) < 2 or packed[-1].words >= REST_WORDS:
        return packed
    rest, before = packed.pop(), packed.pop()
    whole = before.then(rest, BLANK_LINE)
    head, tail = _split(whole, whole.words // 2 + REST_WORDS // 2, must=False)
    if head is None or not tail.text or head.words < REST_WORDS:
        return [*packed, before, rest]
    return [*packed, head, tail]
