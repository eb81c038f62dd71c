"""The page's checkpoint card in a real browser, against a real gateway."""

import pytest

from tests.browser import Page
from tests.fakes.gateway_peers import RecordedRun, question
from tests.fakes.gateway_stage import Stage, until
from tests.integration.page.conftest import opened
from zocrates.events.v1 import event_pb2 as ev
from zocrates.orchestrator.v1 import chat_pb2 as chat

pytestmark = pytest.mark.browser

EXTEND = "Grant Deep Research Extension"
SYNTHESIZE = "Synthesize Response with Existing Evidence"
SEARCHING = {"stage": ev.StageEntered(stage=ev.STAGE_SEARCH)}
ANSWER = {"answer": ev.Answered(markdown="Naps help.", answered=True)}
FAILURE = {"error": ev.Failed(code="PEER_TIMEOUT", message="It was too slow.", retryable=True)}


def waiting(stage: Stage, prompt: str) -> RecordedRun:
    run = stage.orchestrator.add(prompt=prompt)
    run.record(**SEARCHING)
    run.record(request_input=question())
    return run


async def test_a_decision_is_sent_once_and_the_answer_comes_into_the_same_bubble(
    stage: Stage, page: Page
) -> None:
    before = len(stage.orchestrator.decisions)
    run = waiting(stage, "Do naps help?")
    await opened(page, run)
    await page.shows("Deep Research: Extension 1 of 2")
    await page.shows("+5 calls, +3,750 words, +5 passages")
    await page.shows("Older adults")
    await page.evaluate("document.querySelector('.checkpoint textarea').value = ' Table 3 '")
    await page.evaluate(
        "(() => { let b = document.querySelector('.extend'); b.click(); b.click(); })()"
    )
    await page.shows("Extension 1 of 2 granted by ada")
    await page.holds("document.querySelector('.checkpoint') === null")
    [decision] = stage.orchestrator.decisions[before:]
    assert (decision.guidance, decision.expected_version) == ("Table 3", 1)
    await run.tell(stage.bus, request_input=question(2))
    await page.shows("Deep Research: Extension 2 of 2")
    await page.click(SYNTHESIZE)
    await until(lambda: len(stage.orchestrator.decisions) == before + 2)
    await run.tell(stage.bus, **ANSWER)
    await page.shows("Naps help.")
    assert await page.evaluate("document.querySelectorAll('.bubble').length") == 1
    assert "elsewhere" not in await page.evaluate("document.body.innerText")


async def test_a_checkpoint_is_there_again_after_a_reload(stage: Stage, page: Page) -> None:
    run = waiting(stage, "Which dose?")
    await opened(page, run)
    await page.shows(EXTEND)
    await page.reload()
    await page.shows(EXTEND)
    assert await page.evaluate("document.getElementById('send').disabled")


async def test_a_decision_from_elsewhere_takes_the_card_away_and_says_so(
    stage: Stage, page: Page
) -> None:
    run = waiting(stage, "Which hour?")
    await opened(page, run)
    await page.shows(EXTEND)
    run.answer("synthesize", by="bob")
    await run.publish(stage.bus, run.events[-1])
    await page.shows("answered with the existing evidence by bob, elsewhere")
    await page.holds("document.querySelector('.checkpoint') === null")


async def test_a_run_is_cancelled_and_goes_on(stage: Stage, page: Page) -> None:
    run = waiting(stage, "Which age?")
    await opened(page, run)
    await page.click("Cancel")
    await until(lambda: run.state == chat.RUN_STATE_CANCELLED)
    # Of a run that waits, only what is published comes at once.
    await run.publish(stage.bus, run.events[-1])
    await page.shows("Cancelled")
    await page.holds("document.querySelector('.checkpoint') === null")
    await page.click("Continue this run")
    await until(lambda: run.events[-1].run_state.change == ev.RUN_STATE_CHANGE_RETRIED)
    await run.tell(stage.bus, **ANSWER)
    await page.shows("Naps help.")


async def test_a_failed_run_goes_on(stage: Stage, page: Page) -> None:
    run = stage.orchestrator.add(prompt="Which method?")
    run.record(**FAILURE)
    await opened(page, run)
    await page.shows("It was too slow.")
    await page.click("Continue this run")
    await page.holds("!document.body?.innerText.includes('It was too slow.')")
    await run.tell(stage.bus, **ANSWER)
    await page.shows("Naps help.")


async def test_a_question_is_taken_back_after_asking_again(stage: Stage, page: Page) -> None:
    run = waiting(stage, "Which country?")
    await opened(page, run)
    await page.click("Take back")
    await page.shows("Take this question back?")
    await page.click("Take back")
    await page.holds("document.querySelector('.turn') === null")
    assert await page.evaluate("document.getElementById('prompt').value") == "Which country?"
    assert not await page.evaluate("document.getElementById('send').disabled")
