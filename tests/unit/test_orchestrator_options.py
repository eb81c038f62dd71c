"""What a request may choose: never more than is configured, and every clamp is told."""

import json
from dataclasses import asdict

import pytest

from services.orchestrator.ceilings import Harness
from services.orchestrator.options import (
    Clamp,
    Options,
    ReviewTimes,
    Strategy,
    Wishes,
    clamp,
    harness_for,
    options_from_json,
)

TIMES = ReviewTimes(longest_s=3_600, default_s=900)


@pytest.mark.parametrize(
    ("asked", "hitl", "applied", "clamped"),
    [
        (None, None, Options(max_extensions=2, hitl_enabled=True), []),
        (1, False, Options(max_extensions=1, hitl_enabled=False), []),
        (2, True, Options(max_extensions=2, hitl_enabled=True), []),
        (9, True, Options(max_extensions=2, hitl_enabled=True), ["MAX_EXTENSIONS_CLAMPED"]),
    ],
)
def test_a_request_may_lower_options_and_a_clamp_is_told(
    asked: int | None, hitl: bool | None, applied: Options, clamped: list[str]
) -> None:
    options, clamps = clamp(Harness(), Wishes(max_extensions=asked, hitl_enabled=hitl), TIMES)
    assert options == applied
    assert [one.code for one in clamps] == clamped


def test_checkpoints_that_are_off_cannot_be_switched_on_by_a_request() -> None:
    options, clamps = clamp(Harness(hitl_enabled=False), Wishes(hitl_enabled=True), TIMES)
    assert not options.hitl_enabled
    assert [one.field for one in clamps] == ["hitl_enabled"]


@pytest.mark.parametrize(
    ("given", "applied"), [(None, 900), (0, 900), (-3, 900), (1_800, 1_800), (3_600, 3_600)]
)
def test_a_review_waits_as_long_as_it_was_given(given: float | None, applied: float) -> None:
    options, clamps = clamp(Harness(), Wishes(review_plan=True, review_timeout_s=given), TIMES)
    assert options.review_timeout_s == applied
    assert clamps == ()


def test_a_review_that_would_wait_too_long_is_told_how_long_it_does() -> None:
    wishes = Wishes(review_plan=True, review_timeout_s=7_200)
    options, (told,) = clamp(Harness(), wishes, TIMES)
    assert options.review_timeout_s == 3_600
    assert told == Clamp(
        code="REVIEW_TIMEOUT_CLAMPED",
        field="review_timeout",
        given="7200",
        used="3600",
        message="review_timeout was lowered from 7200 s to the configured 3600 s.",
    )


def test_a_quick_run_has_half_of_the_first_pass_and_no_extension() -> None:
    quick = harness_for(Harness(), Strategy.QUICK).ceilings(0)
    assert (quick.calls, quick.words, quick.passages) == (5, 3_750, 8)
    options, clamps = clamp(Harness(), Wishes(strategy=Strategy.QUICK, max_extensions=1), TIMES)
    assert options.max_extensions == 0
    assert [(one.given, one.used) for one in clamps] == [("1", "0")]


@pytest.mark.parametrize("strategy", [Strategy.STANDARD, Strategy.DEEP, Strategy.ACADEMIC])
def test_any_other_run_has_the_configured_numbers(strategy: Strategy) -> None:
    assert harness_for(Harness(), strategy) == Harness()


@pytest.mark.parametrize(
    ("strategy", "extends", "checks", "drops"),
    [
        (Strategy.QUICK, False, False, False),
        (Strategy.STANDARD, False, True, False),
        (Strategy.DEEP, True, True, False),
        (Strategy.ACADEMIC, True, True, True),
    ],
)
def test_a_strategy_says_what_a_run_does_by_itself(
    strategy: Strategy, extends: bool, checks: bool, drops: bool
) -> None:
    options = Options(max_extensions=2, hitl_enabled=False, strategy=strategy)
    assert (options.extends_itself, options.checks_support, options.drops_unsupported) == (
        extends,
        checks,
        drops,
    )


def test_options_survive_their_run_s_row() -> None:
    options = Options(
        max_extensions=1,
        hitl_enabled=False,
        strategy=Strategy.ACADEMIC,
        review_plan=True,
        review_timeout_s=5,
        complexity=0.5,
        consent_tools=["read_document"],
    )
    assert options_from_json(json.loads(json.dumps(asdict(options)))) == options


def test_the_row_of_an_older_run_has_fewer_options() -> None:
    assert options_from_json({"max_extensions": 1, "hitl_enabled": True}) == Options(
        max_extensions=1, hitl_enabled=True
    )
