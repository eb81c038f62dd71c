"""Windows of a minute, an hour and a day, and what replies say about them."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.quota import EMPTY, SECONDS, Allowance, Tally, count

MIDNIGHT = 1_800_057_600.0  # a multiple of a day
SMALL = Allowance(minute=2, hour=3, day=4)


def spend(tally: Tally, now: float, times: int, allowance: Allowance = SMALL) -> Tally:
    for _ in range(times):
        tally, verdict = count(tally, now, allowance)
        assert verdict.exceeded is None
    return tally


def test_a_reply_tells_what_is_left_of_the_minute_and_the_hour() -> None:
    _, verdict = count(EMPTY, MIDNIGHT + 7.5, SMALL)
    assert verdict.headers == {
        "X-RateLimit-Limit-Minute": "2",
        "X-RateLimit-Remaining-Minute": "1",
        "X-RateLimit-Limit-Hour": "3",
        "X-RateLimit-Remaining-Hour": "2",
        "X-RateLimit-Reset": str(int(MIDNIGHT) + 60),
    }


def test_one_more_than_a_minute_allows_waits_for_the_next_minute() -> None:
    full = spend(EMPTY, MIDNIGHT + 10, 2)
    after, verdict = count(full, MIDNIGHT + 40, SMALL)
    assert (verdict.exceeded, verdict.retry_after_s) == ("minute", 20)
    assert verdict.headers["X-RateLimit-Remaining-Minute"] == "0"
    _, verdict = count(after, MIDNIGHT + 60, SMALL)
    assert verdict.exceeded is None


def test_the_longest_window_that_is_used_up_is_told() -> None:
    hour = spend(spend(EMPTY, MIDNIGHT, 2), MIDNIGHT + 60, 1)
    _, verdict = count(hour, MIDNIGHT + 120, SMALL)
    assert (verdict.exceeded, verdict.retry_after_s) == ("hour", 3_480)
    day = spend(hour, MIDNIGHT + 3_600, 1)
    _, verdict = count(day, MIDNIGHT + 7_200, SMALL)
    assert (verdict.exceeded, verdict.retry_after_s) == ("day", 79_200)


def test_a_refused_request_uses_nothing_up() -> None:
    full = spend(EMPTY, MIDNIGHT, 2)
    for _ in range(10):
        full, verdict = count(full, MIDNIGHT, SMALL)
        assert verdict.exceeded == "minute"
    assert full.windows["hour"] == (int(MIDNIGHT), 2)


def test_a_wait_is_never_shorter_than_a_second() -> None:
    _, verdict = count(spend(EMPTY, MIDNIGHT, 2), MIDNIGHT + 59.999, SMALL)
    assert verdict.retry_after_s == 1


@given(
    gaps=st.lists(st.floats(min_value=0, max_value=4_000, allow_nan=False), max_size=60),
    allowance=st.builds(
        Allowance,
        minute=st.integers(1, 5),
        hour=st.integers(1, 9),
        day=st.integers(1, 20),
    ),
)
def test_no_window_ever_lets_more_in_than_it_allows(
    gaps: list[float], allowance: Allowance
) -> None:
    now, tally, let_in = MIDNIGHT, EMPTY, []
    for gap in gaps:
        now += gap
        tally, verdict = count(tally, now, allowance)
        if verdict.exceeded is None:
            let_in.append(now)
        for name, length in SECONDS.items():
            begin = now - now % length
            inside = [moment for moment in let_in if moment >= begin]
            assert len(inside) <= allowance.of(name)
