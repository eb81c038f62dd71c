"""The same library gives the same records, whichever source and version tells of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from pathlib import Path

import pytest

from services.search.library.attachment_paths import Folders
from services.search.library.local_api import LocalApi
from services.search.library.object_cache import ObjectCache
from services.search.library.records import LibraryRecords, LinkMode, Unread
from services.search.library.source import LibrarySource
from services.search.library.sqlite_snapshot import SqliteSnapshot, read_database
from services.search.library.web_api import WebApi
from services.search.library.web_files import WebFiles
from tests.fakes.zotero_api import KEY, ZoteroApi, serving_api
from tests.fixtures.told_library import (
    Told,
    content_of,
    group_library_of_tests,
    md5_of,
    personal_library,
    write_database,
    write_files,
)

DATABASES = (123, 125, 129)
PROGRAMS = ("7", "8", "9", "10", "11")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = tmp_path / "base"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "rel.pdf").write_bytes(b"%PDF-1.4 relative")
    return folder


@pytest.fixture
def libraries(tmp_path: Path) -> list[Told]:
    linked = tmp_path / "linked.pdf"
    linked.write_bytes(b"%PDF-1.4 linked")
    told = [personal_library(linked), group_library_of_tests()]
    write_files(told, tmp_path / "Zotero")
    return told


@pytest.fixture
def expected(tmp_path: Path, libraries: list[Told], base: Path) -> LibraryRecords:
    folder = tmp_path / "expected"
    write_database(libraries, folder, 129).close()
    (folder / "storage").symlink_to(tmp_path / "Zotero" / "storage")
    return read_database(Folders(data_dir=folder, base_folder=base))


@asynccontextmanager
async def local_api(api: ZoteroApi, base: Path | None = None) -> AsyncIterator[LocalApi]:
    async with serving_api(api) as server:
        source = LocalApi(server, data_dir=None, base_folder=base, cache=ObjectCache(None))
        try:
            yield source
        finally:
            await source.aclose()


@asynccontextmanager
async def web_api(api: ZoteroApi, folder: Path) -> AsyncIterator[WebApi]:
    async with serving_api(api) as server:
        cache = ObjectCache(folder / "cache.sqlite")
        source = WebApi(server, key=KEY, cache=cache, files=WebFiles(folder / "files"))
        try:
            yield source
        finally:
            await source.aclose()


def comparable(records: LibraryRecords) -> LibraryRecords:
    """The records without what names the source: its format, and where its files are."""
    attachments = tuple(
        replace(one, path=Path(*one.path.parts[-2:]) if one.path else None)
        for one in records.attachments
    )
    return replace(records, attachments=attachments, schema_version=0, notices=())


def assert_same(found: LibraryRecords, expected: LibraryRecords) -> None:
    """Compares part by part, so that a difference is readable."""
    ours, theirs = comparable(found), comparable(expected)
    for part in fields(LibraryRecords):
        assert getattr(ours, part.name) == getattr(theirs, part.name), part.name


def test_the_library_of_these_tests_has_something_of_everything(expected: LibraryRecords) -> None:
    assert [one.name for one in expected.libraries] == ["user", "groups/77"]
    assert [(one.library, one.key) for one in expected.items] == [
        ("groups/77", "ARTICLE1"),
        ("user", "ARTICLE1"),
        ("user", "BARE1111"),
        ("user", "BOOK1111"),
        ("user", "CASE1111"),
    ]
    article = expected.items[1]
    assert (article.year, article.date, article.collections) == ("2021", "3/2021", ("INNER111",))
    assert article.replaces == ("MERGED11",)
    assert [tag.automatic for tag in article.tags] == [True, False]
    assert expected.items[3].citation_key == "kniga"
    assert (expected.items[4].title, expected.items[4].year) == ("A v B", "1999")
    attachments = {(one.library, one.key): one for one in expected.attachments}
    assert attachments["user", "MISSING1"].unread is Unread.FILE_MISSING
    assert attachments["groups/77", "LINKGRP1"].unread is Unread.OUTSIDE_LIBRARY
    assert attachments["user", "LINKABS1"].path is not None
    assert attachments["user", "LINKREL1"].path is not None
    assert ("user", "PICTURE1") not in attachments
    assert ("user", "GONEFILE") not in attachments
    assert [one.key for one in expected.notes] == ["NOTE1111", "NOTE2222", "STORED11"]
    (mark,) = expected.annotations
    assert (mark.color, mark.page_label, mark.page_index) == ("#ffd400", "iv", 3)
    assert [one.key for one in expected.collections] == ["OUTER111", "INNER111", "OUTER111"]
    assert [one.key for one in expected.searches] == ["SEARCH11"]


@pytest.mark.parametrize("userdata", DATABASES)
@pytest.mark.parametrize("journal", ["delete", "wal"])
async def test_databases_of_every_version_tell_the_same(
    tmp_path: Path,
    libraries: list[Told],
    base: Path,
    expected: LibraryRecords,
    userdata: int,
    journal: str,
) -> None:
    folder = tmp_path / "Zotero"
    database = write_database(libraries, folder, userdata)
    database.connection.execute(f"PRAGMA journal_mode = {journal}")
    database.item("LATE1111", title="Written a moment ago")
    try:
        records = await SqliteSnapshot(folder, base).read()
    finally:
        database.close()
    late = [one for one in records.items if one.key == "LATE1111"]
    assert [one.title for one in late] == ["Written a moment ago"]
    others = tuple(one for one in records.items if one.key != "LATE1111")
    assert_same(replace(records, items=others), expected)


@pytest.mark.parametrize("program", PROGRAMS)
async def test_a_running_zotero_of_every_version_tells_the_same(
    tmp_path: Path, libraries: list[Told], base: Path, expected: LibraryRecords, program: str
) -> None:
    api = ZoteroApi(libraries, program, data_dir=tmp_path / "Zotero")
    async with local_api(api, base) as source:
        records = await source.read()
        again = await source.read()
        assert source.program.startswith(f"Zotero {program}.")
    assert again == records
    if program == "7":
        assert records.annotations == ()
        assert "annotations" in records.notices[0]
        records = replace(records, annotations=expected.annotations)
    else:
        assert records.notices == ()
    assert_same(records, expected)
    for asked in api.asked:
        assert not asked.headers["user-agent"].startswith("Mozilla/")
        assert "origin" not in asked.headers


async def test_zoteros_server_tells_the_same_and_gives_the_files(
    tmp_path: Path, libraries: list[Told], expected: LibraryRecords
) -> None:
    api = ZoteroApi(libraries, "web")
    async with web_api(api, tmp_path / "web") as source:
        records = await source.read()
        assert await source.read() == records
        remote = {one.key: one for one in records.attachments if one.library == "user"}
        stored = remote["STORED11"].remote
        assert stored is not None
        assert (stored.md5, stored.name) == (md5_of("user", "STORED11"), "Größe 論文.pdf")
        location = await source.fetch(stored)
        assert location.path is not None
        assert location.path.read_bytes() == content_of("user", "STORED11")
    assert remote["MISSING1"].unread is Unread.FILE_MISSING
    assert remote["LINKABS1"].unread is Unread.FILE_MISSING
    group = next(one for one in records.attachments if one.key == "LINKGRP1")
    assert group.unread is Unread.OUTSIDE_LIBRARY
    without_files = [
        replace(
            comparable(one),
            attachments=tuple(
                replace(file, path=None, remote=None, unread=None, detail="")
                for file in one.attachments
            ),
        )
        for one in (records, expected)
    ]
    assert_same(without_files[0], without_files[1])


async def test_where_zotero_keeps_its_files_is_learned_from_it(
    tmp_path: Path, libraries: list[Told], base: Path
) -> None:
    api = ZoteroApi(libraries, "10", data_dir=tmp_path / "Zotero")
    async with local_api(api) as source:
        records = await source.read()
    files = {(one.library, one.key): one for one in records.attachments}
    stored = files["user", "STORED11"].path
    assert stored is not None
    assert stored.read_bytes() == content_of("user", "STORED11")
    assert files["user", "LINKREL1"].unread is Unread.BASE_FOLDER_UNKNOWN
    assert files["user", "LINKABS1"].link_mode is LinkMode.LINKED_FILE


async def _kinds(source: LibrarySource) -> str:
    return source.kind


async def test_every_source_has_a_kind_of_its_own(tmp_path: Path) -> None:
    local = LocalApi("http://127.0.0.1:1", data_dir=None, base_folder=None, cache=ObjectCache(None))
    web = WebApi("http://127.0.0.1:1", key="", cache=ObjectCache(None), files=WebFiles(tmp_path))
    kinds = [await _kinds(one) for one in (SqliteSnapshot(tmp_path), local, web)]
    assert kinds == ["sqlite", "local_api", "web_api"]
    await local.aclose()
    await web.aclose()
