"""When a process that died is started again, and when to give up; pure."""

from dataclasses import dataclass, replace

FIRST_DELAY_S = 0.25
MOST_DEATHS = 5
WINDOW_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Deaths:
    """The deaths of one process within the last minute, on a clock that only goes forward."""

    times: tuple[float, ...] = ()

    def with_another(self, now: float) -> "Deaths":
        """These deaths and one now, without those that are long ago."""
        recent = tuple(time for time in self.times if now - time < WINDOW_S)
        return replace(self, times=(*recent, now))

    @property
    def are_too_many(self) -> bool:
        """Whether another start would be pointless."""
        return len(self.times) >= MOST_DEATHS

    @property
    def delay_s(self) -> float:
        """How long to wait before the next start: doubled with each recent death."""
        return FIRST_DELAY_S * float(2 ** max(0, len(self.times) - 1))
