"""The import contracts hold, and each of them fails on a planted violation."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source_tree import PACKAGES, ROOT

# Where a line is planted, the line, and the contract that has to break.
VIOLATIONS = [
    ("services/search/settings.py", "import services.rerank.settings", "meet only on the wire"),
    ("gateway/settings.py", "import services.orchestrator.run", "No process imports another"),
    ("services/chassis/words.py", "import zocrates.events.v1.event_pb2", "do not know each other"),
    ("services/rerank/settings.py", "import deploy.stack", "stand over the chassis"),
    ("services/chassis/errors.py", "import services.chassis.server", "Layers of the chassis"),
    ("services/search/utils.py", "", "Layers of search"),
    ("services/rerank/selection.py", "import services.rerank.batching", "Layers of rerank"),
    ("services/synth/settings.py", "import services.synth.mind", "Layers of synth"),
    ("services/orchestrator/helpers.py", "", "Layers of the orchestrator"),
    ("gateway/wire.py", "import gateway.app", "Layers of the gateway"),
    ("services/synth/mind.py", "import sqlalchemy", "Only the orchestrator knows the database"),
    ("services/search/engine.py", "import fastapi", "Only the gateway knows FastAPI"),
    (
        "services/orchestrator/peers/search.py",
        "import pydantic_ai",
        "Only synth knows language models",
    ),
    ("services/rerank/model.py", "import lancedb", "Only search knows the index"),
    ("services/synth/mind.py", "import torch", "Model libraries are imported by name"),
    ("services/orchestrator/ceilings.py", "import grpc", "the standard library only"),
    (
        "services/orchestrator/peers/search.py",
        "import services.orchestrator.tables",
        "Only the store",
    ),
]


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    # The cache goes by modification times, which are too coarse for files that change this fast.
    command = "from importlinter.cli import lint_imports_command as c; c(['--no-cache'])"
    return subprocess.run(
        [sys.executable, "-c", command],
        cwd=root,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(root), str(root / "protos/gen")]),
            "COLUMNS": "200",
        },
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the product's modules that a test may spoil for a moment."""
    root = tmp_path_factory.mktemp("copy")
    for package in (*PACKAGES, "protos/gen/zocrates"):
        for path in (ROOT / package).rglob("*.py"):
            target = root / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    shutil.copy(ROOT / ".importlinter", root)
    return root


def test_the_contracts_hold() -> None:
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(("name", "line", "contract"), VIOLATIONS)
def test_a_planted_violation_breaks_its_contract(
    copy: Path, name: str, line: str, contract: str
) -> None:
    path = copy / name
    before = path.read_text("utf-8") if path.exists() else None
    path.write_text(f"{before or ''}\n{line}\n", encoding="utf-8")
    try:
        result = lint(copy)
    finally:
        path.unlink() if before is None else path.write_text(before, encoding="utf-8")
    broken = [row for row in result.stdout.splitlines() if " BROKEN" in row]
    assert result.returncode == 1, result.stdout + result.stderr
    assert any(contract in row for row in broken), broken
