"""The page's pure modules, run by node."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "gateway" / "page"
INDEXES = ("index.html", "index.xhtml")
SUITES = sorted((ROOT / "tests" / "page").glob("*.test.mjs"))


@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.stem)
def test_the_pages_modules(suite: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("NEEDS NODE: it is not installed, so the page's modules were not tested")
    # Run directly, a suite of node:test reports as under --test, without a second process.
    run = subprocess.run(
        [node, str(suite)], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_text_never_becomes_markup() -> None:
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser"
    )
    offenders = [path.name for path in PAGE.glob("*.mjs") if forbidden.search(path.read_text())]
    assert offenders == []


def test_the_page_loads_nothing_from_elsewhere() -> None:
    addresses = re.compile(r"(?:src|href)=\"(?!/page/)|@import|url\(|https?://(?!www\.w3\.org/)")
    offenders = {
        path.name: addresses.findall(path.read_text())
        for path in PAGE.iterdir()
        if path.suffix in {".html", ".xhtml", ".css", ".svg"} and addresses.search(path.read_text())
    }
    assert offenders == {}


@pytest.mark.parametrize("index", INDEXES)
def test_the_page_has_no_inline_script_or_style(index: str) -> None:
    text = (PAGE / index).read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=", text)


def test_both_kinds_of_document_load_the_same_and_every_style_sheet() -> None:
    wanted = re.compile(r"(?:href|src)=\"([^\"]+)\"")
    html, xhtml = (wanted.findall((PAGE / name).read_text()) for name in INDEXES)
    assert html == xhtml
    sheets = {f"/page/{path.name}" for path in PAGE.glob("*.css")}
    assert sheets == {path for path in html if path.endswith(".css")}


def test_requests_leave_by_the_hosts_door_and_words_by_their_own() -> None:
    doors = re.compile(
        r"(?<![\w.])fetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|new Image|import\("
    )
    found = {path.name for path in PAGE.glob("*.mjs") if doors.search(path.read_text())}
    assert found == {"browser_host.mjs", "l10n.mjs"}


def test_what_only_a_browser_has_is_used_by_its_host_only() -> None:
    browsers = re.compile(r"\b(localStorage|sessionStorage|history|location|navigator)\b[.[]")
    found = {path.name for path in PAGE.glob("*.mjs") if browsers.search(path.read_text())}
    assert found == {"browser_host.mjs"}


def test_modules_name_each_other_so_that_they_can_stand_anywhere() -> None:
    imports = re.compile(r"from '([^']+)'")
    named = {name for path in PAGE.glob("*.mjs") for name in imports.findall(path.read_text())}
    assert named
    assert not [name for name in named if not re.fullmatch(r"\./\w+\.mjs", name)]
