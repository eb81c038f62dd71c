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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep a file's tests on one worker, and all that share the running stack on one."""
    stack_tests = ROOT / "tests" / "e2e"
    for item in items:
        shares_stack = item.path.is_relative_to(stack_tests)
        item.add_marker(pytest.mark.xdist_group(str(stack_tests if shares_stack else item.path)))
