"""Fixtures that more than one folder of tests uses."""

import os
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler.loadscope import LoadScopeScheduling
from xdist.workermanage import WorkerController

# Servers are started from processes in which gRPC is at work, some of them under another account,
# for which Python forks. gRPC's own handlers at a fork end such a child by a segmentation fault,
# one in four under load, so they are switched off before gRPC is loaded.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

ROOT = Path(__file__).resolve().parent.parent
LIFE = "tests/e2e/test_stack_life.py"
# The files of these folders share a stack, a gateway or browsers; the stack's life has its own.
SHARING = (LIFE, "tests/e2e/", "tests/integration/page/", "tests/integration/plugin/")
LONGEST = (*SHARING, "tests/integration/test_orchestrator_deaths.py")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real test material beside the checkout; tests that need it are skipped without it."""
    folder = ROOT.parent / "shared"
    if not (folder / "data").is_dir():
        pytest.skip(f"NEEDS THE SHARED TEST MATERIAL: {folder} is absent, so this was not tested")
    return folder


class SharingScheduling(LoadScopeScheduling):  # type: ignore[misc]  # untyped library
    """Keeps the tests that share something expensive on one worker, and begins with the longest.

    A file is dealt out whole. xdist's own groups get lost: they are written into a test's id, which
    pytest 9.2 no longer lets anybody change.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::", 1)[0]
        return next((one for one in SHARING if file.startswith(one)), file)

    def _assign_work_unit(self, node: WorkerController) -> None:
        for group in LONGEST:
            if group in self.workqueue:
                self.workqueue.move_to_end(group, last=False)
                break
        super()._assign_work_unit(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> SharingScheduling:
    """Deal out the tests."""
    return SharingScheduling(config, log)
