"""What a long piece of work tells those who watch it: the latest state, then the end."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from services.chassis.errors import ServiceError


class Phase(Enum):
    """Steps of a sync; the names are the wire's SyncPhase without its prefix."""

    SNAPSHOT = "snapshot"
    TEXT = "text"
    VECTORS = "vectors"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a piece of work is."""

    phase: Phase
    done: int = 0
    total: int = 0
    current: str = ""
    error: str = ""


class Board:
    """Shows progress to any number of watchers; a slow one misses states, never the last."""

    def __init__(self, first: Progress) -> None:
        self.latest = first
        self.error: ServiceError | None = None
        self.is_over = False
        self._changed = asyncio.Event()

    def show(self, **changes: Any) -> None:
        """Change some fields of the progress shown."""
        self.latest = replace(self.latest, **changes)
        self._wake()

    def close(self, error: ServiceError | None = None) -> None:
        """Say that the work is over, and why if it failed."""
        self.error = error
        self.is_over = True
        if error is not None:
            self.latest = replace(self.latest, phase=Phase.FAILED, error=error.message)
        self._wake()

    async def watch(self) -> AsyncIterator[Progress]:
        """The states as they come, until the work is over."""
        while True:
            changed = self._changed
            yield self.latest
            if self.is_over:
                return
            await changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
