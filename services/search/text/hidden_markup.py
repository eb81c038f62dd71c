"""What a web page keeps from its readers, by attributes and by simple rules of style sheets."""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

HIDING = re.compile(
    r"""
    display\s*:\s*none | visibility\s*:\s*(?:hidden|collapse)
    | font-size\s*:\s*0*(?:\.0*)?(?:px|pt|em|rem|%)?\s*(?:;|!|$) | font-size\s*:\s*[01](?:\.\d+)?px
    | opacity\s*:\s*0*(?:\.0*)?%?\s*(?:;|!|$)
    | (?:left|top|text-indent)\s*:\s*-\d{4,}px
    | clip\s*:\s*rect\(\s*0 | clip-path\s*:\s*inset\(\s*(?:50|100)%
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Names that sites give to text for screen readers, which nobody sees.
FOR_SCREEN_READERS = frozenset({".sr-only", ".visually-hidden", ".screen-reader-text"})
SHEET_TAG = re.compile(r"</?style\b", re.IGNORECASE)
COMMENT = re.compile(r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?")
BRACE = re.compile(r"[{}]")
SIMPLE = re.compile(r"[.#][\w-]+")


def is_hidden(attributes: Mapping[str, str], hidden: frozenset[str]) -> bool:
    """Whether the element with these attributes is not shown."""
    if "hidden" in attributes or attributes.get("aria-hidden", "").lower() == "true":
        return True
    if "style" in attributes and HIDING.search(attributes["style"]):
        return True
    names = {f".{name}" for name in attributes.get("class", "").split()}
    if "id" in attributes:
        names.add(f"#{attributes['id']}")
    return not names.isdisjoint(hidden)


def hidden_by_sheets(markup: str) -> frozenset[str]:
    """The classes and ids that the style sheets of the page hide wherever they stand."""
    found = set(FOR_SCREEN_READERS)
    for sheet in _sheets(markup):
        if not HIDING.search(sheet):
            continue
        for selectors, declarations in _rules(COMMENT.sub("", sheet)):
            if HIDING.search(declarations):
                chosen = (selector.strip() for selector in selectors.split(","))
                found.update(one for one in chosen if SIMPLE.fullmatch(one))
    return frozenset(found)


def _sheets(markup: str) -> Iterator[str]:
    """What stands between `<style` and the next such tag or its end."""
    tags = [match.start() for match in SHEET_TAG.finditer(markup)]
    for begin, end in pairwise([*tags, len(markup)]):
        if markup[begin + 1] != "/":
            yield markup[begin:end].partition(">")[2]


def _rules(sheet: str) -> list[tuple[str, str]]:
    """Selectors and declarations of the rules that hold everywhere, not for print or phones."""
    rules: list[tuple[str, str]] = []
    position = 0
    while (begin := sheet.find("{", position)) >= 0:
        selectors = sheet[position:begin].rpartition(";")[2].strip()
        end = sheet.find("}", begin)
        if end < 0:
            break
        if selectors.startswith("@"):
            end = _block_end(sheet, begin)
        else:
            rules.append((selectors, sheet[begin + 1 : end]))
        position = end + 1
    return rules


def _block_end(sheet: str, begin: int) -> int:
    depth = 0
    for brace in BRACE.finditer(sheet, begin):
        depth += 1 if brace.group() == "{" else -1
        if not depth:
            return brace.start()
    return len(sheet)
