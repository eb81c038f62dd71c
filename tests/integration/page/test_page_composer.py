"""Asking in a real browser: what is searched, how it is answered, stopped, asked again."""

import json

import pytest

from tests.browser import Page
from tests.fakes import page_scenes as scenes
from tests.fakes.gateway_stage import Stage, until
from tests.integration.page.conftest import begun, opened
from zocrates.events.v1 import event_pb2 as ev
from zocrates.orchestrator.v1 import chat_pb2 as chat

pytestmark = pytest.mark.browser

PROMPT = "document.getElementById('prompt')"


def choice(title: str) -> str:
    """The checkbox of a choice that shows a text."""
    return (
        "[...document.querySelectorAll('.choice')].find(c => c.checkVisibility() && "
        f"c.textContent.includes({json.dumps(title)}))?.querySelector('input')"
    )


async def ask(page: Page, text: str) -> None:
    await page.types(PROMPT, text)
    await page.evaluate(f"{PROMPT}.focus()")
    await page.presses("Enter", ctrl=True)


async def test_a_question_goes_with_the_scope_and_the_options_that_were_chosen(
    stage: Stage, page: Page
) -> None:
    scenes.stock(stage)
    await begun(page)
    await page.click("Whole library")
    await page.shows("Sleep › Naps")
    await page.shows("42 items")
    for title in ("Sleep › Naps", "to read"):
        await page.evaluate(f"{choice(title)}.click()")
    await page.evaluate("document.querySelector('dialog[open]').close()")
    await page.shows("Sleep › Naps · 7")
    await page.shows("#to read · 3")
    await page.evaluate("document.querySelector('.menu').open = true")
    await page.evaluate(f"{choice('Review the plan first')}.click()")
    await page.evaluate(f"{choice('Ask me before extending')}.click()")
    await page.shows("Options (2)")
    await ask(page, "Which choices count?")
    await until(lambda: any(t.prompt == "Which choices count?" for t in stage.orchestrator.turns))
    turn = next(t for t in stage.orchestrator.turns if t.prompt == "Which choices count?")
    assert list(turn.scope.collections.values) == ["user/SLEEP002"]
    assert list(turn.scope.tags.values) == ["to read"]
    assert (turn.options.review_plan, turn.options.hitl_enabled) == (True, False)
    # Both are remembered; taken back, nothing restricts the next question.
    await page.reload()
    await page.shows("Options (2)")
    await page.evaluate(f"document.querySelector({remove('Sleep › Naps')}).click()")
    await page.evaluate(f"document.querySelector({remove('to read')}).click()")
    await page.shows("Whole library")


def remove(title: str) -> str:
    return json.dumps(f'[aria-label="Remove {title}"]')


async def test_a_question_is_edited_and_asked_again_in_its_place(stage: Stage, page: Page) -> None:
    run = scenes.answered_run(stage, "Do naps hepl?")
    await opened(page, run)
    await page.evaluate("document.querySelector('.edit').click()")
    field = "document.querySelector('.editor textarea')"
    await page.holds(f"{field}.value === 'Do naps hepl?' && document.activeElement === {field}")
    await page.presses("Escape")
    await page.holds("document.activeElement === document.querySelector('.edit')")
    await page.evaluate("document.querySelector('.edit').click()")
    await page.types(field, "Do naps help, really?")
    before = len(stage.orchestrator.turns)
    await page.evaluate(f"{field}.focus()")
    await page.presses("Enter", ctrl=True)
    turns = stage.orchestrator.turns
    await until(lambda: len(turns) > before and turns[-1].prompt == "Do naps help, really?")
    assert run.state == chat.RUN_STATE_REWOUND
    assert turns[-1].session_id == run.session_id
    await page.holds("document.querySelectorAll('.turn').length === 1")
    await page.shows("Do naps help, really?")


async def test_stop_cancels_the_run_and_keeps_what_it_did(stage: Stage, page: Page) -> None:
    await begun(page)
    await ask(page, "Stop me?")
    await until(lambda: any(r.prompt == "Stop me?" for r in stage.orchestrator.runs.values()))
    run = next(r for r in stage.orchestrator.runs.values() if r.prompt == "Stop me?")
    await page.holds("document.querySelector('.edit')?.disabled === false")
    await page.click("Stop")
    await until(lambda: run.state == chat.RUN_STATE_CANCELLED)
    await page.shows("Cancelled")
    await page.holds("document.getElementById('send').checkVisibility()")


async def test_text_comes_as_it_is_written_and_is_replaced_by_the_checked_answer(
    stage: Stage, page: Page
) -> None:
    run = stage.orchestrator.add(prompt="How is it written?")
    await opened(page, run)
    await run.tell(stage.bus, stage=ev.StageEntered(stage=ev.STAGE_SYNTHESIZE))
    await page.shows("Writing the answer")
    for offset, piece in enumerate("**Naps** <b>help</b>"):
        await run.write(stage.bus, piece, offset=offset)
    await page.holds("document.querySelector('.writing strong')?.textContent === 'Naps'")
    await page.shows("<b>help</b>")
    await run.tell(stage.bus, answer=ev.Answered(markdown="Checked.", answered=True))
    await page.shows("Checked.")
    await page.holds("document.querySelector('.writing') === null")


async def test_a_gateway_that_goes_away_is_told_and_waited_for(stage: Stage, page: Page) -> None:
    run = scenes.waiting_run(stage, "Who is away?")
    await opened(page, run)
    await page.shows("Grant Deep Research Extension")
    # Every request fails from now on, as they do when nobody listens.
    await page.evaluate(
        "(window.reach = window.fetch, window.fetch = () => Promise.reject(new TypeError('away')))"
        " && 0"
    )
    await page.click("Grant Deep Research Extension")
    await page.shows("The gateway is away.")
    assert not any(d.run_id == run.run_id for d in stage.orchestrator.decisions)
    await page.evaluate("(window.fetch = window.reach) && 0")
    await page.shows("Extension 1 of 2 granted by ada")
