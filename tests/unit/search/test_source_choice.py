"""Which source is opened, who may choose another, and what is refused before anything is asked."""

from pathlib import Path

import pytest

from services.search.library.source import InvalidSource, NoLibrary, SourceFixed
from services.search.library.source_choice import LOCAL_SERVER, Sources
from services.search.library_state import (
    KnownSearch,
    LibraryState,
    SourceChoice,
    Unfinished,
    state_json,
    state_of,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Zotero").mkdir()
    (tmp_path / "Zotero" / "zotero.sqlite").write_bytes(b"")
    return tmp_path / "Zotero"


def sqlite(folder: Path) -> SourceChoice:
    return SourceChoice(kind="sqlite", data_dir=str(folder))


def sources(tmp_path: Path, **values: object) -> Sources:
    made: dict[str, object] = {"configured": None, "is_changeable": True, "cache_dir": tmp_path}
    return Sources(**{**made, **values})  # type: ignore[arg-type]


async def test_the_settings_count_until_a_person_chooses_and_again_once_they_change(
    tmp_path: Path, folder: Path
) -> None:
    configured = SourceChoice(kind="sqlite", data_dir="/first")
    opener = sources(tmp_path, configured=configured)
    assert opener.opened_at_start(LibraryState()).location == "/first"
    chosen = LibraryState(chosen=sqlite(folder), chosen_over=configured)
    assert opener.opened_at_start(chosen).location == str(folder)
    later = sources(tmp_path, configured=SourceChoice(kind="sqlite", data_dir="/second"))
    assert later.opened_at_start(chosen).location == "/second"


async def test_without_any_library_named_a_reading_says_how_to_name_one(tmp_path: Path) -> None:
    source = sources(tmp_path).opened_at_start(LibraryState())
    with pytest.raises(NoLibrary, match="SEARCH_LIBRARY_DIR"):
        await source.read()


async def test_every_kind_is_opened(tmp_path: Path, folder: Path) -> None:
    opener = sources(tmp_path, web_key="key")
    for choice, location in (
        (sqlite(folder), str(folder)),
        (SourceChoice(kind="local_api"), LOCAL_SERVER),
        (SourceChoice(kind="local_api", server="http://localhost:5000"), "http://localhost:5000"),
        (SourceChoice(kind="web_api"), "https://api.zotero.org"),
    ):
        source = await opener.opened_for_person(choice)
        assert (source.kind, source.location) == (choice.kind, location)
        await source.aclose()


@pytest.mark.parametrize(
    ("choice", "word"),
    [
        (SourceChoice(kind="bibtex"), "no kind"),
        (SourceChoice(kind="sqlite"), "data folder"),
        (SourceChoice(kind="sqlite", data_dir="/nowhere"), "zotero.sqlite"),
        (SourceChoice(kind="sqlite", data_dir="Zotero"), "zotero.sqlite"),
        (SourceChoice(kind="sqlite", data_dir="\0"), "zotero.sqlite"),
        (SourceChoice(kind="local_api", server="http://192.0.2.1:23119"), "not this machine"),
        (SourceChoice(kind="local_api", server="http://127.0.0.1.example.org"), "not this machine"),
        (SourceChoice(kind="local_api", server="http://user@example.org:1"), "not this machine"),
        (SourceChoice(kind="local_api", server="file:///etc"), "not this machine"),
        (SourceChoice(kind="local_api", server="http://[::1"), "not this machine"),
        (SourceChoice(kind="local_api", data_dir="/nowhere"), "zotero.sqlite"),
        (SourceChoice(kind="local_api", base_folder="/nowhere"), "linked files"),
        # The key must not be sent to whoever asks for it.
        (SourceChoice(kind="web_api", server="https://example.org"), "SEARCH_SERVER"),
    ],
)
async def test_a_place_where_no_library_can_be_is_refused(
    tmp_path: Path, choice: SourceChoice, word: str
) -> None:
    with pytest.raises(InvalidSource, match=word):
        await sources(tmp_path, web_key="key").opened_for_person(choice)


async def test_zoteros_server_needs_a_key_and_a_place_for_files(tmp_path: Path) -> None:
    with pytest.raises(InvalidSource, match="SEARCH_WEB_KEY"):
        await sources(tmp_path).opened_for_person(SourceChoice(kind="web_api"))
    opener = sources(tmp_path, web_key="key", cache_dir=None)
    source = await opener.opened_for_person(SourceChoice(kind="web_api"))
    with pytest.raises(NoLibrary, match="SEARCH_CACHE_DIR"):
        await source.read()


async def test_a_server_of_several_people_keeps_its_library(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(SourceFixed):
        await sources(tmp_path, is_changeable=False).opened_for_person(sqlite(folder))


def test_the_demo_is_one_only_while_it_is_read(tmp_path: Path) -> None:
    opener = sources(tmp_path, configured=sqlite(tmp_path), is_demo_library=True)
    assert opener.is_demo(str(tmp_path))
    assert not opener.is_demo("/other")


def test_the_state_is_kept_whole_and_an_earlier_one_is_understood() -> None:
    state = LibraryState(
        source_kind="sqlite",
        chosen=SourceChoice(kind="local_api"),
        libraries=("user",),
        titles={"user": "My Library"},
        searches=(KnownSearch(path="user/S", name="S", items=("user/A",), unsupported=("x",)),),
        automatic_tags=frozenset({"user/b", "user/a"}),
        aliases={"user/B": "A"},
        unfinished=Unfinished(done=1, total=2),
    )
    assert state_of(state_json(state)) == state
    earlier = '{"source_kind": "sqlite", "libraries": ["user"], "collections": ["user/C"]}'
    assert state_of(earlier) == LibraryState(source_kind="sqlite", libraries=("user",))
