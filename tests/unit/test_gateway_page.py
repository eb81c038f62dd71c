"""The page's pure modules, run by node."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "gateway" / "page"
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
        if path.suffix in {".html", ".css", ".svg"} and addresses.search(path.read_text())
    }
    assert offenders == {}


def test_the_page_has_no_inline_script_or_style() -> None:
    index = (PAGE / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=", index)
