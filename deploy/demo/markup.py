"""The small markup of the demo papers: headings, paragraphs, references, tables, figures, marks.

A marked sentence, ``{{id: The sentence.}}``, is one whose printed place the generator reports.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

_TOKEN = re.compile(r"\{\{(?P<mark>[a-z0-9-]+):\s*|\}\}|\*\*|\*|\^")
_HEADING = re.compile(r"(#{1,2}) (.+)")


class MarkupError(ValueError):
    """A paper's source breaks the markup; the message names the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of text in one style, inside at most one mark."""

    text: str
    italic: bool = False
    bold: bool = False
    raised: bool = False
    mark: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A section (level 1) or subsection (level 2) title."""

    level: int
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Running text."""

    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One entry of the list of references, printed with a hanging indent."""

    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A captioned table; the first row holds the column titles."""

    caption: tuple[Span, ...]
    rows: tuple[tuple[tuple[Span, ...], ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart:
    """A captioned chart of one value per label."""

    caption: tuple[Span, ...]
    axis: str
    bars: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveChart:
    """A captioned chart of named series of (x, y) points."""

    caption: tuple[Span, ...]
    x_axis: str
    y_axis: str
    series: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementStart:
    """The place where the supplement begins, on a page of its own."""


Block = Heading | Paragraph | Reference | Table | BarChart | CurveChart | SupplementStart


def parse_spans(text: str) -> tuple[Span, ...]:
    """Split text into spans at its emphasis, superscript and mark tokens."""
    return tuple(_spans(" ".join(text.split())))


def _spans(text: str) -> Iterator[Span]:
    italic = bold = raised = False
    mark: str | None = None
    position = 0
    for token in _TOKEN.finditer(text):
        if before := text[position : token.start()]:
            yield Span(text=before, italic=italic, bold=bold, raised=raised, mark=mark)
        position = token.end()
        match token.group():
            case "*":
                italic = not italic
            case "**":
                bold = not bold
            case "^":
                raised = not raised
            case "}}" if mark is not None:
                mark = None
            case opening if opening.startswith("{{") and mark is None:
                mark = token["mark"]
            case stray:
                raise MarkupError(f"{stray!r} is not expected in {text!r}")
    if italic or bold or raised or mark is not None:
        raise MarkupError(f"a token is left open in {text!r}")
    if rest := text[position:]:
        yield Span(text=rest)


def plain_text(spans: Iterable[Span]) -> str:
    """Return the text of spans without any styling."""
    return "".join(span.text for span in spans)


def parse_blocks(source: str) -> tuple[Block, ...]:
    """Parse the body of a paper; blocks are separated by blank lines."""
    paragraphs = re.split(r"\n\s*\n", source.strip())
    return tuple(block for paragraph in paragraphs for block in _blocks(paragraph))


def _blocks(source: str) -> list[Block]:
    first, *rest = source.splitlines()
    if source == "!supplement":
        return [SupplementStart()]
    if heading := _HEADING.fullmatch(source):
        return [Heading(level=len(heading[1]), title=heading[2])]
    if first.startswith("- "):
        return [Reference(spans=parse_spans(line.removeprefix("- "))) for line in (first, *rest)]
    if first.startswith("!table "):
        return [_table(first.removeprefix("!table "), rest)]
    if first.startswith("!bars "):
        return [_bars(first.removeprefix("!bars "), rest)]
    if first.startswith("!curve "):
        return [_curve(first.removeprefix("!curve "), rest)]
    return [Paragraph(spans=parse_spans(source))]


def _table(caption: str, lines: list[str]) -> Table:
    rows = tuple(tuple(parse_spans(cell) for cell in line.split("|")) for line in lines)
    if len({len(row) for row in rows}) != 1:
        raise MarkupError(f"the rows of {caption!r} differ in length")
    return Table(caption=parse_spans(caption), rows=rows)


def _bars(head: str, lines: list[str]) -> BarChart:
    axis, caption = head.split(" | ")
    pairs = (line.split("=") for line in lines)
    bars = tuple((label.strip(), float(value)) for label, value in pairs)
    return BarChart(caption=parse_spans(caption), axis=axis, bars=bars)


def _curve(head: str, lines: list[str]) -> CurveChart:
    x_axis, y_axis, caption = head.split(" | ")
    pairs = (line.split("=") for line in lines)
    series = tuple((label.strip(), _points(points)) for label, points in pairs)
    return CurveChart(caption=parse_spans(caption), x_axis=x_axis, y_axis=y_axis, series=series)


def _points(text: str) -> tuple[tuple[float, float], ...]:
    pairs = (point.split(":") for point in text.split())
    return tuple((float(x), float(y)) for x, y in pairs)


def marked_texts(spans: Iterable[Span]) -> dict[str, str]:
    """Return the plain text of every mark in the spans."""
    groups = groupby(spans, key=lambda span: span.mark)
    return {mark: plain_text(inside).strip() for mark, inside in groups if mark is not None}
