"""The tests that the documentation names exist, and every promise names one."""

import re
from collections.abc import Iterable

import pytest

from tests.architecture.source_tree import ROOT

NAMED = re.compile(r"`((?:unit|integration|e2e|architecture)/[\w/]+\.py)::(\w+)`")
KNOWN_FAILURES = 66
INVARIANTS = 14


def rows(page: str) -> list[list[str]]:
    """The cells of the page's table rows that are numbered."""
    lines = (ROOT / "docs" / page).read_text("utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in cells if row[0].strip().isdigit()]


def missing(text: str) -> Iterable[str]:
    """The tests named in the text that are nowhere."""
    for path, name in NAMED.findall(text):
        file = ROOT / "tests" / path
        if not file.is_file() or f"def {name}(" not in file.read_text("utf-8"):
            yield f"{path}::{name}"


@pytest.mark.parametrize("page", ["known-failures.md", "architecture.md"])
def test_every_test_that_a_page_names_exists(page: str) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    assert NAMED.search(text)
    assert list(missing(text)) == []


@pytest.mark.parametrize(
    ("page", "count"), [("known-failures.md", KNOWN_FAILURES), ("architecture.md", INVARIANTS)]
)
def test_every_promise_is_there_once_and_has_its_test_or_its_reason(page: str, count: int) -> None:
    numbered = rows(page)
    assert [int(row[0]) for row in numbered] == list(range(1, count + 1))
    bare = [row[0] for row in numbered if not NAMED.search(row[-1])]
    # What cannot occur says so.
    assert [number for number in bare if "Cannot occur" not in numbered[int(number) - 1][-2]] == []
