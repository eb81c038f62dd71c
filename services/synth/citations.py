"""Numbered citations, and quoted text that stays text when it is shown as Markdown."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

MARKER = re.compile(r"\[(\d+)\]")

# Everything that could begin a link, an image, HTML, code, emphasis, a heading, a table or a
# formula.
_ACTIVE = re.compile(r"[\\`*_{}\[\]<>#|~!&$^]")
# What makes a list, a rule or a heading of the line that it begins.
_LINE_START = re.compile(r"^(\d{1,9}(?=[.)])|(?=[-+=]))")
# What many renderers turn into links without any brackets.
_LINK_LIKE = re.compile(r"(?<=[a-z])(:)(?=/|\w)|(?<=www)(\.)|(@)", re.IGNORECASE)


class NotVerbatim(ValueError):
    """A quote that is not in the text it claims to be from."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A stretch of a passage."""

    passage_id: str
    text: str


@dataclass(slots=True)
class Numbering:
    """Gives each quote its number, from 1 without holes; the same quote keeps its number."""

    _numbers: dict[Quote, int] = field(default_factory=dict)

    def number(self, quote: Quote) -> int:
        """The number of the quote."""
        return self._numbers.setdefault(quote, len(self._numbers) + 1)


def quote_from(passage_id: str, text: str, start: int, end: int) -> Quote:
    """The stretch of the text as a quote; raises NotVerbatim when it is empty."""
    stretch = text[start:end]
    if not stretch.strip():
        raise NotVerbatim(f"Passage {passage_id!r} has no text at {start} to {end}.")
    return Quote(passage_id, stretch)


def require_verbatim(quote: Quote, text: str) -> None:
    """Raise NotVerbatim unless the text holds the quote letter by letter."""
    if quote.text not in text:
        raise NotVerbatim(f"Passage {quote.passage_id!r} does not hold the quote {quote.text!r}.")


def markers_in(markdown: str) -> list[int]:
    """The citation numbers in order of appearance; escaped brackets do not count."""
    return [int(number) for number in MARKER.findall(re.sub(r"\\.", "", markdown))]


def one_line(text: str) -> str:
    """The text with runs of white space made one blank, and without control characters."""
    return " ".join("".join(c if c.isprintable() or c.isspace() else " " for c in text).split())


def as_plain_markdown(text: str) -> str:
    """Markdown that shows exactly this text: on one line, with nothing in it active."""
    escaped = _ACTIVE.sub(lambda match: f"\\{match.group()}", one_line(text))
    escaped = _LINK_LIKE.sub(lambda match: f"\\{match.group()}", escaped)
    return _LINE_START.sub(lambda match: f"{match.group()}\\", escaped)


def pieces_of(markdown: str, *, length: int = 80) -> Sequence[str]:
    """The text cut behind blanks into pieces of about this length; joined they are the text."""
    pieces: list[str] = []
    start = 0
    while start < len(markdown):
        end = markdown.rfind(" ", start + 1, start + length)
        line = markdown.find("\n", start, start + length)
        if line >= 0:
            end = line
        stop = len(markdown) if len(markdown) - start <= length and line < 0 else end + 1
        if stop <= start:
            stop = min(len(markdown), start + length)
        pieces.append(markdown[start:stop])
        start = stop
    return pieces
