"""What single conditions of saved searches ask; pure."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from services.search.library.records import Condition
from services.search.library.search_dates import calendar_date, start_of_period
from services.search.library.search_facts import Facts

ROLES = {"author": "author", "editor": "editor", "bookAuthor": "bookAuthor"}
TIMES = frozenset({"dateAdded", "dateModified", "accessDate"})
DATES = frozenset({"date", *TIMES})
NUMBERS = frozenset({"pages", "numPages", "numberOfVolumes", "section", "seriesNumber", "issue"})
# Asks about words inside files, about ids of one database, or about what a library does not hold.
ONLY_ZOTERO = frozenset(
    {
        "fulltextContent", "fulltextWord", "fileTypeID", "attachmentFileType", "itemTypeID",
        "tagID", "itemID", "libraryID", "collectionID", "savedSearchID", "tempTable", "key",
        "publications", "retracted", "feed", "blockStart", "blockEnd",
    }
)  # fmt: skip
DENIALS = frozenset({"isNot", "doesNotContain"})
LEADING_NUMBER = re.compile(r"^\s*(\d{1,15})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """A condition that can be asked of an object."""

    holds: Callable[[Facts], bool]
    """What the condition asserts, or, if it denies, what it denies."""
    denies: bool = False


def test_of(condition: Condition, now: datetime) -> Test | None:
    """The test of a condition on one object; None where it cannot be evaluated here."""
    name, operator, value = condition.name, condition.operator, condition.value
    if name in ONLY_ZOTERO or name.startswith("quicksearch") or "/" in name:
        return None
    if name in ("unfiled", "deleted"):
        return _switch(name, operator)
    if name in DATES and operator in ("is", "isNot", "isBefore", "isAfter", "isInTheLast"):
        return _date_test(name, operator, value, now)
    if operator in ("isLessThan", "isGreaterThan"):
        return _number_test(name, operator, value)
    compare = _comparison(operator, folded(value))
    if compare is None:
        return None
    return Test(
        denies=operator in DENIALS,
        holds=lambda facts: any(compare(folded(one)) for one in values_of(facts, name)),
    )


def values_of(facts: Facts, name: str) -> Iterable[str]:
    """What an object has under the name of a condition."""
    match name:
        case "itemType":
            return (facts.kind,)
        case "tag":
            return facts.tags
        case "creator" | "author" | "editor" | "bookAuthor":
            role = ROLES.get(name)
            return [one.display for one in facts.creators if role in (None, one.role)]
        case "lastName":
            return [one.family for one in facts.creators]
        case "note":
            return facts.notes
        case "childNote":
            return facts.child_notes
        case "anyField":
            return [*facts.fields.values(), *(one.display for one in facts.creators)]
    value = facts.fields.get(name, "")
    return (value,) if value else ()


def folded(text: str) -> str:
    """Text as it is compared: letter case and forms of the same letter make no difference."""
    return unicodedata.normalize("NFKC", text).casefold().strip()


def _comparison(operator: str, wanted: str) -> Callable[[str], bool] | None:
    match operator:
        case "is" | "isNot":
            return lambda found: found == wanted
        case "contains" | "doesNotContain":
            return lambda found: wanted in found
        case "beginsWith":
            return lambda found: found.startswith(wanted)
    return None


def _switch(name: str, operator: str) -> Test | None:
    if operator not in ("true", "false"):
        return None
    is_wanted = operator == "true"
    if name == "deleted":
        # Nothing of the trash is in the records.
        return Test(holds=lambda facts: not is_wanted)
    return Test(holds=lambda facts: facts.is_top and is_wanted is not bool(facts.collections))


def _date_test(name: str, operator: str, value: str, now: datetime) -> Test | None:
    if operator == "isInTheLast":
        start = start_of_period(value, now)
        if start is None:
            return None
        # A time is compared to the second, a date that a person typed to the day.
        earliest = start.isoformat()[: 19 if name in TIMES else 10]
        return Test(holds=lambda facts: _date(facts, name, len(earliest)) >= earliest)
    wanted = calendar_date(value)
    if not wanted:
        return None
    size = len(wanted)
    match operator:
        case "isBefore":
            return Test(holds=lambda facts: "" < _date(facts, name, size) < wanted)
        case "isAfter":
            return Test(holds=lambda facts: _date(facts, name, size) > wanted)
    return Test(denies=operator == "isNot", holds=lambda facts: _date(facts, name, size) == wanted)


def _date(facts: Facts, name: str, size: int) -> str:
    """The object's date as far as it is compared; empty when it has none."""
    stored = facts.fields.get(name, "")
    return stored[:size] if name in TIMES else calendar_date(stored)[:size]


def _number_test(name: str, operator: str, value: str) -> Test | None:
    wanted = LEADING_NUMBER.match(value)
    if wanted is None or name not in NUMBERS | {"year"}:
        return None
    limit = int(wanted[1])

    def holds(facts: Facts) -> bool:
        numbers = (LEADING_NUMBER.match(found) for found in values_of(facts, name))
        return any(
            int(one[1]) < limit if operator == "isLessThan" else int(one[1]) > limit
            for one in numbers
            if one is not None
        )

    return Test(holds=holds)
