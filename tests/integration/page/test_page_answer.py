"""An answer in a real browser: its citations, its sources, and what can be taken along."""

import json

import pytest

from tests.browser import Page
from tests.fakes import page_scenes as scenes
from tests.fakes.gateway_stage import Stage
from tests.integration.page.conftest import opened

pytestmark = pytest.mark.browser

FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
CHIPS = "document.querySelectorAll('.answer .chip')"


async def test_a_citation_shows_its_support_its_card_and_its_passage(
    stage: Stage, page: Page
) -> None:
    await opened(page, scenes.answered_run(stage))
    assert await page.evaluate(f"[...{CHIPS}].map(c => c.className)") == [
        "chip verified",
        "chip weak",
        "chip unchecked",
        "chip verified",
        "chip unsupported",
    ]
    hovered = "new PointerEvent('pointerenter', { pointerType: 'mouse' })"
    await page.evaluate(f"{CHIPS}[1].dispatchEvent({hovered})")
    card = "document.querySelector('.hover-card')"
    await page.holds(f"!{card}.hidden && {card}.textContent.includes('Rei Tanaka')")
    assert "only the abstract was read" in await page.evaluate(f"{card}.textContent")
    await page.evaluate(f"{CHIPS}[0].click()")
    await page.holds(f"{card}.hidden")
    await page.holds("document.querySelector('dialog[open] mark') !== null")
    marked = await page.evaluate("document.querySelector('dialog[open] mark').textContent")
    assert marked.startswith("those who napped") or marked.startswith("Those who napped")


async def test_the_card_over_a_citation_stays_inside_a_narrow_page(
    stage: Stage, page: Page
) -> None:
    await opened(page, scenes.answered_run(stage))
    hovered = "new PointerEvent('pointerenter', { pointerType: 'mouse' })"
    card = "document.querySelector('.hover-card')"
    room = (
        f"(() => {{ let {{ left, right }} = {card}.getBoundingClientRect();"
        " return [left, document.documentElement.clientWidth - right].map(Math.round); })()"
    )
    try:
        for width in (900, 300):
            await page.resize(width=width, height=800)
            # Made for another width, it is gone.
            await page.holds(f"{card}.hidden && window.innerWidth === {width}")
            await page.evaluate(f"{CHIPS}[4].scrollIntoView({{ block: 'center' }})")
            # Scrolling, which is told with the next frame, takes it away.
            await page.evaluate(FRAMES)
            await page.evaluate(f"{CHIPS}[4].dispatchEvent({hovered})")
            await page.holds(f"!{card}.hidden")
            assert min(await page.evaluate(room)) >= 0
    finally:
        await page.resize(width=900, height=900)


async def test_the_evidence_is_drawn_by_paper_and_by_section(stage: Stage, page: Page) -> None:
    await opened(page, scenes.answered_run(stage))
    await page.evaluate("(document.querySelector('.evidence').open = true)")
    await page.holds("document.querySelectorAll('.chart li').length === 3")
    await page.holds("document.querySelector('.chart-sections').textContent.includes('Methods')")
    assert await page.evaluate("document.querySelectorAll('.chart rect.cited').length") == 4


async def test_an_answer_is_copied_as_markdown_bibtex_and_csl(stage: Stage, page: Page) -> None:
    await opened(page, scenes.answered_run(stage))
    # The clipboard of a browser without a screen gives nothing back: what is put there is kept.
    await page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', { configurable: true, value: "
        "{ writeText: async (text) => { window.copied = text; } } }) && 0"
    )
    for button, begins in {
        "Copy Markdown": "# Do naps help memory",
        "Copy BibTeX": "@misc{iglesias2020",
        "Copy CSL": '[\n  {\n    "id": "user/NAPS2020"',
    }.items():
        await page.click(button)
        await page.holds(f"window.copied?.startsWith({json.dumps(begins)})")
    await page.shows("Copied.")
    # A browser cannot write into Zotero, so that is not offered.
    assert "Save as note" not in await page.evaluate("document.body.innerText")


async def test_the_work_is_one_line_and_the_reasoning_closed_until_somebody_wants_them(
    stage: Stage, page: Page
) -> None:
    await opened(page, scenes.answered_run(stage))
    await page.shows("3 calls · 1,520 words read · 9 of 12 passages kept")
    folded = "['.work', '.thoughts'].every(s => !document.querySelector(s).open)"
    assert await page.evaluate(folded)
    assert "First trials, then" not in await page.evaluate("document.body.innerText")
