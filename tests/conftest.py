"""Fixtures that more than one folder of tests uses."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real test material beside the checkout; tests that need it are skipped without it."""
    folder = ROOT.parent / "shared"
    if not (folder / "data").is_dir():
        pytest.skip(f"NEEDS THE SHARED TEST MATERIAL: {folder} is absent, so this was not tested")
    return folder
