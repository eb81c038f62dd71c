"""What changed is asked for and nothing else; who asks too much is told to wait, and waits."""

import asyncio
import io
import time
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.search.library import web_api
from services.search.library.api_http import Manners
from services.search.library.local_api import LocalApi
from services.search.library.object_cache import ObjectCache
from services.search.library.records import RemoteFile, Unread
from services.search.library.source import (
    LibraryLocked,
    LibrarySource,
    SourceRefused,
    SourceUnreachable,
)
from services.search.library.web_api import WebApi
from services.search.library.web_files import WebFiles
from tests.fakes.zotero_api import DOES_NOT_ANSWER, KEY, Reply, ZoteroApi, serving_api
from tests.fixtures.told_library import (
    Told,
    attachment,
    collection,
    content_of,
    item,
    md5_of,
    personal_library,
)

QUICK = Manners(concurrency=2, page=5, timeout_s=5, attempts=3, longest_wait_s=5)


@pytest.fixture
def library() -> Told:
    return personal_library(Path("/nowhere/linked.pdf"))


@pytest.fixture(params=["10", "web"])
async def watched(
    request: pytest.FixtureRequest, tmp_path: Path, library: Told
) -> AsyncIterator[tuple[ZoteroApi, LibrarySource]]:
    """A source whose versions tell what changed, and its server."""
    api = ZoteroApi([library], request.param, data_dir=tmp_path)
    async with serving_api(api) as server:
        source = opened(api, server, tmp_path)
        yield api, source
        await source.aclose()


def opened(
    api: ZoteroApi, server: str, folder: Path, manners: Manners = QUICK
) -> LocalApi | WebApi:
    cache = ObjectCache(folder / "cache.sqlite")
    if api.is_web:
        files = WebFiles(folder / "files", most_bytes=1_000)
        return WebApi(server, key=KEY, cache=cache, files=files, manners=manners)
    return LocalApi(server, data_dir=folder, base_folder=None, cache=cache, manners=manners)


async def titles(source: LibrarySource) -> set[str]:
    return {one.title for one in (await source.read()).items}


def told_since(api: ZoteroApi) -> list[str]:
    """Which lists were asked for, and from which version on, since the last look."""
    asked = [f"{one.path.rpartition('/')[2]} {one.params.get('since', 'all')}" for one in api.asked]
    api.asked.clear()
    return asked


async def test_only_what_changed_is_asked_for(watched: tuple[ZoteroApi, LibrarySource]) -> None:
    api, source = watched
    first = await source.read()
    assert "items all" in told_since(api)
    assert await source.read() == first
    asked = told_since(api)
    # The keys alone are asked for where deletions leave no trace.
    assert [one for one in asked if one.startswith("items")] == (
        ["items 5"] if api.is_web else ["items 5", "items all"]
    )
    api.put(item("NEW11111", title="A new one"))
    api.delete("CASE1111")
    api.put(item("BARE1111", title="Now it has a title"))
    found = await titles(source)
    assert {"A new one", "Now it has a title"} <= found
    assert "A v B" not in found


async def test_what_goes_to_the_trash_and_comes_back_is_followed(
    watched: tuple[ZoteroApi, LibrarySource],
) -> None:
    api, source = watched
    await source.read()
    api.put(item("BARE1111", title="Bare", deleted=1))
    assert "Bare" not in await titles(source)
    api.put(item("TRASHED1", title="Back"))
    records = await source.read()
    assert "Back" in {one.title for one in records.items}
    assert "GONEFILE" in {one.key for one in records.attachments}
    assert "GONENOTE" in {one.key for one in records.notes}


async def test_collections_are_followed(watched: tuple[ZoteroApi, LibrarySource]) -> None:
    api, source = watched
    await source.read()
    api.put(collection("OUTER111", "Renamed"), what="collections")
    api.delete("INNER111", what="collections")
    records = await source.read()
    assert [one.name for one in records.collections] == ["Renamed"]
    assert next(one for one in records.items if one.key == "ARTICLE1").collections == ()


async def test_what_is_known_survives_a_restart_and_a_damaged_file_does_not_matter(
    tmp_path: Path, library: Told
) -> None:
    api = ZoteroApi([library], "web")
    async with serving_api(api) as server:
        first = opened(api, server, tmp_path)
        records = await first.read()
        await first.aclose()
        told_since(api)
        second = opened(api, server, tmp_path)
        assert await second.read() == records
        await second.aclose()
        assert "items all" not in told_since(api)
        (tmp_path / "cache.sqlite").write_bytes(b"not a database at all" * 100)
        third = opened(api, server, tmp_path)
        assert await third.read() == records
        await third.aclose()
        assert "items all" in told_since(api)


async def test_versions_of_another_server_are_not_compared(tmp_path: Path, library: Told) -> None:
    api = ZoteroApi([library], "10", data_dir=tmp_path)
    async with serving_api(api) as server:
        source = opened(api, server, tmp_path)
        await source.read()
        api.server_id = "restored"
        api.put(item("NEW11111", title="Added on the other"))
        told_since(api)
        assert "Added on the other" in await titles(source)
        assert "items all" in told_since(api)
        await source.aclose()


@pytest.mark.parametrize("program", ["7", "8", "9"])
async def test_versions_that_miss_what_was_typed_are_not_trusted(
    tmp_path: Path, library: Told, program: str
) -> None:
    api = ZoteroApi([library], program, data_dir=tmp_path)
    async with serving_api(api) as server:
        source = opened(api, server, tmp_path)
        await source.read()
        api.put(item("NEW11111", title="Typed a moment ago"))
        api.delete("BOOK1111")
        found = await titles(source)
        await source.aclose()
    assert "Typed a moment ago" in found
    assert "Книга" not in found


async def test_a_group_that_is_left_is_gone(tmp_path: Path, library: Told) -> None:
    group = Told("groups/77", "Lab", items=(item("ARTICLE1", title="Theirs"),))
    api = ZoteroApi([library, group], "web")
    async with serving_api(api) as server:
        source = opened(api, server, tmp_path)
        assert "Theirs" in await titles(source)
        api.forget_library("groups/77")
        records = await source.read()
        await source.aclose()
    assert [one.name for one in records.libraries] == ["user"]
    assert "Theirs" not in {one.title for one in records.items}


async def test_a_list_that_changes_between_its_pages_is_read_again(
    tmp_path: Path, library: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_api, "PAUSE_S", 0.01)
    api = ZoteroApi([library], "web")
    api.page = 5
    api.change_while_paging = 1
    async with serving_api(api) as server:
        source = opened(api, server, tmp_path)
        assert len((await source.read()).items) == 4
        api.change_while_paging = 100
        await source.aclose()
        source = opened(api, server, tmp_path / "other")
        with pytest.raises(LibraryLocked, match="kept changing"):
            await source.read()
        await source.aclose()


@pytest.mark.parametrize(
    ("status", "headers"),
    [(429, {"Retry-After": "1"}), (200, {"Backoff": "1"})],
)
async def test_a_server_that_asks_for_patience_gets_it(
    tmp_path: Path, library: Told, status: int, headers: dict[str, str]
) -> None:
    api = ZoteroApi([library], "web")
    body = b'{"userID": 475, "access": {"user": {"library": true}}}'
    api.replies = [Reply(status, body, headers)]
    async with serving_api(api) as server:
        source = opened(api, server, tmp_path)
        started = time.monotonic()
        await source.read()
        assert time.monotonic() - started >= 1
        await source.aclose()


async def test_a_wait_that_is_too_long_is_said(tmp_path: Path, library: Told) -> None:
    api = ZoteroApi([library], "web")
    api.replies = [Reply(429, b"", {"Retry-After": "3600"})]
    async with serving_api(api) as server:
        source = opened(api, server, tmp_path)
        with pytest.raises(SourceUnreachable, match="3600 seconds"):
            await source.read()
        await source.aclose()


async def test_a_local_interface_that_is_turned_off_is_said_with_the_way_to_turn_it_on(
    tmp_path: Path, library: Told
) -> None:
    api = ZoteroApi([library], "9")
    api.is_enabled = False
    async with serving_api(api) as server:
        source = opened(api, server, tmp_path)
        with pytest.raises(SourceRefused, match="Allow other applications"):
            await source.read()
        await source.aclose()


async def test_a_wrong_key_is_said_and_never_shown(tmp_path: Path, library: Told) -> None:
    api = ZoteroApi([library], "web")
    async with serving_api(api) as server:
        cache = ObjectCache(None)
        source = WebApi(server, key="s3cret", cache=cache, files=WebFiles(tmp_path))
        with pytest.raises(SourceRefused, match="SEARCH_WEB_KEY") as raised:
            await source.read()
        await source.aclose()
    assert "s3cret" not in raised.value.message


async def test_nobody_listening_and_somebody_else_listening_are_said(tmp_path: Path) -> None:
    source = LocalApi(
        "http://127.0.0.1:9", data_dir=None, base_folder=None, cache=ObjectCache(None)
    )
    with pytest.raises(SourceUnreachable, match="Start Zotero"):
        await source.read()
    await source.aclose()
    api = ZoteroApi([], "10")
    api.replies = [Reply(200, b"<html>hello</html>")]
    async with serving_api(api) as server:
        source = opened(api, server, tmp_path)
        with pytest.raises(SourceUnreachable, match="another program"):
            await source.read()
        await source.aclose()


async def test_a_silent_server_does_not_hold_up_for_ever(tmp_path: Path, library: Told) -> None:
    api = ZoteroApi([library], "10")
    api.replies = [Reply(DOES_NOT_ANSWER)]
    impatient = Manners(concurrency=1, page=5, timeout_s=0.2)
    async with serving_api(api) as server:
        source = opened(api, server, tmp_path, impatient)
        async with asyncio.timeout(10):
            with pytest.raises(SourceUnreachable, match="does not answer"):
                await source.read()
        await source.aclose()


def leftovers(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def remote(key: str, name: str, md5: str | None = None) -> RemoteFile:
    return RemoteFile(library="user", key=key, md5=md5 or md5_of("user", key), name=name)


async def test_a_file_is_fetched_once_and_the_key_stays_with_its_server(
    tmp_path: Path, library: Told
) -> None:
    api = ZoteroApi([library], "web")
    async with serving_api(api) as server:
        source = opened(api, server, tmp_path)
        first = await source.fetch(remote("STORED11", "Größe 論文.pdf"))
        assert first.path is not None
        assert first.path.read_bytes() == content_of("user", "STORED11")
        assert first.path.suffix == ".pdf"
        stored = [one for one in api.asked if one.path.startswith("/storage/")]
        assert len(stored) == 1
        assert "zotero-api-key" not in stored[0].headers
        api.asked.clear()
        assert await source.fetch(remote("STORED11", "other name.pdf")) == first
        assert not [one for one in api.asked if "file" in one.path or "storage" in one.path]
        await source.aclose()
    assert leftovers(tmp_path) == sorted([first.path, tmp_path / "cache.sqlite"])


async def test_a_snapshot_in_an_archive_is_unpacked(tmp_path: Path, library: Told) -> None:
    api = ZoteroApi([library], "web")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("style.css", "body {}")
        archive.writestr("a.html", content_of("user", "WEBPAGE1"))
    api.archived["WEBPAGE1"] = packed.getvalue()
    async with serving_api(api) as server:
        source = opened(api, server, tmp_path)
        location = await source.fetch(remote("WEBPAGE1", "a.html"))
        assert location.path is not None
        assert location.path.read_bytes() == content_of("user", "WEBPAGE1")
        await source.aclose()


async def test_a_file_that_cannot_be_had_is_one_reason_and_leaves_nothing_behind(
    tmp_path: Path, library: Told
) -> None:
    api = ZoteroApi([library], "web")
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.html", b"0" * 100_000)
    api.archived = {"WEBPAGE1": bomb.getvalue(), "ALONE111": b"not an archive"}
    api.put(attachment("BIGFILE1", "ARTICLE1", filename="big.pdf"))
    api.archived["BIGFILE1"] = b"x" * 5_000
    async with serving_api(api) as server:
        source = opened(api, server, tmp_path)
        reasons = {
            key: await source.fetch(remote(key, name, md5))
            for key, name, md5 in [
                ("MISSING1", "absent.pdf", "0" * 32),
                ("STORED11", "changed.pdf", "0" * 32),
                ("WEBPAGE1", "a.html", None),
                ("ALONE111", "alone.pdf", "1" * 32),
                ("BIGFILE1", "big.pdf", None),
                ("STORED11", "odd.pdf", "../../etc/passwd"),
            ]
        }
        await source.aclose()
    assert all(one.path is None and one.detail for one in reasons.values())
    assert reasons["MISSING1"].unread is Unread.FILE_MISSING
    assert reasons["BIGFILE1"].unread is reasons["WEBPAGE1"].unread is Unread.TOO_LARGE
    assert "unpacked" in reasons["ALONE111"].detail
    assert leftovers(tmp_path / "files") == []


async def test_what_the_key_does_not_give_is_told(tmp_path: Path, library: Told) -> None:
    api = ZoteroApi([library], "web")
    api.rights = {"user": {"library": True, "notes": False}}
    async with serving_api(api) as server:
        source = opened(api, server, tmp_path)
        notices = (await source.read()).notices
        api.rights = {}
        api.forget_library("user")
        with pytest.raises(SourceRefused):
            await source.read()
        await source.aclose()
    assert ["files" in notices[0], "notes" in notices[1]] == [True, True]


@pytest.mark.parametrize("dialect", ["9", "10", "web"])
async def test_a_change_shows_in_the_signature(tmp_path: Path, library: Told, dialect: str) -> None:
    api = ZoteroApi([library], dialect)
    async with serving_api(api) as server:
        cache = ObjectCache(None)
        source = (
            opened(api, server, tmp_path)
            if api.is_web
            else LocalApi(server, data_dir=None, base_folder=None, cache=cache)
        )
        before = await source.signature()
        assert await source.signature() == before
        api.put(item("NEW11111", title="New"))
        assert await source.signature() != before
        await source.aclose()
