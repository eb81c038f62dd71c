"""The client for programs without an event loop: each call runs one of its own to the end."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from types import TracebackType
from typing import Any, Self, TypeVar

from gateway.client import Client
from gateway.location import Location

T = TypeVar("T")
Event = TypeVar("Event")


class BlockingClient:
    """Use it as a context manager, outside of any event loop.

    `client.call(lambda it: it.tasks.submit("…"))` gives what the coroutine returns, and
    `client.each(lambda it: it.ask("…"))` what the stream holds, both as typed there.
    """

    def __init__(self, location: Location) -> None:
        self._client = Client(location)
        self._runner = asyncio.Runner()

    def __enter__(self) -> Self:
        self._runner.__enter__()
        self._runner.run(self._client.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._runner.run(self._client.__aexit__(kind, error, trace))
        finally:
            self._runner.close()

    def call(self, work: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        """What a call of the client comes to."""
        return self._runner.run(work(self._client))

    def each(
        self, stream: Callable[[Client], AsyncGenerator[Event, None]]
    ) -> Generator[Event, None, None]:
        """The events of one of the client's streams, as they come."""
        events = stream(self._client)
        try:
            while (reached := self._runner.run(_next(events))) is not None:
                yield reached
        finally:
            self._runner.run(events.aclose())


async def _next(events: AsyncGenerator[Event, None]) -> Event | None:
    return await anext(events, None)
