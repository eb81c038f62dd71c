"""Zotero's notes: HTML to plain text and the items they cite."""

import json
import re
from dataclasses import dataclass
from urllib.parse import unquote

from services.search.text.markup import Close, Open, Raw, names, tokens

BLOCKS = names(
    "address article aside blockquote dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6",
    "header hr li main nav ol p pre section table tbody tfoot thead tr ul",
)
CELLS = frozenset({"td", "th"})
UNSEEN = names("script style template noscript head title svg math iframe")
# Single spaces, which most are, are no match and cost nothing.
WHITE_SPACE = re.compile(r"[ \t\r\n\f\v\u00a0]{2,}|[\t\r\n\f\v\u00a0]")
UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
SPACES = re.compile(r"[ \t\u00a0]{2,}")
BLANK_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteText:
    """A note's words and the URIs of the items it cites."""

    text: str
    cited_uris: tuple[str, ...]


def read_note(html: str) -> NoteText:
    """The note as paragraphs separated by blank lines; never fails, whatever the HTML."""
    parser = _NoteParser()
    for token in tokens(html):
        match token:
            case Open():
                parser.open(token)
            case Close(name=name):
                parser.close(name)
            case Raw():
                pass
            case _:
                parser.text_piece(token)
    return NoteText(text=parser.text(), cited_uris=tuple(dict.fromkeys(parser.cited_uris)))


class _NoteParser:
    def __init__(self) -> None:
        self.cited_uris: list[str] = []
        self._paragraphs: list[list[str]] = [[]]
        self._unseen: list[str] = []
        self._preformatted = 0

    def text(self) -> str:
        """The words of the note."""
        paragraphs = ("".join(pieces).strip() for pieces in self._paragraphs)
        return _clean("\n\n".join(paragraph for paragraph in paragraphs if paragraph))

    def open(self, tag: Open) -> None:
        """An element begins."""
        if self._unseen or tag.name in UNSEEN:
            if tag.name in UNSEEN and not tag.is_empty:
                self._unseen.append(tag.name)
            return
        if tag.name == "br":
            self._paragraphs[-1].append("\n")
        elif tag.name in CELLS:
            self._paragraphs[-1].append(" ")
        elif tag.name in BLOCKS:
            self._break()
        self._preformatted += tag.name == "pre"
        if "data-" in tag.raw_attributes:
            attributes = tag.attributes
            for name in ("data-citation", "data-annotation"):
                if value := attributes.get(name):
                    self.cited_uris.extend(_cited(value))

    def close(self, name: str) -> None:
        """An element ends."""
        if self._unseen:
            if name == self._unseen[-1]:
                self._unseen.pop()
            return
        if name in BLOCKS:
            self._break()
        if name == "pre" and self._preformatted:
            self._preformatted -= 1

    def text_piece(self, text: str) -> None:
        """Text between tags."""
        if not self._unseen:
            self._paragraphs[-1].append(text if self._preformatted else WHITE_SPACE.sub(" ", text))

    def _break(self) -> None:
        if self._paragraphs[-1]:
            self._paragraphs.append([])


def _clean(text: str) -> str:
    """No NUL, lone surrogate or run of spaces; at most one blank line in a row."""
    lines = SPACES.sub(" ", UNPRINTABLE.sub("", text)).split("\n")
    return BLANK_LINES.sub("\n\n", "\n".join(line.strip() for line in lines)).strip()


def _cited(encoded: str) -> list[str]:
    """The item URIs of a citation span's URL-encoded JSON; none if it is not what Zotero writes."""
    try:
        citation = json.loads(unquote(encoded))
    except (ValueError, RecursionError):
        return []
    if not isinstance(citation, dict):
        return []
    items = citation.get("citationItems")
    candidates = items if isinstance(items, list) else [citation.get("citationItem")]
    uris: list[str] = []
    for item in candidates:
        if isinstance(item, dict) and isinstance(item.get("uris"), list):
            uris.extend(uri for uri in item["uris"] if isinstance(uri, str))
    return uris
