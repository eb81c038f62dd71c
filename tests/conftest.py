"""Fixtures that more than one folder of tests uses."""

import os
from pathlib import Path

import pytest

# Servers are started from processes in which gRPC is at work, some of them under another account,
# for which Python forks. gRPC's own handlers at a fork end such a child by a segmentation fault,
# one in four under load, so they are switched off before gRPC is loaded.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real test material beside the checkout; tests that need it are skipped without it."""
    folder = ROOT.parent / "shared"
    if not (folder / "data").is_dir():
        pytest.skip(f"NEEDS THE SHARED TEST MATERIAL: {folder} is absent, so this was not tested")
    return folder


# Folders whose tests share servers or browsers; elsewhere a file does.
SHARING = tuple(ROOT / "tests" / one for one in ("e2e", "integration/page", "integration/plugin"))
# Tests of the stack's life start stacks of their own, beside the one that others share.
OWN_STACKS = {"lives", "own_data"}


# First: a mark that comes after the workers have looked for it changes nothing.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests that share something expensive on one worker."""
    for item in items:
        group = next((one for one in SHARING if item.path.is_relative_to(one)), item.path)
        if OWN_STACKS & set(getattr(item, "fixturenames", ())):
            group /= "life"
        item.add_marker(pytest.mark.xdist_group(str(group.relative_to(ROOT))))
