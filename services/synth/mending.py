"""Taking sentences out of an answer and putting others in, without touching the rest. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from services.chassis.words import sentences
from services.synth.languages import language_of
from services.synth.mind import Citation, Repair, Repaired
from services.synth.phrasebook import phrases_for

_MARKER = re.compile(r"(?<!\\)\[(\d+)\](?!\()")
# The markers behind a sentence, and the full stop that some writers put behind those.
_TAIL = re.compile(r"(?:[ \t]*(?<!\\)\[\d+\])+[.!?。！？]?")
_BLOCK = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+]|\d{1,3}[.)]|#{1,6})[ \t])")
# What is left of a list's line when its only sentence goes.
_EMPTY_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]*$\n?", re.MULTILINE)
_LEAD = re.compile(r"[ \t\n]*(?:(?:[-*+>]|\d{1,3}[.)]|#{1,6})[ \t]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of an answer with the markers behind it."""

    start: int
    end: int
    text: str
    """Without markers."""
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """A sentence to stand in the place of another one; empty: nothing does."""

    markdown: str = ""
    citations: tuple[Citation, ...] = ()
    """Numbered as in this piece."""


def unsupported_sentences(markdown: str, unsupported: Collection[int]) -> tuple[Sentence, ...]:
    """The sentences that cite something and of whose citations none supports them."""
    return tuple(
        sentence
        for sentence in _cited_sentences(markdown)
        if all(number in unsupported for number in sentence.numbers)
    )


def without_unsupported(order: Repair) -> Repaired:
    """The answer without its unsupported sentences; when none is left, it says so."""
    broken = unsupported_sentences(order.markdown, order.unsupported)
    markdown, citations = mended(order.markdown, order.citations, dict.fromkeys(broken, Mended()))
    if broken and not citations:
        markdown = f"{phrases_for(language_of(order.question)).nothing}\n"
    return Repaired(markdown=markdown, citations=citations, dropped=len(broken))


def mended(
    markdown: str, citations: Sequence[Citation], changes: Mapping[Sentence, Mended]
) -> tuple[str, tuple[Citation, ...]]:
    """The answer with its changed sentences, its citations numbered anew in their order."""
    if not changes:
        return markdown, tuple(citations)
    known = {one.number: one for one in citations}
    text = ""
    at = 0
    for sentence, change in sorted(changes.items(), key=lambda pair: pair[0].start):
        # Numbers of a new sentence get out of the way of the old ones until all are given anew.
        shift = max(known, default=0)
        known |= {one.number + shift: one for one in change.citations}
        text += markdown[at : sentence.start] + _shifted(change.markdown, shift)
        at = sentence.end
        if not change.markdown:
            at += len(markdown[at:]) - len(markdown[at:].lstrip(" \t"))
            text = text if markdown[at : at + 1].strip() else text.rstrip(" \t")
    text = _EMPTY_ITEM.sub("", text + markdown[at:])
    text = re.sub(r"\n{3,}", "\n\n", text).lstrip("\n")
    numbers: dict[int, int] = {}
    for match in _MARKER.finditer(text):
        if int(match.group(1)) in known:
            numbers.setdefault(int(match.group(1)), len(numbers) + 1)
    kept = tuple(replace(known[old], number=new) for old, new in numbers.items())
    return _MARKER.sub(lambda m: f"[{numbers[int(m.group(1))]}]", text), kept


def _cited_sentences(markdown: str) -> Iterator[Sentence]:
    for first, last in _blocks(markdown):
        block = markdown[first:last]
        lead = _LEAD.match(block)
        # As blanks, markers and list signs neither make nor part sentences.
        plain = _MARKER.sub(lambda match: " " * len(match.group()), block)
        plain = " " * lead.end() + plain[lead.end() :] if lead is not None else plain
        for start, end in sentences(plain):
            tail = _TAIL.match(block, end)
            whole = block[start : tail.end() if tail else end]
            numbers = tuple(int(number) for number in _MARKER.findall(whole))
            if numbers:
                text = " ".join(re.sub(r"\s*(?<!\\)\[\d+\](?!\()", "", whole).split())
                yield Sentence(
                    start=first + start, end=first + start + len(whole), text=text, numbers=numbers
                )


def _blocks(markdown: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _BLOCK.finditer(markdown):
        yield start, match.start()
        start = match.end()
    yield start, len(markdown)


def _shifted(markdown: str, shift: int) -> str:
    return _MARKER.sub(lambda match: f"[{int(match.group(1)) + shift}]", markdown)
