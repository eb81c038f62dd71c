"""The page for everybody: nothing that axe-core finds, at each width and in both themes."""

import json
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.browser import ChromiumPage, Page
from tests.fakes import page_scenes as scenes
from tests.fakes.gateway_stage import Stage
from tests.integration.page.conftest import HTML, begun, opened

pytestmark = pytest.mark.browser

AXE = Path(__file__).resolve().parents[2] / "page/node_modules/axe-core/axe.min.js"
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
COLOUR_RULES = ("color-contrast", "link-in-text-block")
WIDTHS = (300, 420, 900)
SETTLED = "document.getAnimations().every(a => a.effect.getTiming().iterations > 1)"


@pytest.fixture(scope="session")
def axe() -> str:
    """The checker's own text, which a page takes without loading anything."""
    if not AXE.exists():
        pytest.skip("NEEDS AXE-CORE: run `npm ci` in tests/page; accessibility was not checked")
    return AXE.read_text("utf-8")


@pytest.fixture(scope="session")
def album(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures go: where PAGE_PICTURES says, so that somebody can look at them."""
    folder = Path(os.environ.get("PAGE_PICTURES") or tmp_path_factory.mktemp("pictures"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


async def welcome(stage: Stage, page: Page) -> None:
    await begun(page)
    await page.shows("Understood")


async def answer(stage: Stage, page: Page) -> None:
    await opened(page, scenes.answered_run(stage))
    await page.evaluate(
        "document.querySelectorAll('.turn details').forEach(d => { d.open = true; })"
    )
    await page.holds("document.querySelector('.chart-sections')?.textContent !== ''")


async def checkpoint(stage: Stage, page: Page) -> None:
    await opened(page, scenes.waiting_run(stage))
    await page.shows("Grant Deep Research Extension")


async def plan(stage: Stage, page: Page) -> None:
    await opened(page, scenes.reviewed_run(stage))
    await page.evaluate(
        "document.querySelectorAll('.turn details').forEach(d => { d.open = true; })"
    )


async def library(stage: Stage, page: Page) -> None:
    await begun(page)
    await page.evaluate("document.querySelector('.library-line').click()")
    await page.shows("Let Zotero download the file")


async def scope(stage: Stage, page: Page) -> None:
    await begun(page)
    await page.evaluate("document.querySelector('.scope-open').click()")
    await page.shows("Sleep › Naps")


async def menu(stage: Stage, page: Page) -> None:
    await begun(page)
    await page.evaluate("(document.querySelector('.menu').open = true)")
    await page.shows("Review the plan first")


async def sessions(stage: Stage, page: Page) -> None:
    await opened(page, scenes.answered_run(stage))
    await page.evaluate("document.getElementById('menu').click()")
    await page.holds("document.querySelector('.with-sessions') !== null")


SCENES: dict[str, Callable[[Stage, Page], Awaitable[None]]] = {
    scene.__name__: scene
    for scene in (welcome, answer, checkpoint, plan, library, scope, menu, sessions)
}


async def in_full_view(page: Page) -> None:
    """What lies behind the composer now is in full view one scroll later."""
    # Still what is placed by it keeps its place.
    await page.evaluate("(document.querySelector('.composer').style.position = 'relative')")


async def violations(page: Page, axe: str, rules: Sequence[str] = RULES) -> list[Any]:
    """What axe-core finds, as `rule: the elements`."""
    if not await page.evaluate("Boolean(window.axe)"):
        await page.evaluate(f"(() => {{ {axe}; return true; }})()")
    found = await page.evaluate(
        f"axe.run(document, {{ runOnly: {json.dumps(rules)} }}).then(r => r.violations.map("
        "v => v.id + ': ' + v.nodes.map(n => n.html.slice(0, 200) + ' ' +"
        " (n.any[0]?.message ?? '')).join(' | ')))"
    )
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("scene", SCENES)
async def test_everybody_can_use_it_at_each_width_and_in_both_themes(
    scene: str,
    stage: Stage,
    entrance: Callable[[str, str], Awaitable[Page]],
    axe: str,
    album: Path,
) -> None:
    page = await entrance("chromium", HTML)
    assert isinstance(page, ChromiumPage)
    scenes.stock(stage)
    await page.resize(width=420, height=800)
    await SCENES[scene](stage, page)
    await in_full_view(page)
    for width in WIDTHS:
        for theme in ("light", "dark"):
            await page.resize(width=width, height=800)
            await page.darken(theme == "dark")
            # Colours that fade from one theme to the other are none of either.
            await page.holds(SETTLED)
            picture = await page.picture()
            (album / f"{scene}-{width}-{theme}.png").write_bytes(picture)
            # What is no colour is the same in both.
            rules = RULES if theme == "light" else COLOUR_RULES
            assert await violations(page, axe, rules) == [], (width, theme)
            fits = "document.documentElement.scrollWidth <= window.innerWidth"
            assert await page.evaluate(fits), (width, theme)
    await page.resize(width=900, height=900)
    await page.darken(False)


async def test_it_is_as_usable_in_firefox_and_as_a_strict_document(
    stage: Stage, page: Page, axe: str
) -> None:
    scenes.stock(stage)
    await answer(stage, page)
    await in_full_view(page)
    assert await violations(page, axe) == []
    await checkpoint(stage, page)
    await in_full_view(page)
    assert await violations(page, axe) == []


async def test_everything_that_can_be_pressed_is_reached_by_tab_in_reading_order(
    stage: Stage, page: Page
) -> None:
    run = scenes.waiting_run(stage, "By keyboard?")
    await opened(page, run)
    # What can be focused, in the order of the document, is what Tab reaches.
    reached = await page.evaluate(
        "[...document.querySelectorAll('a[href], button, input, select, textarea, summary')]"
        ".filter(e => !e.disabled && e.checkVisibility()).map(e => e.tabIndex)"
    )
    assert reached
    assert set(reached) == {0}


async def test_firefox_takes_the_page_as_html_too(
    stage: Stage, entrance: Callable[[str, str], Awaitable[Page]]
) -> None:
    page = await entrance("firefox", HTML)
    await opened(page, scenes.answered_run(stage, "As HTML?"))
    assert await page.evaluate("document.contentType") == "text/html"
    assert await page.evaluate("document.querySelectorAll('.answer .chip').length") == 5
