"""Bounded waiting between attempts."""

import asyncio
import time
from dataclasses import dataclass

FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 3.0


@dataclass(slots=True)
class Patience:
    """Waits longer before each attempt, and is renewed whenever something arrives."""

    limit_s: float
    _since: float | None = None
    _pause_s: float = FIRST_PAUSE_S

    def renew(self) -> None:
        """Something arrived: begin anew."""
        self._since, self._pause_s = None, FIRST_PAUSE_S

    async def pause(self, error: Exception, *, at_least_s: float = 0.0) -> None:
        """Wait before the next attempt; raises the error of the last one when patience is over."""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        pause_s = max(self._pause_s, at_least_s)
        if now + pause_s - self._since > self.limit_s:
            raise error
        await asyncio.sleep(pause_s)
        self._pause_s = min(self._pause_s * 2, LONGEST_PAUSE_S)
