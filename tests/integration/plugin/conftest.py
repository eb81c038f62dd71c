"""A window like Zotero's with the packed plugin, and the gateway that it talks to."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.gateway_stage import ADA, Stage, stage_with_nats
from tests.zotero_app import ZoteroApp, needs_firefox, zotero_app

ROOT = Path(__file__).resolve().parents[3]
HOST = "document.querySelector('.zocrates-pane > iframe').zocratesHost"


@pytest.fixture(scope="package")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """One gateway for all tests of the plugin."""
    async with stage_with_nats(tmp_path_factory.mktemp("nats"), silence_s=0.2) as lit:
        yield lit


@pytest.fixture(scope="package")
def xpi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packed plugin."""
    folder = tmp_path_factory.mktemp("plugin")
    subprocess.run([sys.executable, ROOT / "zotero-plugin" / "build.py", folder], check=True)
    return folder / "zocrates.xpi"


@pytest.fixture(scope="package", params=needs_firefox())
async def window(
    request: pytest.FixtureRequest, stage: Stage, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[ZoteroApp]:
    """One window for all tests of the plugin; the service's run file tells of the gateway."""
    data = tmp_path_factory.mktemp("data")
    told = {"base_url": str(stage.http.base_url).rstrip("/"), "api_key": ADA, "state": "ready"}
    (data / "run.json").write_text(json.dumps(told))
    profile = tmp_path_factory.mktemp("profile")
    async with zotero_app(request.param, profile, {"ZOCRATES_DATA": str(data)}) as app:
        yield app


@pytest.fixture
async def bare(window: ZoteroApp) -> AsyncIterator[ZoteroApp]:
    """The window without the plugin; nothing may have gone wrong in it after."""
    yield window
    assert await window.run("return Stage.reset()") == []


@pytest.fixture
async def zotero(bare: ZoteroApp, xpi: Path) -> ZoteroApp:
    """The window with the plugin."""
    await bare.run(f"await Stage.load({json.dumps(str(xpi))})")
    return bare


async def opened(app: ZoteroApp) -> None:
    """Open the pane by its button; the cursor is in its composer when all is there."""
    await app.run("Stage.button().click()")
    await app.holds("Stage.frame?.activeElement?.id === 'prompt'")


async def asked(zotero: ZoteroApp, call: str) -> Any:
    """What the host answers that the sidebar's pages ask."""
    return await zotero.run(f"return await {HOST}.{call}")
