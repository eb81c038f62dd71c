"""Rules of the house that no linter knows."""

import ast
import re
import subprocess
from collections.abc import Iterator

import pytest

from tests.architecture.source_tree import ROOT, syntax_trees

MAX_LINES = 400

# What exists on some operating systems only, or means different things on them.
OS_MODULES = {"fcntl", "pwd", "grp", "resource", "ctypes", "msvcrt", "winreg", "termios", "posix"}
OS_ATTRIBUTES = {
    "os": {"chown", "fork", "geteuid", "getpgid", "getuid", "kill", "killpg", "name", "setsid"},
    "sys": {"platform"},
    "platform": {"system"},
    "signal": {"SIGKILL", "SIGHUP", "pause"},
}
OS_PATHS = re.compile(r"^/(proc|dev|etc|var|usr|tmp|bin)(/|$)|AppData|Library/Application Support")
TREES = syntax_trees()
MEANINGLESS = {"utils", "helpers", "common", "misc", "manager", "base"}


def tracked(*patterns: str) -> list[str]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listing.stdout.splitlines() if (ROOT / name).exists()]


def test_no_file_is_longer_than_a_reader_can_hold() -> None:
    files = tracked("*.py", "*.mjs", "*.js", "*.proto", "*.css", "*.html")
    lengths = {name: len((ROOT / name).read_text("utf-8").splitlines()) for name in files}
    assert not {name: lines for name, lines in lengths.items() if lines > MAX_LINES}


def test_no_module_has_a_name_that_says_nothing() -> None:
    names = {name: name.rsplit("/", 1)[-1].split(".")[0] for name in tracked("*.py", "*.mjs")}
    assert not [name for name, stem in names.items() if stem in MEANINGLESS]


def test_a_package_file_holds_a_docstring_only() -> None:
    packages = {name: tree for name, tree in TREES.items() if name.endswith("__init__.py")}
    assert packages
    assert not [
        name
        for name, tree in packages.items()
        if len(tree.body) != 1 or ast.get_docstring(tree) is None
    ]


def os_specific(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names if alias.name in OS_MODULES)
            case ast.ImportFrom(module=str(module), names=names):
                yield from [module] if module in OS_MODULES else []
                yield from (
                    f"{module}.{alias.name}"
                    for alias in names
                    if alias.name in OS_ATTRIBUTES.get(module, ())
                )
            case ast.Attribute(value=ast.Name(id=module), attr=attribute):
                if attribute in OS_ATTRIBUTES.get(module, ()):
                    yield f"{module}.{attribute}"
            case ast.Constant(value=str(text)) if OS_PATHS.search(text) and "\n" not in text:
                yield repr(text)


def test_code_for_one_operating_system_stands_in_deploy_only() -> None:
    found = {
        name: list(os_specific(tree))
        for name, tree in TREES.items()
        if not name.startswith("deploy/")
    }
    assert not {name: what for name, what in found.items() if what}


@pytest.mark.parametrize(
    "code",
    [
        "import fcntl",
        "import os\nos.kill(1, 9)",
        "from os import getuid",
        "import sys\nif sys.platform == 'win32': ...",
        "open('/proc/self/status')",
    ],
)
def test_the_check_sees_code_for_one_operating_system(code: str) -> None:
    assert list(os_specific(ast.parse(code)))


def test_our_own_modules_are_never_imported_by_a_computed_name() -> None:
    # An image holds one process's folder; only static imports prove that this is enough.
    found = [
        name
        for name, tree in TREES.items()
        if not name.startswith("deploy/")
        for node in ast.walk(tree)
        if (isinstance(node, ast.Name) and node.id == "__import__")
        or (isinstance(node, ast.Attribute) and node.attr == "import_module")
    ]
    assert not found


def test_locks_name_no_place_to_download_from() -> None:
    locks = {
        name: (ROOT / name).read_text("utf-8")
        for name in tracked("*constraints.txt", "*package-lock.json")
    }
    assert "constraints.txt" in locks
    assert not [name for name, text in locks.items() if "://" in text or " @ " in text]


def test_no_recipe_swallows_a_failure() -> None:
    recipes = (ROOT / "Makefile").read_text("utf-8") + (ROOT / ".ci/run").read_text("utf-8")
    assert "|| true" not in recipes
    assert "|| :" not in recipes
