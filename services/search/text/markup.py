"""HTML and XML as tags and text: quick, and never failing, whatever the markup.

The same in spirit as what browsers do before they build a tree: an end that does not come is the
end of the file, and what is inside a script is no markup.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass


def names(*lists: str) -> frozenset[str]:
    """The names in lists that spaces divide."""
    return frozenset(name for listed in lists for name in listed.split())


# Possessive throughout: markup that goes wrong must not be tried in many ways.
TAG = re.compile(
    r"<(/?)([a-zA-Z][^\s/>]*+)"
    r"((?:[\s/]++|[^\s/>=][^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'][^\s>]*+))?+|=)*+)>"
)
ATTRIBUTE = re.compile(
    r"([^\s/>=][^\s/>=]*+)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s>\"'][^\s>]*+)))?+"
)
# What these hold is no markup, up to their end tag.
RAW = names("script style textarea title xmp iframe noembed noframes plaintext")
# These have no content and so no end tag.
VOID = names("area base br col embed hr img input link meta param source track wbr")
# Pictures and fonts that snapshots carry along inside their markup, often most of the file.
DATA_URI = re.compile(r"data:[\w/+.-]*+[;,][^\s\"'()<>]{200,}+")


@dataclass(frozen=True, slots=True)
class Open:
    """The start of an element; `is_empty` when it ends at once."""

    name: str
    raw_attributes: str
    is_empty: bool

    @property
    def attributes(self) -> dict[str, str]:
        """The attributes by their names in small letters; the first of a name counts."""
        found: dict[str, str] = {}
        for name, *values in ATTRIBUTE.findall(self.raw_attributes):
            found.setdefault(name.lower(), html.unescape("".join(values)))
        return found


@dataclass(frozen=True, slots=True)
class Close:
    """The end of an element."""

    name: str


@dataclass(frozen=True, slots=True)
class Raw:
    """The content of an element that holds no markup, such as a style sheet."""

    name: str
    text: str


Token = Open | Close | Raw | str


def tokens(markup: str, *, xml: bool = False) -> Iterator[Token]:
    """Tags, raw contents and pieces of text in order, names in small letters without a prefix."""
    position, length = 0, len(markup)
    while position < length:
        begin = markup.find("<", position)
        if begin != position:
            yield _plain(markup[position : begin if begin >= 0 else length])
        if begin < 0:
            return
        if (tag := TAG.match(markup, begin)) is not None:
            position = tag.end()
            name = tag[2].rpartition(":")[2].lower()
            if tag[1]:
                yield Close(name)
                continue
            is_empty = name in VOID or (xml and tag[3].endswith("/"))
            yield Open(name, tag[3], is_empty)
            if name in RAW and not is_empty and not (xml and name == "title"):
                after = _end_of_raw(markup, name, position)
                yield Raw(name, markup[position:after])
                position = after
        elif (end := _end_of_other(markup, begin)) is not None:
            if markup.startswith("<![CDATA[", begin):
                yield markup[begin + 9 : end - 3]
            position = end
        else:
            yield "<"
            position = begin + 1


def _plain(text: str) -> str:
    return html.unescape(text) if "&" in text else text


def _end_of_raw(markup: str, name: str, start: int) -> int:
    if name == "plaintext":
        return len(markup)
    found = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(markup, start)
    return found.start() if found else len(markup)


def _end_of_other(markup: str, begin: int) -> int | None:
    """Where a comment, a declaration or a tag that never ends is over; None for a mere `<`."""
    following = markup[begin + 1 : begin + 2]
    for opening, closing in (("<!--", "-->"), ("<![CDATA[", "]]>")):
        if markup.startswith(opening, begin):
            end = markup.find(closing, begin + len(opening))
            return end + len(closing) if end >= 0 else len(markup)
    if following in ("!", "?") or (following == "/" and markup[begin + 2 : begin + 3] != ""):
        end = markup.find(">", begin)
        return end + 1 if end >= 0 else len(markup)
    # A tag that the file's end cuts off shows nothing.
    return len(markup) if following.isascii() and following.isalpha() else None


def without_data(markup: str) -> str:
    """The markup without the pictures and fonts inside it."""
    return DATA_URI.sub("data:,", markup)
