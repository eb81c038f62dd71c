"""What counts as flat in the long run."""

import pytest

from tests.soak.trend import trend


@pytest.mark.parametrize(
    ("samples", "growth", "is_flat"),
    [
        ([100.0] * 12, 0.0, True),
        # What grows while it warms up is no leak.
        ([10, 50, 80, 95, 100, 100, 100, 100, 100, 100, 100, 100], 0.0, True),
        ([100 + 0.1 * n for n in range(120)], 0.042, False),
        # A moment is no trend.
        ([100.0] * 30 + [400.0] + [100.0] * 29, 0.0, True),
        ([200 - n for n in range(60)], -0.138, True),
        ([0.0] * 12, 0.0, True),
    ],
)
def test_growth_after_the_warm_up_is_seen(
    samples: list[float], growth: float, is_flat: bool
) -> None:
    seen = trend(samples)
    assert seen.growth == pytest.approx(growth, abs=0.01)
    assert seen.is_flat(slack=0) == is_flat


def test_slack_is_for_small_numbers() -> None:
    seen = trend([10.0] * 12 + [12.0] * 4)
    assert not seen.is_flat(slack=0)
    assert seen.is_flat(slack=2)


def test_a_few_samples_show_no_trend() -> None:
    with pytest.raises(ValueError, match="too few"):
        trend([1.0] * 4)
