"""What a run has used: tokens and their price, summed over its calls of minds."""

import pytest

from services.orchestrator.run import Usage


def used(*calls: tuple[int, float | None]) -> Usage:
    usage = Usage(calls=3, words=500)
    for tokens, cost in calls:
        usage = usage.with_model_call(input_tokens=tokens, output_tokens=tokens // 10, cost=cost)
    return usage


@pytest.mark.parametrize(
    ("calls", "tokens", "cost"),
    [
        ([], 0, 0.0),
        ([(100, 0.25), (200, 0.5)], 300, 0.75),
        ([(0, None), (100, 0.25)], 100, 0.25),
        ([(100, None), (100, 0.25)], 200, None),
        ([(100, 0.25), (100, None), (100, 0.25)], 300, None),
    ],
)
def test_a_price_is_known_only_when_that_of_every_call_with_tokens_is(
    calls: list[tuple[int, float | None]], tokens: int, cost: float | None
) -> None:
    usage = used(*calls)
    assert (usage.input_tokens, usage.cost) == (tokens, cost)
    assert (usage.calls, usage.words) == (3, 500)
