"""The plugin's pure modules, run by node, and what its files must and must not hold."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "zotero-plugin"
SOURCES = [*PLUGIN.glob("*.js"), *PLUGIN.glob("content/*.mjs"), *PLUGIN.glob("content/*.js")]
SUITES = sorted((ROOT / "tests" / "plugin").glob("*.test.mjs"))


def pack(folder: Path) -> Path:
    """Pack the plugin as `make plugin` does."""
    subprocess.run([sys.executable, PLUGIN / "build.py", folder], check=True, capture_output=True)
    return folder / "zocrates.xpi"


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packed plugin."""
    return pack(tmp_path_factory.mktemp("plugin"))


@pytest.fixture(scope="module")
def archive(packed: Path) -> Iterator[zipfile.ZipFile]:
    """What is in it."""
    with zipfile.ZipFile(packed) as opened:
        yield opened


def messages(language: str) -> set[str]:
    """The ids of the plugin's own strings in a language."""
    text = (PLUGIN / "locale" / language / "zocrates-plugin.ftl").read_text()
    return set(re.findall(r"^([a-z][a-z-]*) =", text, re.MULTILINE))


@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.stem)
def test_the_plugins_modules(suite: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("NEEDS NODE: it is not installed, so the plugin's modules were not tested")
    run = subprocess.run(
        [node, str(suite)], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_packing_twice_gives_the_same_bytes(packed: Path, tmp_path: Path) -> None:
    again = pack(tmp_path)
    assert again.read_bytes() == packed.read_bytes()
    updates = [path.with_name("updates.json").read_bytes() for path in (again, packed)]
    assert updates[0] == updates[1]


def test_the_packed_plugin_holds_the_sidebar_and_no_page(archive: zipfile.ZipFile) -> None:
    names = archive.namelist()
    assert {"manifest.json", "bootstrap.js", "prefs.js", "content/page/sidebar.mjs"} <= set(names)
    assert "content/page/browser_host.mjs" not in names
    assert names == sorted(names)


def test_every_module_that_is_imported_is_packed(archive: zipfile.ZipFile) -> None:
    missing = [
        (name, target)
        for name in archive.namelist()
        if name.endswith(".mjs")
        for target in re.findall(r"^import .* from '(.*)';", archive.read(name).decode(), re.M)
        if not target.startswith("./")
        or str(Path(name).parent / target[2:]) not in archive.namelist()
    ]
    assert missing == []


def test_every_stylesheet_of_the_sidebar_is_packed(archive: zipfile.ZipFile) -> None:
    names = archive.namelist()
    linked = re.findall(r'href="([^"]+)"', (PLUGIN / "content" / "sidebar.xhtml").read_text())
    assert linked
    assert [name for name in linked if f"content/{name}" not in names] == []


def test_updates_name_the_version_and_hash_of_what_was_packed(packed: Path) -> None:
    manifest = json.loads((PLUGIN / "manifest.json").read_text())["applications"]["zotero"]
    told = json.loads(packed.with_name("updates.json").read_text())["addons"][manifest["id"]]
    [update] = told["updates"]
    assert (
        update["version"]
        == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    )
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", update["update_hash"])
    assert update["applications"]["zotero"]["strict_max_version"] == manifest["strict_max_version"]


def test_zotero_accepts_the_manifest() -> None:
    manifest = json.loads((PLUGIN / "manifest.json").read_text())
    zotero = manifest["applications"]["zotero"]
    assert manifest["manifest_version"] == 2
    # Zotero disables without a word what is updated over http.
    assert zotero["update_url"].startswith("https://")
    assert zotero["strict_min_version"] == "6.999"
    assert zotero["strict_max_version"] == "11.*"


def test_text_never_becomes_markup_or_code() -> None:
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write"
        r"|\beval\(|new Function|evalInSandbox"
    )
    assert [path.name for path in SOURCES if forbidden.search(path.read_text())] == []


def test_scripts_are_loaded_from_chrome_addresses_alone() -> None:
    text = (PLUGIN / "bootstrap.js").read_text()
    assert "loadSubScript" not in text
    assert re.findall(r"importESModule\((.*)\)", text) == ["`${base}plugin.mjs`"]


def test_requests_go_through_the_one_door() -> None:
    calls = re.compile(r"\bfetch\(|XMLHttpRequest|HTTP\.request|WebSocket|EventSource|sendBeacon")
    assert [path.name for path in SOURCES if calls.search(path.read_text())] == ["door.mjs"]


def test_what_zotero_removed_is_not_used() -> None:
    gone = re.compile(r"ChromeUtils\.import\(|Cu\.import|OS\.File|Zotero\.Promise\.coroutine")
    assert [path.name for path in SOURCES if gone.search(path.read_text())] == []


def test_nothing_is_newer_than_the_engine_of_zotero_7() -> None:
    page = ROOT / "gateway" / "page"
    newer = re.compile(
        r"Object\.groupBy|withResolvers|AbortSignal\.any|fromAsync|URL\.parse\(|setHTML"
        r"|:has\(|light-dark\(|@starting-style|^\s*&"
    )
    styles = [*PLUGIN.glob("content/*.css"), *page.glob("*.css")]
    files = [*SOURCES, *styles, *page.glob("*.mjs")]
    assert [
        path.name
        for path in files
        if any(newer.search(line) for line in path.read_text().splitlines() if "&&" not in line)
    ] == []


def test_every_string_is_there_in_both_languages_and_none_is_left_over() -> None:
    texts = [*SOURCES, *PLUGIN.glob("content/*.xhtml")]
    used = {name for path in texts for name in re.findall(r"zocrates-[a-z-]+", path.read_text())}
    english = messages("en-US")
    assert messages("de") == english
    assert english - used == set()
