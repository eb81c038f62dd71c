"""Which items of a library are records of the same work; pure.

Two items of the same library are the same work when
- they have the same DOI, or, both being books, the same ISBN; or
- they have the same title, year and first creator, and neither names another DOI or ISBN; or
- year and first creator agree, the titles differ in the spelling of a word or two, the abstracts
  are nearly the same text, and neither names another DOI or ISBN.
A title is compared by its letters and digits alone. A title of one or two words, or one without a
creator or a year, is no evidence. Copies in different libraries stay apart: each library is a
choice of the person, and not everybody may see each.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import combinations, product

from services.search.library.records import Item

DOI = re.compile(r"\b(10\.\d{4,9}/\S+)", re.IGNORECASE)
NOT_ISBN = re.compile(r"[^0-9Xx]")
WORD = re.compile(r"\w+")
FEWEST_WORDS = 3
# A title in a script without spaces, which has no case either, is one word and says as much.
LONG_WORD = 8
SAME_SPELLING = 0.8
SPELLED_WORD = 5
SHINGLE_WORDS = 4
FEWEST_SHINGLES = 20
SAME_ABSTRACT = 0.8

MOST_MISSPELLED = 2

ItemKey = tuple[str, str]
Shingles = set[tuple[str, ...]]


def groups_of(items: Sequence[Item]) -> list[tuple[Item, ...]]:
    """The groups of two and more items that are one work, the fullest record of each first."""
    groups = _Groups(items)
    for library in _by(items, lambda item: [item.library]).values():
        for same in _by(library, lambda item: [doi_of(item)]).values():
            groups.join(same)
        for same in _by(library, _isbns_of_book).values():
            groups.join(same)
        for alike in _by(library, lambda item: [_year_and_creator(item)]).values():
            _join_same_titles(groups, alike)
    return [tuple(sorted(group, key=_fullest_first)) for group in groups.all() if len(group) > 1]


def doi_of(item: Item) -> str:
    """The item's DOI in lower case, from its own field or a line of the Extra field."""
    for text in (item.fields.get("DOI", ""), _extra_doi(item.fields.get("extra", ""))):
        found = DOI.search(text)
        if found is not None:
            doi = found[1].lower().rstrip(".,;")
            # A closing bracket may be the sentence's that the DOI stood in.
            return doi if doi.count("(") >= doi.count(")") else doi.rstrip(")").rstrip(".,;")
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


def _isbns_of_book(item: Item) -> frozenset[str]:
    # A chapter carries the number of its book, which makes it no copy of the other chapters.
    return isbns_of(item) if item.item_type == "book" else frozenset()


def _year_and_creator(item: Item) -> str:
    if not item.year or not item.creators or not _is_evidence(title_words(item.title)):
        return ""
    family = " ".join(title_words(item.creators[0].family))
    return f"{item.year} {family}" if family else ""


def _is_evidence(words: Sequence[str]) -> bool:
    return len(words) >= FEWEST_WORDS or any(
        len(word) >= LONG_WORD and word.upper() == word.lower() for word in words
    )


def _join_same_titles(groups: "_Groups", items: Sequence[Item]) -> None:
    """Join items of one year and creator whose titles say that they are one work."""
    by_title: dict[tuple[str, ...], list[Item]] = defaultdict(list)
    for item in items:
        by_title[title_words(item.title)].append(item)
    for same in by_title.values():
        for other in same[1:]:
            groups.join_if_nothing_speaks_against_it(same[0], other)
    for ours, theirs in combinations(by_title, 2):
        if not _differ_in_spelling(ours, theirs):
            continue
        for one, other in product(by_title[ours], by_title[theirs]):
            if _nearly_same(_shingles(one.abstract), _shingles(other.abstract)):
                groups.join_if_nothing_speaks_against_it(one, other)


def _differ_in_spelling(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    if len(ours) != len(theirs):
        return False
    differing = [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]
    return len(differing) <= MOST_MISSPELLED and all(_is_misspelling(*pair) for pair in differing)


def _is_misspelling(one: str, other: str) -> bool:
    if min(len(one), len(other)) < SPELLED_WORD or not (one.isalpha() and other.isalpha()):
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= SAME_SPELLING


def _nearly_same(ours: Shingles, theirs: Shingles) -> bool:
    if min(len(ours), len(theirs)) < FEWEST_SHINGLES:
        return False
    return len(ours & theirs) / len(ours | theirs) >= SAME_ABSTRACT


def _shingles(text: str) -> Shingles:
    words = title_words(text)
    return {words[start : start + SHINGLE_WORDS] for start in range(len(words) - SHINGLE_WORDS + 1)}


def _fullest_first(item: Item) -> tuple[object, ...]:
    """The record that says most, so that a citation does; else the older, else the lower key."""
    says = sum(map(len, (one.display for one in item.creators))) + len(item.title)
    return not item.citation_key, not doi_of(item), -says, item.added, item.key


def _by(
    items: Iterable[Item], names_of: Callable[[Item], Iterable[str]]
) -> Mapping[str, list[Item]]:
    """The items by what they have; those that have nothing are in no group."""
    found: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        for name in names_of(item):
            if name:
                found[name].append(item)
    return found


class _Groups:
    """Sets of items that grow together as more of them turn out to be one."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._members: dict[ItemKey, list[Item]] = {_key(item): [item] for item in items}
        self._group = {key: key for key in self._members}

    def join(self, items: Sequence[Item]) -> None:
        """These are one."""
        for other in items[1:]:
            self._unite(self._group[_key(items[0])], self._group[_key(other)])

    def join_if_nothing_speaks_against_it(self, one: Item, other: Item) -> None:
        """These are one, unless their groups name different works themselves."""
        first, second = self._group[_key(one)], self._group[_key(other)]
        if first == second:
            return
        ours, theirs = self._members[first], self._members[second]
        dois = {doi_of(item) for item in (*ours, *theirs)} - {""}
        our_isbns = frozenset[str]().union(*map(isbns_of, ours))
        their_isbns = frozenset[str]().union(*map(isbns_of, theirs))
        if len(dois) > 1 or (our_isbns and their_isbns and our_isbns.isdisjoint(their_isbns)):
            return
        self._unite(first, second)

    def all(self) -> Iterable[list[Item]]:
        """The groups."""
        return self._members.values()

    def _unite(self, one: ItemKey, other: ItemKey) -> None:
        if one == other:
            return
        if len(self._members[one]) < len(self._members[other]):
            one, other = other, one
        moved = self._members.pop(other)
        self._members[one] += moved
        for item in moved:
            self._group[_key(item)] = one


def _key(item: Item) -> ItemKey:
    return item.library, item.key
