"""Which items of a library are records of the same work; pure.

Two items of the same library are the same work when
- they have the same DOI, or, both being books, the same ISBN; or
- they have the same title, year and first creator, and neither names another DOI or ISBN; or
- year and first creator agree, the titles differ in spelling only, the abstracts are nearly the
  same text, and neither names another DOI or ISBN.
A title is compared by its letters and digits alone. A title of one or two words, or one without a
creator or a year, is no evidence. Copies in different libraries stay apart: each library is a
choice of the person, and not everybody may see each.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from services.search.library.records import Item

DOI = re.compile(r"\b(10\.\d{4,9}/\S+)", re.IGNORECASE)
NOT_ISBN = re.compile(r"[^0-9Xx]")
WORD = re.compile(r"\w+")
FEWEST_WORDS = 3
# A title in a script without spaces is one word, and says as much in so many characters.
LONG_WORD = 8
SAME_SPELLING = 0.8
SPELLED_WORD = 5
SHINGLE_WORDS = 4
FEWEST_SHINGLES = 20
SAME_ABSTRACT = 0.8

ItemKey = tuple[str, str]


def groups_of(items: Sequence[Item]) -> list[tuple[Item, ...]]:
    """The groups of two and more items that are one work, the fullest record of each first."""
    groups = _Groups()
    for library in _by(items, lambda item: item.library).values():
        for same in _by(library, doi_of).values():
            groups.join(same)
        for same in _by(library, _isbn_of_book).values():
            groups.join(same)
        for alike in _by(library, _year_and_creator).values():
            for one, other in _same_titles(alike):
                groups.join((one, other))
    return [tuple(sorted(group, key=_fullest_first)) for group in groups.all() if len(group) > 1]


def doi_of(item: Item) -> str:
    """The item's DOI in lower case, from its own field or a line of the Extra field."""
    for text in (item.fields.get("DOI", ""), _extra_doi(item.fields.get("extra", ""))):
        found = DOI.search(text)
        if found is not None:
            return found[1].lower().rstrip(".,;)")
    return ""


def isbns_of(item: Item) -> frozenset[str]:
    """The item's ISBNs, all with thirteen digits."""
    numbers = re.split(r"[\s,;]+", item.fields.get("ISBN", ""))
    found = {thirteen for one in numbers if (thirteen := _isbn13(one))}
    joined = _isbn13(item.fields.get("ISBN", ""))
    return frozenset(found or ({joined} if joined else set()))


def title_words(title: str) -> tuple[str, ...]:
    """The words of a title without case, accents, marks and punctuation."""
    decomposed = unicodedata.normalize("NFKD", title).casefold()
    plain = "".join(char for char in decomposed if not unicodedata.combining(char))
    return tuple(WORD.findall(unicodedata.normalize("NFC", plain).replace("_", " ")))


def _extra_doi(extra: str) -> str:
    lines = (line for line in extra.splitlines() if line.strip().lower().startswith("doi:"))
    return next(lines, "")


def _isbn13(text: str) -> str:
    digits = NOT_ISBN.sub("", text).upper()
    if len(digits) == 13 and digits.isdecimal():
        return digits
    if len(digits) != 10 or not digits[:9].isdecimal():
        return ""
    body = "978" + digits[:9]
    check = -sum(int(digit) * (1 + 2 * (place % 2)) for place, digit in enumerate(body)) % 10
    return f"{body}{check}"


def _isbn_of_book(item: Item) -> str:
    # A chapter carries the number of its book, which makes it no copy of the other chapters.
    numbers = isbns_of(item) if item.item_type == "book" else frozenset()
    return min(numbers, default="")


def _year_and_creator(item: Item) -> str:
    if not item.year or not item.creators or not _is_evidence(title_words(item.title)):
        return ""
    family = " ".join(title_words(item.creators[0].family))
    return f"{item.year} {family}" if family else ""


def _is_evidence(words: Sequence[str]) -> bool:
    return len(words) >= FEWEST_WORDS or any(len(word) >= LONG_WORD for word in words)


def _same_titles(items: Sequence[Item]) -> Iterator[tuple[Item, Item]]:
    """Pairs of items of one year and creator whose titles say that they are one work."""
    words = {(item.library, item.key): title_words(item.title) for item in items}
    for place, one in enumerate(items):
        for other in items[place + 1 :]:
            ours, theirs = words[one.library, one.key], words[other.library, other.key]
            if _contradict(one, other):
                continue
            if ours == theirs or (
                _differ_in_spelling(ours, theirs) and _same_abstract(one.abstract, other.abstract)
            ):
                yield one, other


def _contradict(one: Item, other: Item) -> bool:
    """Whether the items name different works themselves."""
    dois = {doi_of(one), doi_of(other)} - {""}
    if len(dois) > 1:
        return True
    ours, theirs = isbns_of(one), isbns_of(other)
    return bool(ours and theirs and ours.isdisjoint(theirs))


def _differ_in_spelling(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    return len(ours) == len(theirs) and all(
        a == b or _is_misspelling(a, b) for a, b in zip(ours, theirs, strict=True)
    )


def _is_misspelling(one: str, other: str) -> bool:
    if min(len(one), len(other)) < SPELLED_WORD or not (one.isalpha() and other.isalpha()):
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= SAME_SPELLING


def _same_abstract(one: str, other: str) -> bool:
    ours, theirs = _shingles(one), _shingles(other)
    if min(len(ours), len(theirs)) < FEWEST_SHINGLES:
        return False
    return len(ours & theirs) / len(ours | theirs) >= SAME_ABSTRACT


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = title_words(text)
    return {words[start : start + SHINGLE_WORDS] for start in range(len(words) - SHINGLE_WORDS + 1)}


def _fullest_first(item: Item) -> tuple[object, ...]:
    """The record that says most, so that a citation does; else the older, else the lower key."""
    says = sum(map(len, (one.display for one in item.creators))) + len(item.title)
    return not item.citation_key, not doi_of(item), -says, item.added, item.key


def _by(items: Iterable[Item], key: Callable[[Item], str]) -> Mapping[str, list[Item]]:
    """The items by something they have; those without it are in no group."""
    found: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        if value := key(item):
            found[value].append(item)
    return found


class _Groups:
    """Sets of items that grow together as more of them turn out to be one."""

    def __init__(self) -> None:
        self._group: dict[ItemKey, list[Item]] = {}

    def join(self, items: Iterable[Item]) -> None:
        """These are one."""
        joined: list[Item] = []
        for item in items:
            for one in self._group.get((item.library, item.key), [item]):
                if all(one is not other for other in joined):
                    joined.append(one)
        for item in joined:
            self._group[item.library, item.key] = joined

    def all(self) -> Iterator[list[Item]]:
        """The groups, each once."""
        seen: set[int] = set()
        for group in self._group.values():
            if id(group) not in seen:
                seen.add(id(group))
                yield group
