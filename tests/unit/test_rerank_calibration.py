"""Calibration: which model may call a claim verified."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from services.rerank.calibration import (
    CalibratedScorer,
    Calibration,
    calibrated,
    load_calibrations,
    stretched,
)
from services.rerank.scoring import Identity, Kind, Pair

GOOD = Calibration(
    model="judge",
    source="some claims",
    threshold=0.8,
    precision=0.93,
    recall=0.4,
    contradictions=0.06,
    without_evidence=0.02,
)
PAIRS = [Pair("a claim", "a text"), Pair("a claim", "another")]


class Judge:
    """Gives scores that the test sets."""

    identity = Identity(
        model="judge",
        kind=Kind.CROSS_ENCODER,
        description="A judge.",
        calibrated=False,
        share=0.5,
    )

    def relevance(self, pairs: Sequence[Pair]) -> list[float]:
        return [3.5] * len(pairs)

    def support(self, pairs: Sequence[Pair]) -> list[float]:
        return [0.8, 0.4][: len(pairs)]


@pytest.mark.parametrize(
    ("precision", "contradictions", "passed"),
    [(0.90, 0.10, True), (0.89, 0.0, False), (1.0, 0.11, False), (0.5, 0.5, False)],
)
def test_a_model_passes_when_both_figures_are_good_enough(
    precision: float, contradictions: float, passed: bool
) -> None:
    assert replace(GOOD, precision=precision, contradictions=contradictions).passed is passed


def test_a_passed_model_may_verify_and_its_threshold_is_at_one_half() -> None:
    scorer = calibrated(Judge(), [GOOD])
    assert scorer.identity.calibrated
    assert scorer.support(PAIRS) == pytest.approx([0.5, 0.25])
    assert scorer.relevance(PAIRS) == [3.5, 3.5]


def test_a_model_that_did_not_pass_keeps_its_scores_and_says_its_figures() -> None:
    scorer = calibrated(Judge(), [replace(GOOD, precision=0.62)])
    assert not scorer.identity.calibrated
    assert "has not passed" in scorer.identity.description
    assert "62%" in scorer.identity.description
    assert scorer.support(PAIRS) == [0.8, 0.4]


def test_a_model_without_figures_of_its_own_is_left_as_it_is() -> None:
    judge = Judge()
    assert calibrated(judge, [replace(GOOD, model="another")]) is judge
    assert isinstance(calibrated(judge, [GOOD]), CalibratedScorer)


@pytest.mark.parametrize("threshold", [0.01, 0.5, 0.99, 1.0])
def test_stretching_keeps_the_order_and_the_ends(threshold: float) -> None:
    scores = [0.0, threshold / 2, threshold, 1.0]
    assert [stretched(score, threshold) for score in scores] == sorted(
        stretched(score, threshold) for score in scores
    )
    assert stretched(0.0, threshold) == 0
    assert stretched(threshold, threshold) >= 0.5
    assert stretched(1.0, threshold) == 1


def test_the_figures_that_are_kept_can_be_read() -> None:
    for one in load_calibrations():
        assert 0 < one.threshold <= 1
        assert one.source
