"""One gateway and one page of each browser for all tests here; each has sessions of its own."""

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


@pytest.fixture(params=list(KINDS))
async def page(
    request: pytest.FixtureRequest,
    stage: Stage,
    browsers: Callable[[str], Awaitable[Page]],
) -> Page:
    """The page, freshly entered."""
    browser = await browsers(request.param)
    await entered(stage, browser, KINDS[request.param])
    return browser


async def entered(stage: Stage, page: Page, document: str = HTML) -> None:
    """Let the page get its key through a one-time address."""
    url = (await stage.http.post("/page-links")).json()["url"]
    # A blank page between: a change of the fragment alone would not load anything.
    await page.visit("about:blank")
    await page.holds("location.href === 'about:blank'")
    # What other tests asked would stand in the list, perhaps under the same title.
    stage.orchestrator.runs.clear()
    await page.visit(url.replace("/#", f"/{document}#"))
    # Only then is the key kept, and the page ready to be left.
    await page.holds("document.activeElement?.id === 'prompt'")


async def opened(page: Page, run: RecordedRun) -> None:
    """Load the page at a run's session."""
    await page.evaluate(f"history.replaceState(null, '', '#session={run.session_id}')")
    await page.reload()
    await page.holds("document.querySelector('.turn') !== null")
    await page.shows(run.prompt)
