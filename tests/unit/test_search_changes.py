"""What a sync has to do, and how much of an item was read."""

import os
from dataclasses import replace
from pathlib import Path

from services.search.index_rows import IndexedDocument, Kind, Reading
from services.search.index_schema import new_generation
from services.search.library.changes import Again, compare, item_readings, settled_abstracts
from services.search.library.fingerprints import Print, compared, with_hash
from services.search.library.planned import Planned, ancestors_of, plan
from services.search.library.records import (
    Annotation,
    Collection,
    LinkMode,
    Note,
    RemoteFile,
    Tag,
    Unread,
)
from services.search.library.texts import unread_text, with_facts
from tests.fakes.search_library import EMPTY, Shelf


def planned_of(shelf: Shelf) -> dict[str, Planned]:
    return {one.document_id: one for one in plan(shelf.records)}


def indexed(planned: Planned, *, fingerprint: str = "f", passages: int = 1) -> IndexedDocument:
    return replace(unread_text(planned, fingerprint).document, passages=passages)


def test_abstract_and_file_of_an_item_are_documents_with_its_facts(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path).collection("OUTER").collection("INNER", "OUTER")
    shelf.item("ITEM", "On Sleep", abstract="We slept.", collections=("INNER",))
    shelf.file("FILE", "ITEM", "text")
    documents = planned_of(shelf)
    assert set(documents) == {"user/ITEM#abstract", "user/FILE"}
    file = documents["user/FILE"]
    assert (file.title, file.creators, file.year) == ("On Sleep", ("Ada Lovelace",), "2020")
    assert file.collections == ("user/INNER", "user/OUTER")
    assert (file.item_key, file.attachment_key) == ("ITEM", "FILE")
    assert documents["user/ITEM#abstract"].text == "We slept."


def test_an_item_without_any_text_is_kept_with_the_reason(tmp_path: Path) -> None:
    (one,) = plan(Shelf(tmp_path).item("ITEM", "Bare").records)
    assert one.kind is Kind.ABSTRACT
    assert one.detail


def test_a_web_link_is_no_document_and_a_picture_is_one_that_is_not_read(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path).item("ITEM", "Page", abstract="x").file("FILE", "ITEM", "text")
    (file,) = shelf.records.attachments
    page = replace(file, key="HTML", content_type="text/html", path=tmp_path / "page.html")
    picture = replace(file, key="PNG", content_type="image/png", path=tmp_path / "a.png")
    link = replace(file, key="LINK", link_mode=LinkMode.LINKED_URL, path=None)
    documents = {
        one.document_id: one
        for one in plan(replace(shelf.records, attachments=(file, page, picture, link)))
    }
    assert "user/LINK" not in documents
    assert documents["user/HTML"].kind is Kind.WEB_PAGE
    assert documents["user/HTML"].path == tmp_path / "page.html"
    assert documents["user/PNG"].unread is Unread.UNSUPPORTED_TYPE
    assert documents["user/PNG"].path is None


def test_notes_and_annotations_are_documents_of_their_own_kind(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path).item("ITEM", "Paper", tags=(Tag(name="a", automatic=False),))
    shelf.file("FILE", "ITEM", "text")
    note = Note(library="user", key="NOTE", parent_key=None, title="Idea", text="An idea.")
    mark = Annotation(
        library="user",
        key="MARK",
        attachment_key="FILE",
        kind="highlight",
        text="Marked.",
        comment="Why?",
        color="#ffd400",
        page_label="iv",
        page_index=3,
        tags=(Tag(name="b", automatic=False),),
    )
    ink = replace(mark, key="INK", text="", comment="")
    records = replace(shelf.records, notes=(note,), annotations=(mark, ink))
    documents = {one.document_id: one for one in plan(records)}
    assert "user/INK" not in documents
    alone, marked = documents["user/NOTE"], documents["user/MARK"]
    assert (alone.kind, alone.item_key, alone.title) == (Kind.NOTE, "NOTE", "Idea")
    assert (marked.kind, marked.item_key, marked.title) == (Kind.ANNOTATION, "ITEM", "Paper")
    assert marked.text == "Marked.\n\nWhy?"
    assert marked.heading == "Highlight, yellow"
    blue = replace(mark, color="#2ea8e5")
    (changed,) = [one for one in plan(replace(records, annotations=(blue,))) if one.heading]
    assert not compared(changed, compared(marked, "").value).same_text
    assert marked.tags == ("a", "b")
    assert marked.place is not None
    assert (marked.place.page_index, marked.place.page_label) == (3, "iv")


def test_a_circle_of_collections_ends() -> None:
    circle = [
        Collection(library="user", key="A", name="A", parent_key="B"),
        Collection(library="user", key="B", name="B", parent_key="A"),
    ]
    assert ancestors_of(circle)["user", "A"] == {"A", "B"}


def test_an_empty_library_makes_no_documents() -> None:
    assert plan(EMPTY) == []


def test_a_file_is_known_by_size_and_time_else_by_its_content(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path).file("FILE", None, "text")
    (one,) = plan(shelf.records)
    assert one.path is not None
    new = compared(one, "")
    assert not new.same_text
    read = with_hash(new.value, one.path)
    assert compared(one, read) == Print(value=read, same_text=True)
    os.utime(one.path, (1, 1))
    touched = compared(one, read)
    assert touched.same_text
    assert touched.value != read
    one.path.write_text("next", encoding="utf-8")
    assert not compared(one, touched.value).same_text
    one.path.write_text("longer text", encoding="utf-8")
    assert not compared(one, touched.value).same_text
    one.path.unlink()
    gone = compared(one, read)
    assert gone.value.endswith("gone")
    assert not gone.same_text
    assert with_hash(new.value, one.path) == new.value


def test_a_remote_file_is_known_by_the_hash_that_its_server_gives(tmp_path: Path) -> None:
    (one,) = plan(Shelf(tmp_path).file("FILE", None, "text").records)
    remote = RemoteFile(library="user", key="FILE", md5="a" * 32, name="x.pdf")
    one = replace(one, path=None, remote=remote)
    read = compared(one, "").value
    assert compared(one, read).same_text
    assert not compared(replace(one, remote=replace(remote, md5="b" * 32)), read).same_text


def test_only_what_changed_is_done(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    for key in ("SAME", "TEXT", "NAME", "TAGS", "NEW", "TOUCHED"):
        shelf.item(key, key, abstract="x")
    planned = planned_of(shelf)
    index = {
        document_id: indexed(one)
        for document_id, one in planned.items()
        if "NEW" not in document_id
    }
    index["user/NAME#abstract"] = replace(index["user/NAME#abstract"], title="Old")
    index["user/TAGS#abstract"] = replace(index["user/TAGS#abstract"], tags=("old",))
    index["user/GONE"] = replace(index["user/SAME#abstract"], document_id="user/GONE")
    prints = {
        **dict.fromkeys(planned, Print(value="f", same_text=True)),
        "user/TEXT#abstract": Print(value="g", same_text=False),
        "user/TOUCHED#abstract": Print(value="later/f", same_text=True),
    }
    changes = compare(list(planned.values()), prints, index, Again())
    assert [one.item_key for one in changes.to_read] == ["TEXT", "NEW"]
    assert [one.item_key for one in changes.to_retitle] == ["NAME"]
    assert [one.item_key for one in changes.to_relabel] == ["TAGS", "TOUCHED"]
    assert changes.to_remove == ("user/GONE",)


def test_nothing_to_do_is_said_and_what_is_wished_is_read_again(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path).item("ITEM", "T", abstract="x").file("FILE", "ITEM", "t")
    planned = planned_of(shelf)
    index = {document_id: indexed(one) for document_id, one in planned.items()}
    prints = dict.fromkeys(planned, Print(value="f", same_text=True))

    def read(again: Again) -> list[str]:
        changes = compare(list(planned.values()), prints, index, again)
        assert changes.any is bool(changes.to_read)
        return [one.document_id for one in changes.to_read]

    assert read(Again()) == []
    later = new_generation()[:-12] + "f" * 12
    assert read(Again(before=later)) == ["user/ITEM#abstract", "user/FILE"]
    index["user/FILE"] = replace(index["user/FILE"], skip="timed_out")
    assert read(Again(unread=True)) == ["user/FILE"]
    index["user/ITEM#abstract"] = replace(index["user/ITEM#abstract"], generation="z")
    assert read(Again(before=later)) == ["user/FILE"]


def test_short_texts_are_read_first_then_the_newest_files(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    for year in ("2019", "2021", "2020"):
        shelf.item(year, year, abstract="x", added=year).file(f"F{year}", year, "t")
    files = tuple(replace(one, added=one.key[1:]) for one in shelf.records.attachments)
    planned = plan(replace(shelf.records, attachments=files))
    prints = {one.document_id: compared(one, "") for one in planned}
    changes = compare(planned, prints, {}, Again())
    assert [one.attachment_key or one.item_key for one in changes.to_read] == [
        "2021", "2020", "2019", "F2021", "F2020", "F2019",
    ]  # fmt: skip


def test_an_item_is_as_well_read_as_its_best_file_else_its_abstract(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    for key in ("FULL", "PART", "ABST", "NONE"):
        shelf.item(key, key, abstract="" if key == "NONE" else "x").file(f"F{key}", key, "t")
    documents = {one.document_id: indexed(one) for one in plan(shelf.records)}
    states = {"FULL": Reading.FULL, "PART": Reading.PARTIAL}
    documents = {
        name: replace(
            one,
            reading=states.get(one.item_key, Reading.UNREADABLE),
            passages=one.passages if one.item_key in states or one.kind is Kind.ABSTRACT else 0,
        )
        for name, one in documents.items()
    }
    assert item_readings(documents.values()) == {
        ("user", "FULL"): Reading.FULL,
        ("user", "PART"): Reading.PARTIAL,
        ("user", "ABST"): Reading.ABSTRACT_ONLY,
        ("user", "NONE"): Reading.UNREADABLE,
    }


def test_an_abstract_says_when_it_stands_alone_and_why(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path).item("ITEM", "T", abstract="x").file("FILE", "ITEM", "t")
    abstract, file = (indexed(one) for one in plan(shelf.records))
    locked = replace(file, reading=Reading.UNREADABLE, reading_reason="Locked.", passages=0)
    (settled,) = settled_abstracts([replace(abstract, reading=Reading.FULL), locked])
    assert (settled.reading, settled.reading_reason) == (Reading.ABSTRACT_ONLY, "Locked.")
    assert settled_abstracts([settled, locked]) == []
    read = replace(file, reading=Reading.FULL)
    (again,) = settled_abstracts([settled, read])
    assert (again.reading, again.reading_reason) == (Reading.FULL, "")


def test_facts_of_the_plan_replace_those_of_the_index_and_the_text_stays(tmp_path: Path) -> None:
    (one,) = plan(Shelf(tmp_path).item("ITEM", "T", abstract="x").records)
    old = replace(indexed(one), tags=("old",), generation="kept")
    fresh = with_facts(one, "g", old)
    assert one.describes(fresh)
    assert (fresh.generation, fresh.fingerprint) == ("kept", "g")
