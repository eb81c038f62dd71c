"""The product's sources as the architecture tests read them."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("services", "gateway", "deploy")


def sources(*folders: str) -> list[Path]:
    """All Python files below the folders, in a stable order."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def syntax_trees() -> dict[str, ast.Module]:
    """The syntax tree of every product module by its path below the root."""
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sources(*PACKAGES)
    }
