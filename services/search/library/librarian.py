"""Whoever keeps the index in step, as the servicer sees it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from services.search.library.progress import Progress
from services.search.library.source import NoLibrary, SourceFixed
from services.search.library_state import SourceChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a library is read from."""

    kind: str
    location: str
    program: str
    """What answered at the last reading; may be empty."""
    demo: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a sync is to do beyond what changed."""

    everything: bool = False
    """Read every document again."""
    unread: bool = False
    """Read again what could not be read, or not in full."""

    def __or__(self, other: "Wish") -> "Wish":
        return Wish(
            everything=self.everything or other.everything, unread=self.unread or other.unread
        )

    @property
    def is_plain(self) -> bool:
        """Whether only changes are asked for."""
        return not self.everything and not self.unread


class Librarian(Protocol):
    """What the servicer needs of whoever keeps the index."""

    @property
    def running(self) -> Progress | None:
        """The work in hand."""

    @property
    def origin(self) -> Origin | None:
        """Where the library is read from; None when this process reads none."""

    @property
    def last_error(self) -> str:
        """Why the last sync of this process failed; empty when it did not."""

    def sync(self, wish: Wish) -> AsyncIterator[Progress]:
        """Sync, or join the sync that runs, and tell its progress; raises what made it fail."""

    def notify(self) -> None:
        """The library has just changed: look at it soon, also when a sync runs."""

    def stop(self) -> bool:
        """End the running sync where it is; False when none runs. The next one goes on there."""

    async def choose(self, choice: SourceChoice) -> None:
        """Read the library from another place from now on; raises InvalidSource, SourceFixed."""


class NoLibrarian:
    """Stands in where this process does not keep the index."""

    running: Progress | None = None
    origin: Origin | None = None
    last_error: str = ""

    def __init__(self, why: str) -> None:
        self._why = why

    async def sync(self, wish: Wish) -> AsyncIterator[Progress]:
        """Raises NoLibrary with the reason."""
        raise NoLibrary(self._why)
        yield  # makes this an iterator, as callers expect

    def notify(self) -> None:
        """Raises NoLibrary with the reason."""
        raise NoLibrary(self._why)

    def stop(self) -> bool:
        """Raises NoLibrary with the reason."""
        raise NoLibrary(self._why)

    async def choose(self, choice: SourceChoice) -> None:
        """Raises SourceFixed with the reason."""
        raise SourceFixed(self._why)
