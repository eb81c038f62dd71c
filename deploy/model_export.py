"""Exports that take their place whole or not at all."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class ExportFailed(Exception):
    """The export cannot be made or is not the same function as the original."""


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A new folder beside the target that takes its place only when the block succeeds."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as scratch:
        fresh = Path(scratch) / "new"
        fresh.mkdir()
        yield fresh
        if target.exists():
            target.rename(Path(scratch) / "old")
        fresh.rename(target)
