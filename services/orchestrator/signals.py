"""Hints to this process and, as far as NATS is there, to the others."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What a servicer can say to whoever works on runs."""

    work: Callable[[], Awaitable[None]]
    """A run can be taken."""
    withdrawal: Callable[[], Awaitable[None]]
    """A run may have been taken from its holder."""
    decided: Callable[[], Awaitable[None]]
    """A run can be taken, or ended, by what was written beside its holder."""
