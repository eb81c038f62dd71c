"""What a saved search holds, and which ones only Zotero can evaluate."""

from datetime import UTC, datetime

import pytest

from services.search.library.records import (
    Annotation,
    Attachment,
    Collection,
    Condition,
    Creator,
    Item,
    LibraryRecords,
    LinkMode,
    Note,
    SavedSearch,
    Tag,
)
from services.search.library.saved_searches import SearchHolds, evaluate_all
from services.search.library.search_dates import calendar_date, start_of_period

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)


def item(key: str, title: str, **values: object) -> Item:
    base = {"library": "user", "item_type": "journalArticle"}
    return Item(key=key, title=title, **{**base, **values})  # type: ignore[arg-type]


def tag(name: str) -> tuple[Tag, ...]:
    return (Tag(name=name, automatic=False),)


ITEMS = (
    item(
        "SLEEP",
        "Sleep and Memory",
        creators=(Creator(role="author", given="Ada", family="Lovelace"),),
        tags=tag("sleep"),
        collections=("INNER",),
        date="2021-03-05",
        year="2021",
        added="2026-03-30T10:00:00Z",
        fields={"publicationTitle": "Journal of Rest", "pages": "12-20"},
    ),
    item(
        "TEA",
        "Tea time",
        item_type="book",
        creators=(Creator(role="editor", given="", family="WHO"),),
        collections=("OUTER",),
        date="ca. 1999",
        year="1999",
        added="2025-12-01T10:00:00Z",
        fields={"numPages": "300"},
    ),
    item("BARE", "ＢＡＲＥ title", added="2020-01-01T00:00:00Z"),
)
RECORDS = LibraryRecords(
    libraries=(),
    items=ITEMS,
    attachments=(
        Attachment(
            library="user",
            key="FILE",
            parent_key="SLEEP",
            title="Full text",
            link_mode=LinkMode.IMPORTED_FILE,
            content_type="application/pdf",
            path=None,
        ),
        Attachment(
            library="user",
            key="ALONE",
            parent_key=None,
            title="A file alone",
            link_mode=LinkMode.IMPORTED_FILE,
            content_type="application/pdf",
            path=None,
            collections=("OUTER",),
        ),
    ),
    notes=(
        Note(
            library="user", key="NOTE", parent_key="TEA", title="n", text="Remember the cups",
            tags=tag("todo"),
        ),
        Note(library="user", key="OWN", parent_key="FILE", title="", text="Own words"),
    ),
    annotations=(
        Annotation(
            library="user", key="MARK", attachment_key="FILE", kind="highlight", text="deep sleep",
            comment="really?", color="", page_label="", page_index=None,
        ),
    ),
    collections=(
        Collection(library="user", key="OUTER", name="Outer", parent_key=None),
        Collection(library="user", key="INNER", name="Inner", parent_key="OUTER"),
    ),
    schema_version=0,
)  # fmt: skip


def saved(key: str, *conditions: tuple[str, str, str]) -> SavedSearch:
    asked = tuple(Condition(name=a, operator=b, value=c) for a, b, c in conditions)
    return SavedSearch(library="user", key=key, name=key, conditions=asked)


def evaluated(*searches: SavedSearch) -> list[SearchHolds]:
    records = LibraryRecords(
        **{name: getattr(RECORDS, name) for name in RECORDS.__slots__ if name != "searches"},
        searches=searches,
    )
    return evaluate_all(records, NOW)


def holds(*conditions: tuple[str, str, str]) -> set[str]:
    (one,) = evaluated(saved("S", *conditions))
    assert one.unsupported == ()
    return {key for _, key in one.items}


ANY = ("joinMode", "any", "")
EVERYTHING = {"SLEEP", "TEA", "BARE", "ALONE"}


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        (("title", "contains", "sleep"), {"SLEEP"}),
        (("title", "is", "bare title"), {"BARE"}),
        (("title", "beginsWith", "tea"), {"TEA"}),
        (("title", "isNot", "Tea time"), EVERYTHING - {"TEA"}),
        (("title", "doesNotContain", "e"), set()),
        (("publicationTitle", "contains", "rest"), {"SLEEP"}),
        (("anyField", "contains", "lovelace"), {"SLEEP"}),
        (("creator", "contains", "ada love"), {"SLEEP"}),
        (("author", "is", "WHO"), set()),
        (("editor", "is", "who"), {"TEA"}),
        (("lastName", "is", "lovelace"), {"SLEEP"}),
        (("tag", "is", "todo"), {"TEA"}),
        (("tag", "isNot", "sleep"), EVERYTHING - {"SLEEP"}),
        (("tag", "contains", "o"), {"TEA"}),
        (("collection", "is", "OUTER"), {"TEA", "ALONE"}),
        (("collection", "is", "0_INNER"), {"SLEEP"}),
        (("collection", "isNot", "OUTER"), {"SLEEP", "BARE"}),
        (("itemType", "is", "book"), {"TEA"}),
        (("itemType", "is", "attachment"), {"SLEEP", "ALONE"}),
        (("itemType", "isNot", "book"), EVERYTHING - {"TEA"}),
        (("year", "is", "1999"), {"TEA"}),
        (("year", "contains", "20"), {"SLEEP"}),
        (("year", "isGreaterThan", "2000"), {"SLEEP"}),
        (("date", "is", "2021-03"), {"SLEEP"}),
        (("date", "isBefore", "2021-03-05"), {"TEA"}),
        (("date", "isAfter", "2021-03-05"), set()),
        (("date", "isAfter", "2021-03-04"), {"SLEEP"}),
        (("dateAdded", "isInTheLast", "2 days"), {"SLEEP"}),
        (("dateAdded", "isInTheLast", "5 months"), {"SLEEP", "TEA"}),
        (("dateAdded", "is", "2025-12-01"), {"TEA"}),
        (("dateAdded", "isBefore", "2021-01-01"), {"BARE"}),
        (("pages", "isLessThan", "13"), {"SLEEP"}),
        (("numPages", "isGreaterThan", "299"), {"TEA"}),
        (("note", "contains", "CUPS"), {"TEA"}),
        (("note", "contains", "own words"), {"SLEEP"}),
        (("childNote", "contains", "cups"), {"TEA"}),
        (("annotationText", "contains", "deep"), {"SLEEP"}),
        (("annotationComment", "contains", "really"), {"SLEEP"}),
        (("unfiled", "true", ""), {"BARE"}),
        (("deleted", "true", ""), set()),
        (("deleted", "false", ""), EVERYTHING),
    ],
)
def test_a_condition_holds_for(condition: tuple[str, str, str], found: set[str]) -> None:
    assert holds(condition) == found


def test_conditions_are_joined_as_the_search_says() -> None:
    both = [("title", "contains", "time"), ("year", "is", "2021")]
    assert holds(*both) == set()
    assert holds(("joinMode", "all", ""), *both) == set()
    assert holds(ANY, *both) == {"SLEEP", "TEA"}
    assert holds(ANY, ("tag", "isNot", "sleep"), ("year", "is", "2021")) == EVERYTHING
    assert holds(("tag", "is", "sleep"), ("title", "isNot", "Tea time")) == {"SLEEP"}


def test_a_search_below_collections_and_of_items_alone() -> None:
    assert holds(("collection", "is", "OUTER"), ("recursive", "true", "")) == {
        "SLEEP", "TEA", "ALONE",
    }  # fmt: skip
    assert holds(("tag", "is", "todo"), ("noChildren", "true", "")) == set()
    assert holds() == EVERYTHING


def test_a_search_may_name_another_but_not_itself() -> None:
    inner = saved("INNER", ("tag", "is", "sleep"))
    outer = saved("OUTER", ("savedSearch", "is", "INNER"))
    rest = saved("REST", ("savedSearch", "isNot", "INNER"))
    ring = saved("RING", ("savedSearch", "is", "RING"))
    gone = saved("GONE", ("savedSearch", "is", "NOWHERE"))
    found = {one.search.key: one for one in evaluated(inner, outer, rest, ring, gone)}
    assert found["OUTER"].items == found["INNER"].items == {("user", "SLEEP")}
    assert {key for _, key in found["REST"].items} == EVERYTHING - {"SLEEP"}
    assert found["RING"].unsupported == ("savedSearch is",)
    assert found["GONE"].unsupported == ("savedSearch is",)


@pytest.mark.parametrize(
    "condition",
    [
        ("fulltextContent", "contains", "x"),
        ("fileTypeID", "is", "3"),
        ("quicksearch-everything", "contains", "x"),
        ("title", "sounds like", "x"),
        ("date", "isBefore", "someday"),
        ("dateAdded", "isInTheLast", "a while"),
        ("blockStart", "true", ""),
    ],
)
def test_a_search_that_only_zotero_can_evaluate_says_so_and_holds_nothing(
    condition: tuple[str, str, str],
) -> None:
    (one,) = evaluated(saved("S", ("title", "contains", "sleep"), condition))
    assert one.unsupported
    assert condition[0] in one.unsupported[0]
    assert one.items == frozenset()


def test_dates_are_read_as_far_as_they_go() -> None:
    texts = ("2021-03-05", "2021-03-00 3/2021", "ca. 1999", "n. d.", "12345")
    assert [calendar_date(one) for one in texts] == ["2021-03-05", "2021-03", "1999", "", ""]


def test_periods_end_now() -> None:
    starts = {
        period: start_of_period(period, NOW)
        for period in ("3 hours", "1 day", "2 weeks", "1 month", "13 months", "9999 years")
    }
    assert [one and one.isoformat()[:13] for one in starts.values()] == [
        "2026-03-31T09", "2026-03-30T12", "2026-03-17T12", "2026-02-28T12", "2025-02-28T12",
        "0001-01-01T00",
    ]  # fmt: skip
    assert start_of_period("999999 days", NOW) == datetime(1, 1, 1, tzinfo=UTC)
    assert start_of_period("soon", NOW) is None
