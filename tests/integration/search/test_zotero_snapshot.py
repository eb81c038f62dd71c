"""A library is read from its database, whole and without touching it."""

import errno
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from services.search.library.attachment_paths import Folders
from services.search.library.database_copy import open_copy
from services.search.library.records import (
    Collection,
    Creator,
    Library,
    LibraryRecords,
    LinkMode,
    Tag,
    Unread,
)
from services.search.library.source import (
    LibraryCorrupt,
    LibraryLocked,
    NoLibrary,
    NoRoomForSnapshot,
)
from services.search.library.sqlite_snapshot import read_database
from tests.fixtures.zotero_database import ZoteroDatabase


@pytest.fixture(params=[123, 129])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ZoteroDatabase]:
    made = ZoteroDatabase(tmp_path / "Zotero", userdata=request.param)
    yield made
    made.connection.close()


@pytest.fixture
def newest(tmp_path: Path) -> Iterator[ZoteroDatabase]:
    made = ZoteroDatabase(tmp_path / "Zotero")
    yield made
    made.connection.close()


def read(database: ZoteroDatabase, base_folder: Path | None = None) -> LibraryRecords:
    return read_database(Folders(data_dir=database.folder, base_folder=base_folder))


def keys(records: LibraryRecords) -> dict[str, list[str]]:
    return {
        name: [record.key for record in getattr(records, name)]
        for name in ("items", "attachments", "notes", "annotations", "collections")
    }


def test_an_item_has_all_that_zotero_knows_of_it(database: ZoteroDatabase) -> None:
    item = database.item(
        "ITEM1111",
        title="Sleep and recall",
        date="2021-03-00 March 2021",
        abstractNote="We tested it.",
        extra="Citation Key: loeve2021\nnote",
        DOI="10.1/x",
    )
    database.creator(item, 1, "editor", "Mei", "Zhang", 0)
    database.creator(item, 0, "author", "", "World Sleep Institute", 1)
    database.tag(item, "sleep")
    database.tag(item, "auto", 1)
    outer = database.collection("COLL1111", "Outer")
    inner = database.collection("COLL2222", "Inner", outer)
    database.put(inner, item)
    records = read(database)
    (found,) = records.items
    assert (found.library, found.key, found.item_type) == ("user", "ITEM1111", "journalArticle")
    assert (found.title, found.date, found.year) == ("Sleep and recall", "March 2021", "2021")
    assert (found.abstract, found.citation_key) == ("We tested it.", "loeve2021")
    assert found.fields == {"DOI": "10.1/x", "extra": "Citation Key: loeve2021\nnote"}
    assert found.creators == (
        Creator(role="author", given="", family="World Sleep Institute"),
        Creator(role="editor", given="Mei", family="Zhang"),
    )
    assert found.tags == (Tag(name="auto", automatic=True), Tag(name="sleep", automatic=False))
    assert found.collections == ("COLL2222",)
    assert found.modified == "2026-11-30T17:53:48Z"
    assert records.collections == (
        Collection(library="user", key="COLL1111", name="Outer", parent_key=None),
        Collection(library="user", key="COLL2222", name="Inner", parent_key="COLL1111"),
    )
    assert records.schema_version == database.userdata


def test_a_field_that_stands_for_a_general_one_is_read_as_it(newest: ZoteroDatabase) -> None:
    newest.item("CASE1111", "case", caseName="Doe v. Roe", dateDecided="1999-05-04 May 4, 1999")
    (case,) = read(newest).items
    assert (case.title, case.date, case.year) == ("Doe v. Roe", "May 4, 1999", "1999")
    assert case.fields == {"caseName": "Doe v. Roe", "dateDecided": "May 4, 1999"}


def test_what_is_in_the_trash_is_not_read(newest: ZoteroDatabase) -> None:
    kept, trashed = newest.item("KEPT1111"), newest.item("GONE1111")
    newest.trash(trashed)
    newest.note("GONE2222", "<p>x</p>", trashed)
    newest.annotation("GONE3333", newest.attachment("GONE4444", trashed))
    newest.trash(newest.attachment("GONE5555", kept))
    newest.trash(newest.note("GONE6666", "<p>x</p>", kept))
    attachment = newest.attachment("KEPT2222", kept)
    newest.trash(newest.annotation("GONE7777", attachment))
    newest.annotation("KEPT3333", attachment)
    assert keys(read(newest)) == {
        "items": ["KEPT1111"],
        "attachments": ["KEPT2222"],
        "notes": [],
        "annotations": ["KEPT3333"],
        "collections": [],
    }


def test_a_collection_in_the_trash_takes_those_below_it_along(newest: ZoteroDatabase) -> None:
    item = newest.item("ITEM1111")
    outer = newest.collection("GONE1111", "Outer")
    inner = newest.collection("GONE2222", "Inner", outer)
    kept = newest.collection("KEPT1111", "Kept")
    newest.trash_collection(outer)
    for collection in (outer, inner, kept):
        newest.put(collection, item)
    records = read(newest)
    assert [record.key for record in records.collections] == ["KEPT1111"]
    assert records.items[0].collections == ("KEPT1111",)


def test_groups_are_named_by_their_public_number_and_feeds_left_out(
    newest: ZoteroDatabase,
) -> None:
    newest.library(7, "group", 5550101)
    newest.library(8, "feed")
    newest.library(9, "publications")
    newest.item("SAME1111")
    newest.item("SAME1111", library_id=7)
    newest.item("FEED1111", library_id=8)
    newest.item("PUBL1111", library_id=9)
    records = read(newest)
    assert records.libraries == (
        Library(name="user", title="My Library"),
        Library(name="groups/5550101", title="Group 5550101"),
    )
    assert [(item.library, item.key) for item in records.items] == [
        ("groups/5550101", "SAME1111"),
        ("user", "SAME1111"),
    ]


def test_every_kind_of_attachment_is_told_with_its_file_or_the_reason(
    newest: ZoteroDatabase, tmp_path: Path
) -> None:
    item = newest.item("ITEM1111")
    stored = newest.folder / "storage" / "STOR1111" / "a.pdf"
    linked, based = tmp_path / "linked.pdf", tmp_path / "base" / "b.pdf"
    for file in (stored, linked, based):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    newest.attachment("STOR1111", item, title="Full Text")
    newest.attachment("MISS1111", item, mode=1)
    newest.attachment("LINK1111", item, mode=2, path=str(linked))
    newest.attachment("LINK2222", None, mode=2, path="attachments:b.pdf")
    newest.attachment("URLS1111", item, mode=3, path=None, url="https://example.org")
    newest.attachment("IMAG1111", newest.note("NOTE1111", "<p>x</p>"), mode=4)
    found = {a.key: a for a in read(newest, tmp_path / "base").attachments}
    assert {key: (a.link_mode, a.path, a.unread) for key, a in found.items()} == {
        "STOR1111": (LinkMode.IMPORTED_FILE, stored, None),
        "MISS1111": (LinkMode.IMPORTED_URL, None, Unread.FILE_MISSING),
        "LINK1111": (LinkMode.LINKED_FILE, linked, None),
        "LINK2222": (LinkMode.LINKED_FILE, based, None),
        "URLS1111": (LinkMode.LINKED_URL, None, None),
    }
    assert (found["STOR1111"].title, found["STOR1111"].parent_key) == ("Full Text", "ITEM1111")
    assert found["LINK2222"].parent_key is None
    assert found["URLS1111"].url == "https://example.org"


def test_notes_of_items_of_attachments_and_alone_are_read(newest: ZoteroDatabase) -> None:
    item = newest.item("ITEM1111")
    newest.note("NOTE1111", "<h1>Head</h1><p>On the item</p>", item, title="Head")
    newest.note("NOTE2222", "<p>Alone</p>")
    attachment = newest.attachment("ATTA1111", item)
    newest.own_note(attachment, "<p>On the file</p>")
    newest.own_note(newest.attachment("ATTA2222", item), "")
    notes = read(newest).notes
    assert [(note.key, note.parent_key, note.title, note.text) for note in notes] == [
        ("ATTA1111", "ATTA1111", "On the file", "On the file"),
        ("NOTE1111", "ITEM1111", "Head", "Head\n\nOn the item"),
        ("NOTE2222", None, "Alone", "Alone"),
    ]


def test_annotations_keep_colour_comment_label_and_physical_page(newest: ZoteroDatabase) -> None:
    attachment = newest.attachment("ATTA1111", newest.item("ITEM1111"))
    newest.annotation(
        "ANNO1111",
        attachment,
        type=5,
        text="marked",
        comment="why",
        color="#ff6666",
        pageLabel="iv",
        sortIndex="00003|000001|00050",
        position='{"pageIndex": 3, "rects": []}',
    )
    newest.annotation("ANNO2222", attachment, type=2, sortIndex="00001|000001|00050")
    later, first = read(newest).annotations[1], read(newest).annotations[0]
    assert first.key == "ANNO2222"
    assert (later.kind, later.text, later.comment, later.color) == (
        "underline",
        "marked",
        "why",
        "#ff6666",
    )
    assert (later.attachment_key, later.page_label, later.page_index) == ("ATTA1111", "iv", 3)


def test_changes_that_are_only_in_the_log_are_seen(newest: ZoteroDatabase) -> None:
    newest.connection.execute("PRAGMA journal_mode = wal")
    newest.connection.execute("PRAGMA wal_autocheckpoint = 0")
    newest.item("PEND1111")
    assert (newest.folder / "zotero.sqlite-wal").stat().st_size > 0
    assert keys(read(newest))["items"] == ["PEND1111"]


def test_a_change_that_was_not_finished_is_rolled_back(
    newest: ZoteroDatabase, tmp_path: Path
) -> None:
    newest.item("DONE1111")
    newest.connection.execute("PRAGMA cache_size = 1")
    newest.connection.execute("BEGIN IMMEDIATE")
    for number in range(2000):
        newest.item(f"HALF{number:04}", title="x" * 200)
    crashed = tmp_path / "crashed"
    shutil.copytree(newest.folder, crashed)
    newest.connection.execute("ROLLBACK")
    assert (crashed / "zotero.sqlite-journal").exists()
    assert keys(read_database(Folders(data_dir=crashed)))["items"] == ["DONE1111"]


def test_a_library_that_another_program_has_locked_is_read(newest: ZoteroDatabase) -> None:
    newest.item("ITEM1111")
    newest.connection.execute("PRAGMA locking_mode = exclusive")
    newest.connection.execute("BEGIN EXCLUSIVE")
    try:
        assert keys(read(newest))["items"] == ["ITEM1111"]
    finally:
        newest.connection.execute("ROLLBACK")


def test_the_original_files_are_not_touched(newest: ZoteroDatabase) -> None:
    newest.connection.execute("PRAGMA journal_mode = wal")
    newest.item("ITEM1111")

    def state() -> dict[str, tuple[int, bytes]]:
        return {
            path.name: (path.stat().st_mtime_ns, path.read_bytes())
            for path in newest.folder.iterdir()
        }

    before = state()
    read(newest)
    assert state() == before


def test_the_copy_is_private_and_gone_afterwards(newest: ZoteroDatabase) -> None:
    with open_copy(newest.folder) as connection:
        (_, _, file) = connection.execute("PRAGMA database_list").fetchone()
        folder = Path(file).parent
        assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IRWXU
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("DELETE FROM items")
    assert not folder.exists()


def test_a_folder_without_a_database_is_no_library(tmp_path: Path) -> None:
    with pytest.raises(NoLibrary, match=r"choose Zotero's data folder"):
        read_database(Folders(data_dir=tmp_path))
    with pytest.raises(NoLibrary):
        read_database(Folders(data_dir=tmp_path / "nowhere"))


@pytest.mark.parametrize("body", [b"", b"not a database" * 1000])
def test_a_file_that_is_no_zotero_database_is_corrupt(tmp_path: Path, body: bytes) -> None:
    (tmp_path / "zotero.sqlite").write_bytes(body)
    with pytest.raises(LibraryCorrupt, match="damaged or is not a Zotero database"):
        read_database(Folders(data_dir=tmp_path))


def test_a_damaged_database_is_corrupt(newest: ZoteroDatabase) -> None:
    for number in range(500):
        newest.item(f"ITEM{number:04}", title="x" * 100)
    folder = newest.close()
    path = folder / "zotero.sqlite"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] + b"\xff" * (len(whole) // 2))
    with pytest.raises(LibraryCorrupt):
        read_database(Folders(data_dir=folder))


def writing_copy(times: int) -> Callable[[Path, Path], None]:
    """Copies as always, but the library is written to during the first copies."""
    left = [times]
    copy = shutil.copyfile

    def copyfile(source: Path, target: Path) -> None:
        copy(source, target)
        if left[0]:
            left[0] -= 1
            with source.open("ab") as file:
                file.write(bytes(4096))

    return copyfile


@pytest.mark.parametrize(("writes", "is_read"), [(2, True), (100, False)])
def test_a_database_that_changes_is_copied_again_and_given_up_at_last(
    newest: ZoteroDatabase, monkeypatch: pytest.MonkeyPatch, writes: int, is_read: bool
) -> None:
    newest.item("ITEM1111")
    monkeypatch.setattr("services.search.library.database_copy.FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(
        "services.search.library.database_copy.shutil.copyfile", writing_copy(writes)
    )
    if is_read:
        assert keys(read(newest))["items"] == ["ITEM1111"]
    else:
        with pytest.raises(LibraryLocked, match="kept changing"):
            read(newest)


def test_a_full_disk_is_told_as_such(
    newest: ZoteroDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("services.search.library.database_copy.shutil.copyfile", full)
    with pytest.raises(NoRoomForSnapshot, match="free some space"):
        read(newest)


def test_a_broken_byte_does_not_hide_the_library(newest: ZoteroDatabase) -> None:
    newest.item("ITEM1111", title="plain")
    newest.connection.execute("UPDATE itemDataValues SET value = CAST(x'c3ff41' AS TEXT)")
    assert read(newest).items[0].title == "\ufffd\ufffdA"


def test_columns_of_a_future_version_are_ignored_and_missing_ones_empty(
    newest: ZoteroDatabase,
) -> None:
    newest.item("ITEM1111", title="kept")
    newest.connection.execute("ALTER TABLE items ADD COLUMN brandNew TEXT")
    newest.connection.execute("DROP TABLE deletedCollections")
    newest.connection.execute("ALTER TABLE itemAttachments DROP COLUMN contentType")
    assert read(newest).items[0].title == "kept"


def test_the_number_of_queries_does_not_grow_with_the_library(newest: ZoteroDatabase) -> None:
    newest.connection.execute("BEGIN")
    for number in range(3000):
        item = newest.item(f"I{number:07}", title=f"Title {number}", date="2020-00-00 2020")
        newest.creator(item, 0, "author", "Mei", "Zhang", 0)
        newest.tag(item, f"tag {number}")
        newest.attachment(f"A{number:07}", item)
    newest.connection.execute("COMMIT")
    statements: list[str] = []
    original = sqlite3.connect

    def counting(path: Path, isolation_level: None) -> sqlite3.Connection:
        connection = original(path, isolation_level=isolation_level)
        connection.set_trace_callback(statements.append)
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("services.search.library.database_copy.sqlite3.connect", counting)
        records = read(newest)
    assert (len(records.items), len(records.attachments)) == (3000, 3000)
    # What makes it fast is that the number of queries does not grow with the library.
    assert len(statements) < 80
