"""Whether what was sampled for a long time stayed as it was. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

# The share of the time after which nothing grows any more: caches are full, pools are open, and of
# half an hour the fifteen minutes are over for which NATS keeps pieces of answers in memory.
WARM_UP = 1 / 2
# Of the level after the warm-up.
MOST_GROWTH = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Levels of one number: the first and the last quarter of the time after the warm-up."""

    before: float
    after: float

    @property
    def growth(self) -> float:
        """Growth as a share of the level before."""
        return (self.after - self.before) / self.before if self.before else 0.0

    def is_flat(self, slack: float) -> bool:
        """Whether it did not grow by more than the share that is allowed and some slack."""
        return self.after <= self.before * (1 + MOST_GROWTH) + slack


def trend(samples: Sequence[float]) -> Trend:
    """The trend of samples that were taken at a steady rate; five or more."""
    warm = samples[int(len(samples) * WARM_UP) :]
    quarter = len(warm) // 4
    if quarter == 0:
        raise ValueError(f"{len(samples)} samples are too few to see a trend.")
    return Trend(before=median(warm[:quarter]), after=median(warm[-quarter:]))
