"""The plugin against the whole product: a question from the composer to the note, over restarts."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Stack
from tests.zotero_app import ZoteroApp, needs_firefox, zotero_app

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
# The library says nothing about the second half, so that the search asks twice for more.
QUESTION = (
    "Does an afternoon nap improve memory in older adults, "
    "and what is the effect of lithium on tomato yields?"
)
ANSWERED = "What dose of caffeine did emergency staff take before their nap?"
EXTEND = "Grant Deep Research Extension"
OPEN = "Stage.button().click()"
PATIENCE_S = 90


@pytest.fixture(scope="module")
def xpi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packed plugin."""
    folder = tmp_path_factory.mktemp("plugin")
    subprocess.run([sys.executable, ROOT / "zotero-plugin" / "build.py", folder], check=True)
    return folder / "zocrates.xpi"


class Desk:
    """A researcher's Zotero, which may be closed and started again."""

    def __init__(self, firefox: str, profile: Path, stack: Stack, xpi: Path) -> None:
        self._firefox = firefox
        self._profile = profile
        self.stack = stack
        self._xpi = xpi

    def started(self) -> Any:
        """Zotero with the plugin, until the block ends."""
        environment = {"ZOCRATES_DATA": str(self.stack.data)}
        return zotero_app(self._firefox, self._profile, environment)

    async def open(self, app: ZoteroApp) -> None:
        """Load the plugin and open its pane."""
        await app.run(f"await Stage.load({json.dumps(str(self._xpi))})")
        await app.run(OPEN)
        # The cursor goes there when the session of last time is open.
        await app.holds("Stage.frame?.activeElement?.id === 'prompt'")

    def session(self) -> dict[str, Any]:
        """The latest session as the service tells it."""
        headers = {"X-API-Key": self.stack.api_key}
        with httpx.Client(base_url=self.stack.base_url, headers=headers, trust_env=False) as client:
            [latest, *_] = client.get("/sessions").json()["sessions"]
            found: dict[str, Any] = client.get(f"/sessions/{latest['id']}").json()
            return found


@pytest.fixture(params=needs_firefox()[-1:])
def desk(request: pytest.FixtureRequest, stack: Stack, xpi: Path, tmp_path: Path) -> Desk:
    """A desk with the engine that is installed; the others are tried against one gateway."""
    return Desk(request.param, tmp_path, stack, xpi)


@pytest.fixture
async def zotero(desk: Desk) -> AsyncIterator[ZoteroApp]:
    """Zotero with the pane open; nothing may have gone wrong in it after."""
    async with desk.started() as app:
        await desk.open(app)
        yield app
        assert await app.run("return [...Zotero.logged, ...Stage.errors]") == []


async def cite_from(app: ZoteroApp, message: dict[str, Any]) -> None:
    """Put what was cited into Zotero's library, with the quotes in the files."""
    for citation in message["answer"]["citations"]:
        await app.run(
            f"""
            let c = {json.dumps(citation)};
            let parent = Zotero.Items.make('journalArticle', {{key: c.item_key, title: c.title}});
            let fields = {{key: c.attachment_key, parentID: parent.id, text: c.quote}};
            c.attachment_key && Zotero.Items.make('attachment', fields);
            """
        )


@pytest.mark.timeout(280)
async def test_two_extensions_over_two_restarts_make_one_answer(desk: Desk) -> None:
    async with desk.started() as app:
        await desk.open(app)
        await app.ask(QUESTION)
        await app.shows("Deep Research: Extension 1 of 2", PATIENCE_S)
    # Zotero was closed and is started again: the question still stands, and only once.
    async with desk.started() as app:
        await desk.open(app)
        await app.shows("Deep Research: Extension 1 of 2")
        gateway = desk.stack.pids["gateway"]
        desk.stack.kill("gateway")
        desk.stack.restarted("gateway", gateway)
        await app.click(EXTEND)
        await app.shows("Deep Research: Extension 2 of 2", PATIENCE_S)
        await app.run("Stage.unload('APP_SHUTDOWN')")
        await desk.open(app)
        await app.shows("Deep Research: Extension 2 of 2")
        await app.click(EXTEND)
        await app.holds("Stage.frame.querySelector('.afterwards')", PATIENCE_S)
        assert await app.run("return Stage.frame.querySelectorAll('.turn').length") == 1
        [message] = desk.session()["messages"]
        assert message["state"] == "COMPLETED"
        answered = [one["answered"]["action"] for one in message["checkpoints"]]
        assert answered == ["extend_budget", "extend_budget"]
        assert await app.run("return [...Zotero.logged, ...Stage.errors]") == []


@pytest.mark.timeout(200)
async def test_an_answers_citations_open_its_pages_and_become_a_note(
    desk: Desk, zotero: ZoteroApp
) -> None:
    await zotero.ask(ANSWERED)
    await zotero.holds("Stage.frame.querySelector('.afterwards')", PATIENCE_S)
    [message] = desk.session()["messages"]
    await cite_from(zotero, message)
    await zotero.run("ZoteroPane.selected = []")
    await zotero.click("Save as")
    await zotero.holds("Zotero.Items.all.at(-1).html.includes('data-citation=')")
    await zotero.run("Stage.frame.querySelector('.bubble button.chip').click()")
    await zotero.holds("Zotero.FileHandlers.opened.length")
    opened = await zotero.run("return Zotero.FileHandlers.opened[0]")
    [first, *_] = message["answer"]["citations"]
    assert opened == {
        "key": first["attachment_key"],
        "location": {"pageIndex": first["page_index"]},
    }


@pytest.mark.timeout(200)
async def test_a_question_that_waits_is_taken_back(desk: Desk, zotero: ZoteroApp) -> None:
    await zotero.ask(QUESTION)
    await zotero.shows("Deep Research: Extension 1 of 2", PATIENCE_S)
    await zotero.click("Take back")
    await zotero.shows("Take this question back?")
    await zotero.click("Take back")
    await zotero.holds("Stage.frame.querySelector('.turn') === null")
    assert desk.session()["messages"] == []
    assert await zotero.run("return Stage.frame.querySelector('#prompt').value") == QUESTION


@pytest.mark.timeout(200)
async def test_a_plan_is_discussed_and_approved_before_the_search(
    desk: Desk, zotero: ZoteroApp
) -> None:
    await zotero.run(
        "[...Stage.frame.querySelectorAll('.menu label')]"
        ".find(label => label.textContent.includes('Review the plan first')).click()"
    )
    await zotero.ask(ANSWERED)
    await zotero.shows("Approve and Search", PATIENCE_S)
    await zotero.run("Stage.write('.checkpoint textarea', 'Look at hospital staff, too.')")
    await zotero.click("Send Feedback")
    await zotero.shows("earlier message", PATIENCE_S)
    await zotero.click("Approve and Search")
    await zotero.holds("Stage.frame.querySelector('.afterwards')", PATIENCE_S)
    [message] = desk.session()["messages"]
    assert message["state"] == "COMPLETED"
