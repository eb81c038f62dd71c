"""One gateway and one page of each browser for all tests here; each has sessions of its own."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from tests.browser import Page, chromium_page
from tests.fakes.gateway_peers import RecordedRun
from tests.fakes.gateway_stage import Stage, stage_with_nats
from tests.firefox import firefox_page

OPENERS = {"chromium": chromium_page, "firefox": firefox_page}
HTML, XHTML = "", "page/index.xhtml"
# Firefox gets the page as the strict kind of document that Zotero's own windows are.
KINDS = {"chromium": HTML, "firefox": XHTML}
# Last of all, when the session is open.
READY = "document.activeElement?.id === 'prompt'"


@pytest.fixture(scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """The gateway."""
    async with stage_with_nats(tmp_path_factory.mktemp("nats"), silence_s=0.2) as lit:
        yield lit


@pytest.fixture(scope="session")
async def browsers(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Callable[[str], Awaitable[Page]]]:
    """Starts each browser when it is first wanted, and keeps it: tests come in any order."""
    pages: dict[str, Page] = {}
    async with AsyncExitStack() as stack:

        async def page_of(browser: str) -> Page:
            if browser not in pages:
                opened = OPENERS[browser](tmp_path_factory.mktemp(browser))
                pages[browser] = await stack.enter_async_context(opened)
            return pages[browser]

        yield page_of


@pytest.fixture
async def entrance(
    stage: Stage, browsers: Callable[[str], Awaitable[Page]]
) -> Callable[[str, str], Awaitable[Page]]:
    """Gives a browser's page, which has its key; what it shows is of an earlier test.

    Loading is what costs most here, so each test loads what it wants to begin with, once.
    """
    # What other tests asked would stand in the list, perhaps under the same title.
    stage.orchestrator.runs.clear()

    async def page_in(browser: str, document: str) -> Page:
        page = await browsers(browser)
        if not await page.evaluate(f"location.pathname === '/{document}'"):
            await entered(stage, page, document)
        await page.evaluate("localStorage.clear()")
        return page

    return page_in


@pytest.fixture(params=list(KINDS))
async def page(
    request: pytest.FixtureRequest, entrance: Callable[[str, str], Awaitable[Page]]
) -> Page:
    """The page of each browser, to be loaded with `opened` or `begun`."""
    return await entrance(request.param, KINDS[request.param])


async def entered(stage: Stage, page: Page, document: str) -> None:
    """Let the page get its key through a one-time address."""
    url = (await stage.http.post("/page-links")).json()["url"]
    await page.visit(url.replace("/#", f"/{document}#"))
    # Only then is the key kept, and the page ready to be left.
    await page.holds(f"location.pathname === '/{document}' && {READY}")


async def begun(page: Page) -> None:
    """Load the page without a session."""
    await _loaded(page, "")


async def opened(page: Page, run: RecordedRun) -> None:
    """Load the page at a run's session."""
    await _loaded(page, f"#session={run.session_id}")
    await page.holds("document.querySelector('.turn') !== null")
    await page.shows(run.prompt)


async def _loaded(page: Page, fragment: str) -> None:
    address = json.dumps(fragment)
    await page.evaluate(
        f"(window.isOfBefore = true, history.replaceState(null, '', location.pathname + {address}))"
    )
    await page.reload()
    await page.holds(f"!window.isOfBefore && {READY}")
