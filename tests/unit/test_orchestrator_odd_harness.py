"""The rules of a search under numbers that nobody would choose first."""

from dataclasses import replace
from typing import Any

import pytest

from services.orchestrator.ceilings import (
    Ceilings,
    Harness,
    admit,
    harness_from,
    notice,
)
from services.orchestrator.options import Options, ReviewTimes, Wishes, clamp
from services.orchestrator.trigger import (
    CallOutcome,
    CallRecord,
    Ending,
    Report,
    Turn,
    checkpoint,
    ending,
    turn_limit,
)

GAPS = Report(
    summary="",
    gaps=("memory",),
    automatic=False,
    reason="",
    ending=Ending.CONCLUDED,
    asked=True,
)
TIMES = ReviewTimes(longest_s=60, default_s=None)
NEW = Turn(calls=(CallRecord(outcome=CallOutcome.NEW),))


def told(call_number: int, words: int, limits: Ceilings, ratio: float = 0.8) -> str:
    return notice(
        call_number=call_number,
        words_used=words,
        ceilings=limits,
        soft_word_ratio=ratio,
        cut=False,
    )


@pytest.mark.parametrize(
    "numbers",
    [
        {"max_extensions": 0},
        {"hitl_enabled": False},
        {"max_extensions": 0, "hitl_enabled": False},
    ],
)
def test_a_configuration_without_extensions_never_asks(numbers: dict[str, Any]) -> None:
    options, warnings = clamp(harness_from(numbers), Wishes(), TIMES)
    assert checkpoint(GAPS, options, extensions_used=0) is None
    # Nobody asked for more than there is, so there is nothing to tell.
    assert warnings == ()


@pytest.mark.parametrize(
    ("numbers", "asked", "applied", "says"),
    [
        ({"max_extensions": 0}, {"max_extensions": 1}, (0, True), ["from 1 to the configured 0"]),
        ({"max_extensions": 1}, {"max_extensions": 0}, (0, True), []),
        ({"max_extensions": 1}, {"max_extensions": 1}, (1, True), []),
        ({"hitl_enabled": False}, {"hitl_enabled": True}, (2, False), ["hitl_enabled was set"]),
        ({"hitl_enabled": False}, {"hitl_enabled": False}, (2, False), []),
        (
            {"max_extensions": 1, "hitl_enabled": False},
            {"max_extensions": 9, "hitl_enabled": True},
            (1, False),
            ["from 9 to the configured 1", "hitl_enabled was set"],
        ),
    ],
)
def test_what_a_request_may_not_raise_is_lowered_and_told(
    numbers: dict[str, Any], asked: dict[str, Any], applied: tuple[int, bool], says: list[str]
) -> None:
    options, clamps = clamp(harness_from(numbers), Wishes(**asked), TIMES)
    assert options == Options(max_extensions=applied[0], hitl_enabled=applied[1])
    assert len(clamps) == len(says)
    assert all(text in one.message for text, one in zip(says, clamps, strict=True))


@pytest.mark.parametrize("extensions", [0, 1, 3, 10])
def test_the_last_extension_is_a_hard_stop_whatever_the_number(extensions: int) -> None:
    options, _ = clamp(Harness(max_extensions=extensions), Wishes(), TIMES)
    asked = [
        used for used in range(extensions + 2) if checkpoint(GAPS, options, extensions_used=used)
    ]
    assert asked == list(range(extensions))


def test_increments_may_be_nothing_or_large() -> None:
    still = Harness(budget_increment=0, word_increment=0, chunk_increment=0, token_increment=0)
    assert still.ceilings(2) == still.ceilings(0)
    large = replace(Harness(), budget_increment=1_000, word_increment=1_000_000)
    assert large.ceilings(2) == Ceilings(
        calls=2_010, words=2_007_500, passages=25, tokens=1_000_000
    )


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
def test_warnings_come_with_the_last_two_calls_however_few_there_are(limit: int) -> None:
    limits = Ceilings(calls=limit, words=7_500, passages=15)
    warned = [number for number in range(1, limit + 1) if told(number, 0, limits)]
    assert warned == list(range(max(1, limit - 1), limit + 1))
    assert "no call is left" in told(limit, 0, limits)
    assert admit([True] * (limit + 2), used=0, limit=limit, words_spent=False) == (
        *range(1, limit + 1),
        0,
        0,
    )
    assert turn_limit(limits) == 2 * limit + 3
    turns = [NEW] * turn_limit(limits)
    assert (ending(turns[:-1], limits), ending(turns, limits)) == (None, Ending.TURNS)


@pytest.mark.parametrize(
    ("ratio", "words", "is_told"),
    [
        (1.0, 999, False),
        (1.0, 1_000, True),
        (0.8, 799, False),
        (0.8, 800, True),
        (0.001, 0, False),
        (0.001, 1, True),
        # 0.29 of 100 is a little less than 29 to a computer, and 0.57 of 100 a little less than 57.
        (0.57, 569, False),
        (0.57, 570, True),
    ],
)
def test_the_share_of_words_that_warns_may_be_any(ratio: float, words: int, is_told: bool) -> None:
    limits = Ceilings(calls=10, words=1_000, passages=15)
    assert bool(told(1, words, limits, ratio)) is is_told
