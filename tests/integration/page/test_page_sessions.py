"""The page's list of sessions in a real browser: found, renamed and deleted, also by keyboard."""

import json

import pytest

from tests.browser import Page
from tests.fakes.gateway_peers import RecordedRun
from tests.fakes.gateway_stage import Stage, until
from tests.integration.page.conftest import opened
from zocrates.events.v1 import event_pb2 as ev

pytestmark = pytest.mark.browser

ANSWER = {"answer": ev.Answered(markdown="Naps help.", answered=True)}


def answered(stage: Stage, prompt: str) -> RecordedRun:
    run = stage.orchestrator.add(prompt=prompt)
    run.record(**ANSWER)
    return run


def tool(word: str, title: str) -> str:
    selector = f'[aria-label="{word} “{title}”"]'
    return f"document.querySelector({json.dumps(selector)})"


async def test_a_session_is_renamed_where_it_stands(stage: Stage, page: Page) -> None:
    run = answered(stage, "Do naps help?")
    await opened(page, run)
    await page.evaluate(f"{tool('Rename', 'Do naps help?')}.click()")
    # The title is there to change and has the focus.
    await page.holds("document.activeElement.value === 'Do naps help?'")
    await page.presses("Escape")
    await page.holds(f"document.activeElement === {tool('Rename', 'Do naps help?')}")
    await page.evaluate("document.activeElement.click()")
    await page.types("document.activeElement", "Über <b>Schlaf</b>")
    await page.click("Save")
    await page.shows("Über <b>Schlaf</b>")
    assert stage.orchestrator.titles[run.session_id] == "Über <b>Schlaf</b>"


async def test_a_refused_title_stays_to_be_mended(stage: Stage, page: Page) -> None:
    run = answered(stage, "Which hour?")
    await opened(page, run)
    await page.evaluate(f"{tool('Rename', 'Which hour?')}.click()")
    await page.types("document.querySelector('.session-doing input')", "   ")
    await page.click("Save")
    await page.shows("The field 'title'")
    assert await page.evaluate("document.querySelector('.session-doing input').value") == "   "
    assert run.session_id not in stage.orchestrator.titles


async def test_a_session_is_deleted_only_after_a_second_yes(stage: Stage, page: Page) -> None:
    run = answered(stage, "Which dose?")
    await opened(page, run)
    await page.evaluate(f"{tool('Delete', 'Which dose?')}.click()")
    await page.shows("Nothing brings it back.")
    # Enter on what has the focus does no harm.
    await page.holds("document.activeElement.textContent === 'Keep'")
    await page.evaluate("document.activeElement.click()")
    assert run.run_id in stage.orchestrator.runs
    await page.evaluate(f"{tool('Delete', 'Which dose?')}.click()")
    await page.click("Delete")
    await until(lambda: run.run_id not in stage.orchestrator.runs)
    # It was the open one: the page is ready for another question.
    await page.holds("document.querySelector('.turn') === null && location.hash === ''")
    await page.holds(f"{tool('Delete', 'Which dose?')} === null")


async def test_a_session_deleted_elsewhere_says_so_and_frees_the_page(
    stage: Stage, page: Page
) -> None:
    run = stage.orchestrator.add(prompt="Which age?")
    await opened(page, run)
    await stage.http.delete(f"/sessions/{run.session_id}")
    await page.shows("This session was deleted")
    await page.holds("document.getElementById('send').checkVisibility()")
    assert not await page.evaluate("document.body.innerText.includes('Take back')")


async def test_sessions_are_found_by_words_of_their_title(stage: Stage, page: Page) -> None:
    run = answered(stage, "Zebra stripes?")
    await opened(page, answered(stage, "Other things?"))
    await page.types("document.querySelector('.session-search')", "zebra")
    await page.holds("document.querySelectorAll('.session').length === 1")
    await page.shows(run.prompt)
    await page.types("document.querySelector('.session-search')", "unicorn")
    await page.shows("No title holds these words.")
    await page.types("document.querySelector('.session-search')", "")
    await page.holds("document.querySelectorAll('.session').length > 1")


async def test_a_session_opens_before_the_library_has_told_its_state(
    stage: Stage, page: Page
) -> None:
    run = answered(stage, "Is it busy?")
    stage.library.speaks.clear()
    try:
        await opened(page, run)
        line = "document.querySelector('.library-line').textContent"
        assert await page.evaluate(line) == "Library…"
    finally:
        stage.library.speaks.set()
