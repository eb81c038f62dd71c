"""A library written by a running Zotero is read completely, in both states of its database."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from services.search.library.attachment_paths import Folders
from services.search.library.fingerprints import same_file
from services.search.library.folding import fold
from services.search.library.local_api import LocalApi
from services.search.library.object_cache import ObjectCache
from services.search.library.records import LibraryRecords, LinkMode, Unread
from services.search.library.sqlite_snapshot import read_database
from tests.fakes.zotero_api import ZoteroApi, serving_api
from tests.fixtures.told_library import Told

Json = dict[str, Any]
LINK_MODES = {
    "imported_file": LinkMode.IMPORTED_FILE,
    "imported_url": LinkMode.IMPORTED_URL,
    "linked_file": LinkMode.LINKED_FILE,
    "linked_url": LinkMode.LINKED_URL,
}
NO_FIELDS = {
    "key", "version", "itemType", "title", "abstractNote", "date", "creators", "tags",
    "collections", "relations", "dateAdded", "dateModified", "citationKey", "deleted",
}  # fmt: skip


@pytest.fixture(scope="module", params=["closed", "live_wal"])
def records(
    request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> LibraryRecords:
    original = shared / "data" / "zotero-11-library"
    folder = tmp_path_factory.mktemp("Zotero")
    for file in (original / request.param).iterdir():
        shutil.copyfile(file, folder / file.name)
    shutil.copytree(original / "storage", folder / "storage")
    return read_database(Folders(data_dir=folder))


@pytest.fixture(scope="module")
def replies(shared: Path) -> dict[str, list[Json]]:
    """What the program itself said of the library over its interface."""
    folder = shared / "data" / "zotero-11-library" / "local_api"
    names = ("items", "items_top", "trash", "attachments", "notes", "annotations", "collections")
    return {name: json.loads((folder / f"{name}.json").read_text("utf-8")) for name in names}


def by_key(reply: list[Json]) -> dict[str, Json]:
    return {entry["key"]: entry["data"] for entry in reply}


def regular(reply: list[Json]) -> dict[str, Json]:
    others = ("attachment", "note", "annotation")
    return {key: data for key, data in by_key(reply).items() if data["itemType"] not in others}


def test_all_live_papers_and_none_of_the_trash_are_read(
    records: LibraryRecords, replies: dict[str, list[Json]]
) -> None:
    assert len(records.items) == 58
    assert {item.key for item in records.items} == set(regular(replies["items"]))
    assert not {item.key for item in records.items} & set(by_key(replies["trash"]))
    assert (records.schema_version, len(records.libraries)) == (129, 1)


def test_every_item_is_as_the_program_says(
    records: LibraryRecords, replies: dict[str, list[Json]]
) -> None:
    said = regular(replies["items"])
    for item in records.items:
        data = said[item.key]
        assert (item.item_type, item.title) == (data["itemType"], data["title"])
        assert item.abstract == data.get("abstractNote", "")
        assert (item.date, item.citation_key) == (data["date"], data.get("citationKey", ""))
        assert item.modified == data["dateModified"]
        assert [(c.role, c.given, c.family) for c in item.creators] == [
            (c["creatorType"], c.get("firstName", ""), c.get("lastName") or c["name"])
            for c in data["creators"]
        ]
        assert [(tag.name, int(tag.automatic)) for tag in item.tags] == sorted(
            (tag["tag"], tag.get("type", 0)) for tag in data["tags"]
        )
        assert item.collections == tuple(sorted(data["collections"]))
        others = {name: value for name, value in data.items() if name not in NO_FIELDS and value}
        assert item.fields == others


def test_names_in_many_scripts_survive(records: LibraryRecords) -> None:
    families = {creator.family for item in records.items for creator in item.creators}
    assert {"山田太郎", "أحمد", "Петров", "Löve"} <= families
    single = next(c for item in records.items for c in item.creators if c.family == "山田太郎")
    assert (single.given, single.display) == ("", "山田太郎")


def test_collections_keep_their_nesting(
    records: LibraryRecords, replies: dict[str, list[Json]]
) -> None:
    assert {c.key: (c.name, c.parent_key) for c in records.collections} == {
        key: (data["name"], data["parentCollection"] or None)
        for key, data in by_key(replies["collections"]).items()
    }


def test_every_attachment_has_its_file_or_a_reason(
    records: LibraryRecords, replies: dict[str, list[Json]]
) -> None:
    said = by_key(replies["attachments"])
    assert {a.key for a in records.attachments} == set(said)
    for attachment in records.attachments:
        data = said[attachment.key]
        assert attachment.parent_key == data.get("parentItem")
        assert attachment.link_mode is LINK_MODES[data["linkMode"]]
        assert attachment.content_type == data.get("contentType", "")
        assert (attachment.title, attachment.url) == (data["title"], data.get("url", ""))
        if attachment.path is not None:
            assert attachment.path.name == data["filename"]
    unread = {a.title: a.unread for a in records.attachments if a.unread is not None}
    assert unread == {
        "standalone.pdf": Unread.FILE_MISSING,
        "missing file": Unread.FILE_MISSING,
        "Linked": Unread.FILE_MISSING,
        "Linked rel": Unread.BASE_FOLDER_UNKNOWN,
    }
    assert sum(a.path is not None for a in records.attachments) == 24


def test_every_note_is_plain_text_with_the_items_it_cites(
    records: LibraryRecords, replies: dict[str, list[Json]]
) -> None:
    said = by_key(replies["notes"])
    assert {note.key for note in records.notes} == set(said)
    for note in records.notes:
        assert note.parent_key == said[note.key].get("parentItem")
        assert note.text.startswith(f"{note.title}\n\n") or note.parent_key is None
        assert "<" not in note.text
    citing = [note for note in records.notes if note.cited_uris]
    assert len(citing) == sum("data-citation" in data["note"] for data in said.values())
    assert all(uri.startswith("http") for note in citing for uri in note.cited_uris)


def test_every_annotation_keeps_its_mark_and_its_page(
    records: LibraryRecords, replies: dict[str, list[Json]]
) -> None:
    said = by_key(replies["annotations"])
    assert {annotation.key for annotation in records.annotations} == set(said)
    for annotation in records.annotations:
        data = said[annotation.key]
        assert annotation.attachment_key == data["parentItem"]
        assert (annotation.kind, annotation.color, annotation.page_label) == (
            data["annotationType"],
            data["annotationColor"],
            data["annotationPageLabel"],
        )
        assert (annotation.text, annotation.comment) == (
            data.get("annotationText", ""),
            data["annotationComment"],
        )
        assert annotation.page_index == json.loads(data["annotationPosition"])["pageIndex"]
    assert any(a.page_label != str((a.page_index or 0) + 1) for a in records.annotations)


async def test_what_zotero_said_over_its_interface_is_the_library_in_its_database(
    records: LibraryRecords, shared: Path, tmp_path: Path
) -> None:
    original = shared / "data" / "zotero-11-library"

    def recorded(name: str) -> tuple[Json, ...]:
        return tuple(json.loads((original / "local_api" / f"{name}.json").read_text("utf-8")))

    api = ZoteroApi(
        [
            Told(
                "user",
                "My Library",
                (*recorded("items"), *recorded("trash")),
                recorded("collections"),
                recorded("searches"),
            )
        ],
        "11",
        # Where its files are is not where they were when it spoke.
        data_dir=next(one.path.parents[2] for one in records.attachments if one.path),
    )
    async with serving_api(api) as server:
        source = LocalApi(server, data_dir=None, base_folder=None, cache=ObjectCache(None))
        told = await source.read()
        await source.aclose()
    for part in ("libraries", "items", "attachments", "notes", "annotations", "collections"):
        assert getattr(told, part) == getattr(records, part), part


def test_the_record_that_is_there_twice_is_folded(records: LibraryRecords) -> None:
    folded = fold(records, same_file)
    assert len(folded.records.items) == 57
    ((library, key),) = folded.aliases
    assert library == "user"
    titles = [item.title for item in records.items]
    (gone,) = [item for item in records.items if item.key == key]
    assert titles.count(gone.title) == 2
