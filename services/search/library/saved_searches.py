"""Which items a saved search holds, decided from the library's records alone; pure.

Zotero evaluates a search on every object and shows the items of those that match. So do we, but
that what a condition denies is asked of the item alone: an item with a tag is not in a search for
items without it just because its files have no tags. The trash is never in a search.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from services.search.library.records import Condition, LibraryRecords, SavedSearch
from services.search.library.search_facts import Facts, ItemKey, facts_of
from services.search.library.search_tests import DENIALS, Test, test_of

SWITCHES = frozenset(
    {
        "joinMode", "recursive", "noChildren", "includeChildren", "includeParents",
        "includeParentsAndChildren", "blockStart", "blockEnd",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHolds:
    """What a saved search holds, or why that cannot be told."""

    search: SavedSearch
    items: frozenset[ItemKey]
    unsupported: tuple[str, ...] = ()
    """Conditions that only Zotero can evaluate; then `items` is empty and means nothing."""


def evaluate_all(records: LibraryRecords, now: datetime) -> list[SearchHolds]:
    """What every saved search of the library holds, by the time given."""
    return Evaluation(records, now).all()


class Evaluation:
    """The saved searches of one library's records."""

    def __init__(self, records: LibraryRecords, now: datetime) -> None:
        self._now = now
        self._searches = {(one.library, one.key): one for one in records.searches}
        self._facts: Mapping[str, list[Facts]] = facts_of(records) if records.searches else {}
        self._below = _collections_below(records)
        self._done: dict[ItemKey, SearchHolds] = {}

    def all(self) -> list[SearchHolds]:
        """Each search, in the records' order."""
        return [self._evaluate(search, ()) for search in self._searches.values()]

    def _evaluate(self, search: SavedSearch, inside: tuple[ItemKey, ...]) -> SearchHolds:
        key = search.library, search.key
        if key not in self._done:
            self._done[key] = self._evaluated(search, (*inside, key))
        return self._done[key]

    def _evaluated(self, search: SavedSearch, inside: tuple[ItemKey, ...]) -> SearchHolds:
        switches = {one.name: one for one in search.conditions if one.name in SWITCHES}
        is_recursive = _is_on(switches.get("recursive"))
        asked = [one for one in search.conditions if one.name not in SWITCHES]
        tests: list[Test] = []
        unsupported: list[str] = [name for name in ("blockStart",) if name in switches]
        for condition in asked:
            test = self._test(search.library, condition, is_recursive, inside)
            if test is None:
                unsupported.append(f"{condition.name} {condition.operator}".strip())
            else:
                tests.append(test)
        if unsupported:
            return SearchHolds(
                search=search, items=frozenset(), unsupported=tuple(dict.fromkeys(unsupported))
            )
        join = switches.get("joinMode")
        is_any = join is not None and join.operator == "any"
        items = _matching(
            self._facts.get(search.library, ()),
            tests,
            is_any=is_any,
            top_only=_is_on(switches.get("noChildren")),
        )
        return SearchHolds(search=search, items=items)

    def _test(
        self,
        library: str,
        condition: Condition,
        is_recursive: bool,
        inside: tuple[ItemKey, ...],
    ) -> Test | None:
        """The test of a condition; None where it cannot be evaluated here."""
        # Zotero writes keys of other objects alone or after the number of their library.
        key = condition.value.rpartition("_")[2]
        denies = condition.operator in DENIALS
        match condition.name:
            case "collection":
                below = self._below.get((library, key), frozenset())
                wanted = below | {key} if is_recursive else frozenset({key})
                return Test(
                    denies=denies, holds=lambda facts: not wanted.isdisjoint(facts.collections)
                )
            case "savedSearch":
                return self._within(library, key, denies, inside)
        return test_of(condition, self._now)

    def _within(
        self, library: str, key: str, denies: bool, inside: tuple[ItemKey, ...]
    ) -> Test | None:
        other = self._searches.get((library, key))
        if other is None or (library, key) in inside:
            return None
        held = self._evaluate(other, inside)
        if held.unsupported:
            return None
        return Test(denies=denies, holds=lambda facts: facts.item in held.items)


def _matching(
    objects: Iterable[Facts], tests: Sequence[Test], *, is_any: bool, top_only: bool
) -> frozenset[ItemKey]:
    """The items of the objects for which the tests hold."""
    asserting = [test for test in tests if not test.denies]
    denying = [test for test in tests if test.denies]
    found: set[ItemKey] = set()
    denied: set[ItemKey] = set()
    candidates: set[ItemKey] = set()
    for facts in objects:
        if facts.is_top:
            candidates.add(facts.item)
            verdicts = [not test.holds(facts) for test in denying]
            if is_any and any(verdicts):
                found.add(facts.item)
            if not is_any and not all(verdicts):
                denied.add(facts.item)
        if top_only and not facts.is_top:
            continue
        verdicts = [test.holds(facts) for test in asserting]
        if any(verdicts) if is_any else asserting and all(verdicts):
            found.add(facts.item)
    if is_any:
        return frozenset(found & candidates)
    return frozenset((found if asserting else candidates) & candidates - denied)


def _is_on(switch: Condition | None) -> bool:
    return switch is not None and switch.operator == "true"


def _collections_below(records: LibraryRecords) -> Mapping[ItemKey, frozenset[str]]:
    """For each collection the keys of those inside it."""
    children: dict[ItemKey, list[str]] = defaultdict(list)
    for one in records.collections:
        if one.parent_key is not None:
            children[one.library, one.parent_key].append(one.key)
    found = {}
    for one in records.collections:
        seen: set[str] = set()
        todo = list(children[one.library, one.key])
        while todo:
            key = todo.pop()
            if key not in seen:
                seen.add(key)
                todo += children[one.library, key]
        found[one.library, one.key] = frozenset(seen)
    return found
