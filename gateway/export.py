"""An answer in the formats of other programs, as far as its citations know the items. Pure."""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt

from gateway.events import Answer, Citation

# A number or several in brackets, as answers cite.
MARKS = re.compile(r"\[(\d+(?:\s*,\s*\d+)*)\]")
SUPPORT = {
    "verified": "verified",
    "weak": "weakly supported",
    "unsupported": "not supported",
    "unchecked": "not checked",
}
TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def markdown_of(prompt: str, answer: Answer) -> str:
    """The answer below its question, with its numbered sources and their quotes."""
    lines = [_source(one) for one in answer.citations]
    sources = "\n\n## Sources\n\n" + "\n".join(lines) if lines else ""
    return f"# {_one_line(prompt)}\n\n{answer.markdown.strip()}{sources}\n"


def note_of(prompt: str, answer: Answer) -> str:
    """The answer as the HTML of a Zotero note; its citations are links to their pages."""
    by_number = {one.number: one for one in answer.citations}
    # Whatever the model wrote as HTML comes out as the text that it is.
    body: str = MarkdownIt("commonmark", {"html": False}).render(answer.markdown)

    def cited(found: re.Match[str]) -> str:
        numbers = [int(number) for number in found[1].split(",")]
        return " ".join(_link(by_number.get(number), number) for number in numbers)

    return f"<h1>{escape(_one_line(prompt))}</h1>\n{MARKS.sub(cited, body)}"


def bibtex_of(citations: Iterable[Citation]) -> str:
    """An entry for each cited item, in the order of their first citations."""
    taken: set[str] = set()
    return "\n\n".join(_entry(one, taken) for one in cited_items(citations)) + "\n"


def csl_of(citations: Iterable[Citation]) -> str:
    """CSL JSON of the cited items."""
    items = [_csl(one) for one in cited_items(citations)]
    return json.dumps(items, ensure_ascii=False, indent=2) + "\n"


def cited_items(citations: Iterable[Citation]) -> Sequence[Citation]:
    """The first citation of each item."""
    first: dict[tuple[str, str], Citation] = {}
    for one in citations:
        first.setdefault((one.library, one.item_key), one)
    return list(first.values())


def _source(one: Citation) -> str:
    where = f"p. {one.page_label}" if one.page_label else "without pages"
    by = ", ".join(filter(None, (", ".join(one.creators), one.year)))
    link = one.open_uri or one.select_uri
    named = re.sub(r"([][])", r"\\\1", one.title)
    title = f"[{named}]({link})" if link else one.title
    facts = " · ".join(filter(None, (title, by, where, SUPPORT.get(one.support, ""))))
    return f"{one.number}. {facts}\n   > {_one_line(one.quote)}"


def _link(one: Citation | None, number: int) -> str:
    if one is None:
        return f"[{number}]"
    names = [_family(name) for name in one.creators]
    by = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
    page = f"p. {one.page_label}" if one.page_label else ""
    shown = escape(", ".join(filter(None, (by, one.year, page))) or one.title)
    link = one.open_uri or one.select_uri
    return f'(<a href="{escape(link)}">{shown}</a>)' if link else f"({shown})"


def _entry(one: Citation, taken: set[str]) -> str:
    fields = {
        "title": f"{{{_tex(one.title)}}}",
        "author": " and ".join(_bibtex_name(name) for name in one.creators),
        "year": one.year,
        "note": _tex(f"Zotero {one.library}/{one.item_key}"),
    }
    body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@misc{{{_key(one, taken)},\n{body}\n}}"


def _key(one: Citation, taken: set[str]) -> str:
    family = _family(one.creators[0]) if one.creators else ""
    # BibTeX reads plain letters only.
    plain = re.sub("[^A-Za-z]", "", unicodedata.normalize("NFD", family)).lower()
    key = f"{plain or one.item_key.lower()}{one.year}"
    free = f"{key}-{one.item_key.lower()}" if key in taken else key
    taken.add(free)
    return free


def _csl(one: Citation) -> Mapping[str, Any]:
    item: dict[str, Any] = {
        "id": f"{one.library}/{one.item_key}",
        "type": "document",
        "title": one.title,
        "author": [_csl_name(name) for name in one.creators],
    }
    if one.year.isdigit():
        item["issued"] = {"date-parts": [[int(one.year)]]}
    if one.select_uri:
        item["URL"] = one.select_uri
    return item


def _csl_name(name: str) -> Mapping[str, str]:
    *given, family = name.split() or [name]
    # One word alone is the whole name of a group of people.
    return {"family": family, "given": " ".join(given)} if given else {"literal": name}


def _bibtex_name(name: str) -> str:
    parts = _csl_name(name)
    if "literal" in parts:
        return f"{{{_tex(parts['literal'])}}}"
    return f"{_tex(parts['family'])}, {_tex(parts['given'])}"


def _family(name: str) -> str:
    return (name.split() or [name])[-1]


def _tex(text: str) -> str:
    return re.sub(r"[\\{}~^&%$#_]", lambda sign: TEX.get(sign[0], f"\\{sign[0]}"), text)


def _one_line(text: str) -> str:
    return " ".join(text.split())
