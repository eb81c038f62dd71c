"""What the Dockerfile copies and installs is enough for each process, and it starts as it would."""

import asyncio
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from deploy.data_folder import is_root
from deploy.image_requirements import project_extras, requirements
from deploy.readiness import grpc_serves, http_serves
from tests.dockerfile import DOCKERFILE, ROOT, TARGETS, images
from tests.image_folder import ImageFolder, lay_out
from tests.servers import free_port, reachable_folder

START_S = 90


@contextmanager
def running(laid: ImageFolder, more: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """The image's command, by a user who can write to nothing of the image."""
    # Root without its privileges is stopped by the modes of files as anybody else is.
    plain = (
        [str(shutil.which("setpriv")), "--bounding-set=-all", "--inh-caps=-all"]
        if is_root()
        else []
    )
    with (laid.site.parent / "log").open("wb") as log:
        process = subprocess.Popen(
            [*plain, *laid.command()],
            cwd=laid.folder,
            env=laid.environment(more),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture
def folder() -> Iterator[Path]:
    with reachable_folder() as made:
        yield made


@pytest.mark.parametrize("target", TARGETS)
async def test_each_image_holds_all_that_its_process_needs(target: str, folder: Path) -> None:
    laid = lay_out(images()[target], folder)
    process, port = target.removesuffix("-demo"), free_port()
    written = folder / "written"
    written.mkdir()
    written.chmod(0o777)
    told: dict[str, dict[str, Any]] = {
        "search": {"SEARCH_INDEX_URI": written / "index"},
        "orchestrator": {
            "ORCHESTRATOR_DATABASE_URL": "postgresql+asyncpg://nobody@127.0.0.1:1/none"
        },
        "gateway": {"GATEWAY_KEYS": '[{"key": "sixteen-characters", "owner": "local"}]'},
    }
    more = {f"{process.upper()}_PORT": port, "TMPDIR": written, **told.get(process, {})}
    with running(laid, {name: str(value) for name, value in more.items()}) as started:
        log = folder / "log"
        try:
            if process == "gateway":
                await wait(started, http_serves(f"http://127.0.0.1:{port}/health"))
            else:
                await wait(started, grpc_serves(f"127.0.0.1:{port}"))
        except TimeoutError:
            pytest.fail(log.read_text("utf-8", "replace"))
    assert started.returncode == 0, log.read_text("utf-8", "replace")
    assert "Traceback" not in log.read_text("utf-8", "replace")


async def wait(process: subprocess.Popen[bytes], ready: Any) -> None:
    """Wait until it is ready; raises TimeoutError also when the process ended."""

    async def ended() -> None:
        await asyncio.to_thread(process.wait)
        raise TimeoutError

    asking, watching = asyncio.ensure_future(ready), asyncio.ensure_future(ended())
    async with asyncio.timeout(START_S):
        await asyncio.wait({asking, watching}, return_when=asyncio.FIRST_COMPLETED)
    if not asking.done():
        asking.cancel()
        raise TimeoutError


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    hadolint = Path(sysconfig.get_path("scripts")) / "hadolint"
    said = subprocess.run(
        [hadolint, DOCKERFILE], capture_output=True, text=True, timeout=60, check=False
    )
    assert (said.stdout + said.stderr, said.returncode) == ("", 0)


@pytest.mark.parametrize("target", TARGETS)
def test_an_image_runs_as_an_ordinary_user(target: str) -> None:
    user = images()[target].user.split(":")[0]
    assert user.isdigit()
    assert int(user) >= 10_000


def test_the_images_without_models_of_others_bring_no_torch() -> None:
    extras = project_extras(ROOT)
    for process in ("search", "rerank", "synth", "orchestrator", "gateway"):
        heavy = {"torch", "transformers", "sentence-transformers"}
        names = {wanted.split("=")[0].split("~")[0] for wanted in requirements(process, extras)}
        assert not names & heavy
