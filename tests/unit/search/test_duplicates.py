"""Which records are one work, and what becomes of the others."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from services.search.library.duplicates import doi_of, groups_of, isbns_of
from services.search.library.fingerprints import same_file
from services.search.library.folding import fold
from services.search.library.records import (
    Annotation,
    Attachment,
    Creator,
    Item,
    LibraryRecords,
    LinkMode,
    Note,
    RemoteFile,
    Tag,
)

ABSTRACT = " ".join(f"word{number} of this abstract" for number in range(12))
DOI = "10.1000/x"
TITLE = "Sleep spindles and memory in older adults"


def item(key: str, title: str = TITLE, **values: object) -> Item:
    fields = {name: values.pop(name) for name in ("DOI", "ISBN", "extra") if name in values}
    creators = (Creator(role="author", given="Ada", family="Lovelace"),)
    made = {"library": "user", "item_type": "journalArticle", "year": "2020", "creators": creators}
    return Item(key=key, title=title, fields=fields, **{**made, **values})  # type: ignore[arg-type]


def grouped(*items: Item) -> list[list[str]]:
    return sorted(sorted(one.key for one in group) for group in groups_of(items))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"DOI": "10.1000/ABC"}, {"DOI": "https://doi.org/10.1000/abc", "title": "Else"}),
        ({"DOI": "10.1000/abc"}, {"extra": "DOI: 10.1000/abc", "title": "Other words here"}),
        ({"title": TITLE.upper() + "."}, {}),
        ({"title": "Ｓｌｅｅｐ spindles – and memory in older adults"}, {}),
        ({"title": "Mémoire et sommeil paradoxal"}, {"title": "Memoire et sommeil paradoxal"}),
        ({"title": "睡眠と記憶の固定化に関する研究"}, {"title": "睡眠と記憶の固定化に関する研究"}),
        ({"DOI": "10.1000/abc"}, {}),
        (
            {"title": "Sleep spindels and memory in older adults", "abstract": ABSTRACT},
            {"abstract": ABSTRACT + " end"},
        ),
        (
            {"item_type": "book", "ISBN": "0-306-40615-2", "title": "Old title"},
            {"item_type": "book", "ISBN": "9780306406157 1111111111", "title": "New title"},
        ),
    ],
)
def test_records_of_one_work_are_found(one: dict[str, str], other: dict[str, str]) -> None:
    assert grouped(item("A", **one), item("B", **other)) == [["A", "B"]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"DOI": "10.1000/abc"}, {"DOI": "10.1000/abd"}),
        ({"year": "2021"}, {}),
        ({"year": ""}, {"year": ""}),
        ({"creators": ()}, {"creators": ()}),
        ({"creators": (Creator(role="author", given="", family="Somebody"),)}, {}),
        ({"title": "Editorial"}, {"title": "Editorial"}),
        ({"title": ""}, {"title": ""}),
        ({"title": TITLE + " 1"}, {"title": TITLE + " 2"}),
        # Nearly the same title, and nothing else that says so.
        ({"title": "On hypertension and sleep"}, {"title": "On hypotension and sleep"}),
        ({"item_type": "bookSection", "ISBN": "9780306406157", "title": "One chapter of it"},
         {"item_type": "bookSection", "ISBN": "9780306406157", "title": "Another of its chapters"}),
        ({"library": "groups/1"}, {}),
    ],
)  # fmt: skip
def test_records_of_two_works_stay_two(one: dict[str, str], other: dict[str, str]) -> None:
    assert grouped(item("A", **one), item("B", **other)) == []


def test_one_work_grows_through_its_records() -> None:
    found = grouped(
        item("A", DOI="10.1000/abc"),
        item("B", DOI="10.1000/abc", title="A title of its own"),
        item("C", title="A title of its own"),
        item("D", title="Somewhat different altogether"),
    )
    assert found == [["A", "B", "C"]]


def test_a_record_that_could_be_either_of_two_works_joins_them_not() -> None:
    found = grouped(item("A", DOI="10.1000/a"), item("B", DOI="10.1000/b"), item("C"))
    assert found == [["A", "C"]]


def test_the_fullest_record_stands_for_the_work() -> None:
    (group,) = groups_of([item("A"), item("B", citation_key="love20"), item("C", DOI="10.1000/a")])
    assert [one.key for one in group] == ["B", "C", "A"]


def test_identifiers_are_read_as_people_write_them() -> None:
    assert doi_of(item("A", DOI=" doi:10.1000/X(1).")) == "10.1000/x(1)"
    assert doi_of(item("A", DOI="not one")) == ""
    assert isbns_of(item("A", ISBN="978 0 306 40615 7")) == {"9780306406157"}
    assert isbns_of(item("A", ISBN="030640615X, 12")) == {"9780306406157"}
    assert isbns_of(item("A", ISBN="")) == frozenset()


@pytest.mark.parametrize("make", [lambda n: f"{TITLE} {n}", lambda n: TITLE])
def test_thousands_of_records_of_one_author_and_year_are_compared_quickly(
    make: Callable[[int], str],
) -> None:
    items = [item(f"K{n}", make(n), abstract=ABSTRACT) for n in range(200)]
    assert len(groups_of(items)) == (1 if make(1) == make(2) else 0)


def attachment(key: str, parent: str | None, path: Path | None = None) -> Attachment:
    return Attachment(
        library="user",
        key=key,
        parent_key=parent,
        title="PDF",
        link_mode=LinkMode.IMPORTED_FILE,
        content_type="application/pdf",
        path=path,
    )


def records(*items: Item, **parts: object) -> LibraryRecords:
    empty: dict[str, object] = dict.fromkeys(
        ("libraries", "attachments", "notes", "annotations", "collections"), ()
    )
    return LibraryRecords(items=items, schema_version=0, **{**empty, **parts})  # type: ignore[arg-type]


def test_what_belongs_to_any_record_belongs_to_the_one_that_stays(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("same", "copy", "other")]
    for path, text in zip(paths, ("text", "text", "more"), strict=True):
        path.write_text(text)
    by_hand, machine = Tag(name="a", automatic=False), Tag(name="a", automatic=True)
    first = item("FIRST", citation_key="k", collections=("C1",), tags=(machine,))
    second = item(
        "SECOND", abstract=ABSTRACT, collections=("C2",), tags=(by_hand,), DOI="10.1000/x"
    )
    mark = Annotation(
        library="user", key="MARK", attachment_key="F2", kind="highlight", text="x", comment="",
        color="", page_label="", page_index=0,
    )  # fmt: skip
    folded = fold(
        records(
            first,
            second,
            item("ALONE", "Quite another thing here"),
            attachments=(
                attachment("F1", "FIRST", paths[0]),
                attachment("F2", "SECOND", paths[1]),
                attachment("F3", "SECOND", paths[2]),
            ),
            notes=(Note(library="user", key="N", parent_key="SECOND", title="", text="n"),),
            annotations=(mark,),
        ),
        same_file,
    )
    assert folded.aliases == {("user", "SECOND"): "FIRST"}
    kept, alone = folded.records.items
    assert (kept.key, alone.key) == ("FIRST", "ALONE")
    assert (kept.abstract, kept.collections) == (ABSTRACT, ("C1", "C2"))
    assert kept.fields == {"DOI": DOI}
    assert kept.tags == (by_hand,)
    files = [(one.key, one.parent_key) for one in folded.records.attachments]
    assert files == [("F1", "FIRST"), ("F3", "FIRST")]
    assert folded.records.notes[0].parent_key == "FIRST"
    assert folded.records.annotations[0].attachment_key == "F1"


def test_of_two_copies_the_one_of_the_record_that_stays_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "same"
    path.write_text("text")
    files = (attachment("A", "OTHER", path), attachment("B", "KEPT", path))
    twins = (item("KEPT", citation_key="k"), item("OTHER"))
    folded = fold(records(*twins, attachments=files), same_file)
    assert [one.key for one in folded.records.attachments] == ["B"]


def test_files_that_are_not_here_are_the_same_by_the_hash_of_their_server() -> None:
    def remote(key: str, md5: str) -> Attachment:
        file = RemoteFile(library="user", key=key, md5=md5, name="x.pdf")
        return replace(attachment(key, key[0]), remote=file)

    folded = fold(
        records(
            item("A"),
            item("B"),
            attachments=(remote("A1", "m"), remote("B1", "m"), remote("B2", "n")),
        ),
        same_file,
    )
    assert [one.key for one in folded.records.attachments] == ["A1", "B2"]


def test_an_item_that_was_merged_away_is_an_alias_of_the_one_that_stayed() -> None:
    folded = fold(
        records(item("A", replaces=("OLD", "B")), item("B", "Still here, and another")), same_file
    )
    assert folded.aliases == {("user", "OLD"): "A"}
    chained = fold(records(item("A", citation_key="k"), item("B", replaces=("OLD",))), same_file)
    assert chained.aliases == {("user", "B"): "A", ("user", "OLD"): "A"}


def test_files_that_vanish_while_they_are_compared_are_not_the_same(tmp_path: Path) -> None:
    assert not same_file(tmp_path / "one", tmp_path / "other")
