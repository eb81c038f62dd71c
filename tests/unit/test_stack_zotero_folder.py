from pathlib import Path

import pytest

from deploy.demo.location import DEMO_LIBRARY
from deploy.failure import CannotStart
from deploy.stack import parse
from deploy.zotero_folder import (
    Library,
    choose_library,
    preferences,
    profiles,
    profiles_base,
    unescaped,
)


def zotero_data(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "zotero.sqlite").write_bytes(b"")
    return folder


def profile(home: Path, name: str, *lines: str) -> Path:
    folder = profiles_base(home, {}) / name
    folder.mkdir(parents=True)
    (folder / "prefs.js").write_text("\n".join(("// Mozilla User Preferences", *lines)), "utf-8")
    return folder


def names_data_folder(folder: Path) -> tuple[str, str]:
    return (
        'user_pref("extensions.zotero.useDataDir", true);',
        f'user_pref("extensions.zotero.dataDir", "{folder}");',
    )


def chosen(home: Path, **wish: object) -> Library:
    given = {"named": None, "demo": False, "environ": {}, **wish}
    return choose_library(home=home, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        (r"C:\\Users\\Ada\\Zotero", r"C:\Users\Ada\Zotero"),
        (r"/home/J\u00fcrgen/Zotero", "/home/Jürgen/Zotero"),
        (r"/home/\xe9t\xe9", "/home/été"),
        (r"/data/\ud83d\udcda", "/data/📚"),
        (r"say \"hi\"", 'say "hi"'),
        (r"a\nb\tc", "a\nb\tc"),
        ("/plain/path", "/plain/path"),
    ],
)
def test_string_literals_are_read_as_javascript_reads_them(literal: str, text: str) -> None:
    assert unescaped(literal) == text


def test_preferences_of_every_kind_are_read_and_the_last_wins() -> None:
    text = """
    # comment
    user_pref("extensions.zotero.useDataDir", true);
    user_pref("count", 12);
    user_pref("negative", -1);
    user_pref("name", "first");
    user_pref("name", "a \\"quoted\\" (second);");
    // user_pref("name", "commented out");
    """
    assert preferences(text) == {
        "extensions.zotero.useDataDir": True,
        "count": 12,
        "negative": -1,
        "name": 'a "quoted" (second);',
    }


def test_a_profile_that_names_a_data_folder_leads_to_it(tmp_path: Path) -> None:
    data = zotero_data(tmp_path / "Elsewhere" / "Zöt")
    profile(tmp_path, "abc.default", *names_data_folder(data))
    assert chosen(tmp_path) == Library(folder=data, found="Zotero profile 'abc.default'")


def test_a_named_folder_that_is_not_in_use_is_ignored(tmp_path: Path) -> None:
    unused = zotero_data(tmp_path / "Elsewhere")
    usual = zotero_data(tmp_path / "Zotero")
    profile(tmp_path, "abc.default", f'user_pref("extensions.zotero.dataDir", "{unused}");')
    assert chosen(tmp_path).folder == usual


def test_a_profile_whose_folder_is_gone_leaves_the_usual_one(tmp_path: Path) -> None:
    usual = zotero_data(tmp_path / "Zotero")
    profile(tmp_path, "abc.default", *names_data_folder(tmp_path / "unplugged"))
    assert chosen(tmp_path).folder == usual


def test_of_several_profiles_the_default_one_counts(tmp_path: Path) -> None:
    work, private = zotero_data(tmp_path / "work"), zotero_data(tmp_path / "private")
    profile(tmp_path, "a.private", *names_data_folder(private))
    profile(tmp_path, "b.work", *names_data_folder(work))
    base = profiles_base(tmp_path, {})
    assert [path.name for path in profiles(base)] == ["a.private", "b.work"]
    (base / "profiles.ini").write_text("[Profile0]\nPath=b.work\nDefault=1\n", "utf-8")
    assert chosen(tmp_path).folder == work


def test_a_damaged_profile_list_only_loses_the_order(tmp_path: Path) -> None:
    data = zotero_data(tmp_path / "data")
    profile(tmp_path, "a.default", *names_data_folder(data))
    (profiles_base(tmp_path, {}) / "profiles.ini").write_bytes(b"\xff\xfe not a list")
    assert chosen(tmp_path).folder == data


def test_without_zotero_the_demo_library_is_searched(tmp_path: Path) -> None:
    library = chosen(tmp_path)
    assert (library.folder, library.demo) == (DEMO_LIBRARY, True)


def test_what_is_asked_for_wins_in_the_order_of_nearness(tmp_path: Path) -> None:
    zotero_data(tmp_path / "Zotero")
    named, by_variable = zotero_data(tmp_path / "named"), zotero_data(tmp_path / "variable")
    environ = {"ZOCRATES_LIBRARY": str(by_variable)}
    assert chosen(tmp_path, demo=True, environ=environ).demo
    assert chosen(tmp_path, named=named, environ=environ).folder == named
    assert chosen(tmp_path, environ=environ).folder == by_variable


def test_naming_the_database_itself_means_its_folder(tmp_path: Path) -> None:
    folder = zotero_data(tmp_path / "data")
    assert chosen(tmp_path, named=folder / "zotero.sqlite").folder == folder


def test_a_named_folder_without_a_library_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match=r"There is no zotero.sqlite in '.*empty'; name"):
        chosen(tmp_path, named=tmp_path / "empty")


def names_base_folder(folder: Path) -> str:
    return f'user_pref("extensions.zotero.baseAttachmentPath", "{folder}");'


def test_linked_files_are_where_the_profile_of_the_library_says(tmp_path: Path) -> None:
    first, second = zotero_data(tmp_path / "First"), zotero_data(tmp_path / "Second")
    profile(tmp_path, "a.first", *names_data_folder(first), names_base_folder(tmp_path / "one"))
    profile(tmp_path, "b.second", *names_data_folder(second), names_base_folder(tmp_path / "two"))
    assert chosen(tmp_path).base_folder == tmp_path / "one"
    assert chosen(tmp_path, named=second).base_folder == tmp_path / "two"


def test_the_usual_folder_belongs_to_a_profile_that_names_none(tmp_path: Path) -> None:
    usual = zotero_data(tmp_path / "Zotero")
    profile(tmp_path, "a.default", names_base_folder(tmp_path / "papers"))
    assert chosen(tmp_path) == Library(
        folder=usual, found="Zotero's usual folder", base_folder=tmp_path / "papers"
    )


def test_without_a_base_directory_none_is_told(tmp_path: Path) -> None:
    zotero_data(tmp_path / "Zotero")
    profile(tmp_path, "a.default")
    assert chosen(tmp_path).base_folder is None
    assert chosen(tmp_path, demo=True).base_folder is None


def asked(home: Path, source: str, **environ: str) -> Library:
    return choose_library(
        named=None, demo=False, environ=environ, home=home, source=source, server="http://x"
    )


def test_an_api_is_asked_with_the_folder_that_was_found_and_without_it(tmp_path: Path) -> None:
    alone = asked(tmp_path, "local_api")
    assert (alone.folder, alone.demo, alone.place) == (None, False, "Zotero at http://x")
    usual = zotero_data(tmp_path / "Zotero")
    beside = asked(tmp_path, "local_api")
    assert (beside.folder, beside.source, beside.server) == (usual, "local_api", "http://x")


def test_zoteros_server_is_asked_with_a_key_only(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="SEARCH_WEB_KEY"):
        asked(tmp_path, "web_api")
    library = asked(tmp_path, "web_api", SEARCH_WEB_KEY="s3cret")
    assert (library.folder, library.place) == (None, "Zotero's server at http://x")
    assert "s3cret" not in repr(library)


@pytest.mark.parametrize(
    "arguments",
    [["--server", "http://x"], ["--demo", "--source", "local_api"], ["--source", "bibtex"]],
)
def test_arguments_that_contradict_each_other_are_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        parse(arguments)
    assert left.value.code == 2
