"""The review of a plan in a real browser: read, commented, changed elsewhere, approved."""

import pytest

from tests.browser import Page
from tests.fakes import page_scenes as scenes
from tests.fakes.gateway_peers import RecordedRun
from tests.fakes.gateway_stage import Stage, until
from tests.integration.page.conftest import opened

pytestmark = pytest.mark.browser

FEEDBACK = "document.querySelector('.checkpoint textarea')"


async def test_feedback_brings_the_next_version_into_the_same_card(
    stage: Stage, page: Page
) -> None:
    run = scenes.reviewed_run(stage, "Do naps help in spring?")
    stage.orchestrator.plans = lambda planned, message: scenes.planned(
        planned, 3, "Search for naps in spring.", after=message
    )
    await opened(page, run)
    await page.shows("Research plan: round 2 of 10")
    await page.shows("how long the nap was")
    # There is nothing to send yet.
    assert await page.evaluate("document.querySelector('.checkpoint .synthesize').disabled")
    await page.types(FEEDBACK, " Only spring. ")
    await page.click("Send Feedback")
    await page.shows("Research plan: round 3 of 10")
    await page.shows("Search for naps in spring.")
    await page.holds(f"{FEEDBACK}.value === '' && !{FEEDBACK}.disabled")
    # What changed can be looked at, but does not stand in the way of who asked for it.
    assert not await page.evaluate("document.querySelector('.changes').open")
    assert stage.orchestrator.decisions[-1].message == "Only spring."
    assert stage.orchestrator.decisions[-1].expected_version == 2
    await page.click("Approve and Search")
    await page.shows("Plan approved by ada")
    await page.holds("document.querySelector('.checkpoint') === null")
    assert await page.evaluate("document.querySelectorAll('.bubble').length") == 1


async def test_a_change_from_elsewhere_is_shown_as_what_changed_and_keeps_what_is_being_typed(
    stage: Stage, page: Page
) -> None:
    run = scenes.reviewed_run(stage, "Do naps help in summer?")
    await opened(page, run)
    await page.types(FEEDBACK, "Half a thought")
    await replan(stage, run, 3, "Search for reviews of naps.", "Reviews only.")
    await page.shows("Changed elsewhere since you read it: version 2 to 3")
    assert await page.evaluate("document.querySelector('.changes').open")
    await page.holds(
        "document.querySelector('.changes ins').textContent.includes('reviews') &&"
        "document.querySelector('.changes del').textContent.includes('trials')"
    )
    assert await page.evaluate(f"{FEEDBACK}.value") == "Half a thought"


async def test_a_decision_on_an_old_version_is_refused_and_the_new_one_is_shown(
    stage: Stage, page: Page
) -> None:
    run = scenes.reviewed_run(stage, "Do naps help in autumn?")
    await opened(page, run)
    await page.shows("Research plan: round 2 of 10")
    await page.types(FEEDBACK, "Autumn too")
    # It changes, and nobody told the page: the row is there, its announcement is not.
    before = len(stage.orchestrator.decisions)
    page_saw = await page.evaluate("document.querySelector('.badge').textContent")
    scenes.planned(run, 3, "Search for reviews of naps.", after="Reviews only.")
    await page.click("Send Feedback")
    await page.shows("It has changed since you read it.")
    await page.shows("Changed elsewhere since you read it: version 2 to 3")
    assert page_saw == "Research plan: round 2 of 10"
    assert stage.orchestrator.decisions[before].expected_version == 2
    # Nothing was lost, and the decision can be taken again.
    assert await page.evaluate(f"{FEEDBACK}.value") == "Autumn too"
    await page.click("Approve and Search")
    await until(lambda: stage.orchestrator.decisions[-1].expected_version == 3)
    await page.shows("Plan approved by ada")


async def test_a_definitive_plan_can_be_approved_and_not_commented(
    stage: Stage, page: Page
) -> None:
    run = stage.orchestrator.add(prompt="Do naps help in winter?")
    scenes.planned(run, 10, "The last plan.")
    await opened(page, run)
    await page.shows("Research plan: round 10 of 10")
    assert await page.evaluate(f"{FEEDBACK}.disabled")
    assert not await page.evaluate("document.querySelector('.checkpoint .extend').disabled")


async def replan(stage: Stage, run: RecordedRun, version: int, plan: str, message: str) -> None:
    """Another window sends feedback, and everybody is told of what came of it."""
    for event in scenes.planned(run, version, plan, after=message):
        await run.publish(stage.bus, event)
