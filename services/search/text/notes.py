"""Zotero's notes: HTML to plain text and the items they cite."""

import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import unquote

BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "dd",
        "div",
        "dl",
        "dt",
        "figcaption",
        "figure",
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "tbody",
        "tfoot",
        "thead",
        "tr",
        "ul",
    ]
)
CELLS = frozenset({"td", "th"})
UNSEEN = frozenset(
    {"script", "style", "template", "noscript", "head", "title", "svg", "math", "iframe"}
)
# An unseen element without content has no end tag to wait for.
VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
)
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
    parser.feed(html)
    parser.close()
    return NoteText(text=parser.text(), cited_uris=tuple(dict.fromkeys(parser.cited_uris)))


class _NoteParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.cited_uris: list[str] = []
        self._paragraphs: list[list[str]] = [[]]
        self._unseen: list[str] = []
        self._preformatted = 0

    def text(self) -> str:
        paragraphs = ("".join(pieces).strip() for pieces in self._paragraphs)
        return _clean("\n\n".join(paragraph for paragraph in paragraphs if paragraph))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._unseen or (tag in UNSEEN and tag not in VOID):
            if tag in UNSEEN:
                self._unseen.append(tag)
            return
        if tag == "br":
            self._paragraphs[-1].append("\n")
        elif tag in CELLS:
            self._paragraphs[-1].append(" ")
        elif tag in BLOCKS:
            self._break()
        self._preformatted += tag == "pre"
        for name, value in attrs:
            if name in ("data-citation", "data-annotation") and value:
                self.cited_uris.extend(_cited(value))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in UNSEEN:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._unseen:
            if tag == self._unseen[-1]:
                self._unseen.pop()
            return
        if tag in BLOCKS:
            self._break()
        if tag == "pre" and self._preformatted:
            self._preformatted -= 1

    def handle_data(self, data: str) -> None:
        if self._unseen:
            return
        self._paragraphs[-1].append(data if self._preformatted else WHITE_SPACE.sub(" ", data))

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
