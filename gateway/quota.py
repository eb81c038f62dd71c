"""How often a key may ask: fixed windows of a minute, an hour and a day. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

WindowName = Literal["minute", "hour", "day"]

SECONDS: Mapping[WindowName, int] = {"minute": 60, "hour": 3_600, "day": 86_400}
# Windows whose state every reply tells; the day is only told when it is used up.
TOLD: tuple[WindowName, ...] = ("minute", "hour")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """Requests that a key may make in each window."""

    minute: int
    hour: int
    day: int

    def of(self, window: WindowName) -> int:
        """The requests allowed in a window of this kind."""
        match window:
            case "minute":
                return self.minute
            case "hour":
                return self.hour
            case "day":
                return self.day


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a request is within the allowance, and what its reply says about that."""

    exceeded: WindowName | None
    retry_after_s: int
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What one key has used of its windows: when each began, and the requests since."""

    windows: Mapping[str, tuple[int, int]]

    def at(self, now: float) -> "Tally":
        """The same at a moment: windows that are over begin anew, empty."""
        begun = {name: int(now) - int(now) % length for name, length in SECONDS.items()}
        return Tally(
            windows={
                name: found
                if (found := self.windows.get(name)) is not None and found[0] == begin
                else (begin, 0)
                for name, begin in begun.items()
            }
        )


EMPTY = Tally(windows={})


def count(tally: Tally, now: float, allowance: Allowance) -> tuple[Tally, Verdict]:
    """Count one request at a moment; one that is refused is not counted."""
    current = tally.at(now)
    full = [name for name in SECONDS if current.windows[name][1] >= allowance.of(name)]
    if full:
        # The longest of them stands last: who comes back before it ends is refused again.
        ends = current.windows[full[-1]][0] + SECONDS[full[-1]]
        verdict = Verdict(
            exceeded=full[-1],
            retry_after_s=max(1, ends - int(now)),
            headers=_headers(current, allowance),
        )
        return current, verdict
    counted = Tally(
        windows={name: (begin, used + 1) for name, (begin, used) in current.windows.items()}
    )
    return counted, Verdict(exceeded=None, retry_after_s=0, headers=_headers(counted, allowance))


def _headers(tally: Tally, allowance: Allowance) -> dict[str, str]:
    told: dict[str, str] = {}
    for window in TOLD:
        left = max(0, allowance.of(window) - tally.windows[window][1])
        told[f"X-RateLimit-Limit-{window.capitalize()}"] = str(allowance.of(window))
        told[f"X-RateLimit-Remaining-{window.capitalize()}"] = str(left)
    told["X-RateLimit-Reset"] = str(tally.windows["minute"][0] + SECONDS["minute"])
    return told
