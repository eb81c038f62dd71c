"""The whole product, started as a person starts it."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from deploy.running import RunningStack, wait_until
from deploy.running import stack as running_stack

Stack = RunningStack

INDEXING_S = 120
PATIENCE = {"RERANK_BUDGET_S": "50", "ORCHESTRATOR_PEER_DEADLINE_S": "60"}
# An installation that runs already, to which those tests that need nothing else are put as well.
ADDRESS, KEY = "ZOCRATES_E2E_ADDRESS", "ZOCRATES_E2E_KEY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What is known of an installation that somebody else started."""

    base_url: str
    api_key: str


@pytest.fixture(scope="session")
def stack(stack_data: Path) -> Iterator[Stack | Installed]:
    """One stack on the demo library, shared by the tests that leave it as they found it."""
    if ADDRESS in os.environ:
        yield Installed(base_url=os.environ[ADDRESS], api_key=os.environ[KEY])
        return
    with pytest.MonkeyPatch.context() as patched:
        # On a busy machine a ranking that takes too long is given up, and the answer is another.
        for name, value in PATIENCE.items():
            patched.setenv(name, value)
        with running_stack(data=stack_data) as running:
            wait_until(lambda: is_indexed(running), INDEXING_S, running.said)
            yield running


def is_indexed(running: Stack) -> bool:
    """Whether the whole library can be searched, by words and by vectors."""
    headers = {"X-API-Key": running.api_key}
    library = httpx.get(f"{running.base_url}/library", headers=headers, trust_env=False).json()
    vectors = library["vectors"]
    return library["synced_at"] is not None and 0 < vectors["total"] == vectors["done"]


@pytest.fixture(scope="session")
def stack_data() -> Iterator[Path]:
    """The shared stack's data folder."""
    yield from reachable_folder()


@pytest.fixture
def own_data() -> Iterator[Path]:
    """A data folder of one test's own."""
    yield from reachable_folder()


def reachable_folder() -> Iterator[Path]:
    # Not pytest's tmp_path: under root, Postgres runs as an account that cannot enter it.
    folder = Path(tempfile.mkdtemp(prefix="zocrates-e2e-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
