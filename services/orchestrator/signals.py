"""Hints to this process and, as far as NATS is there, to the others."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from services.orchestrator.events import Told
from services.orchestrator.run import Claimant, ClaimedRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What a servicer can say to whoever works on runs."""

    place: Callable[[], AbstractContextManager[Claimant | None]]
    """Keeps a place for a run that the next write may give to this process."""
    taken: Callable[[ClaimedRun, Told], Awaitable[None]]
    """A write gave the run to this process, and told these events."""
    work: Callable[[], Awaitable[None]]
    """A run can be taken."""
    withdrawal: Callable[[], Awaitable[None]]
    """A run may have been taken from its holder."""
    decided: Callable[[], Awaitable[None]]
    """A run can be taken, or ended, by what was written beside its holder."""
