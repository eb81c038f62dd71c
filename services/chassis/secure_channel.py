"""A channel over TLS whose own certificate may be renewed while it is open."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import grpc

from services.chassis.identity import Identity, Renewed

LOOK_EVERY_S = 1.0
# Longer than any call lasts that is not a stream of progress.
LEAVE_S = 600.0

Open = Callable[[grpc.ChannelCredentials], grpc.aio.Channel]


class SecureChannel(grpc.aio.Channel):
    """Makes each call over a channel with the papers of the moment.

    A channel keeps what it was opened with, so that with other papers another one is opened; calls
    that are under way end on the former.
    """

    def __init__(self, identity: Identity, open_with: Open) -> None:
        """Raises IdentityUnusable."""
        self._renewed = Renewed(identity)
        self._open_with = open_with
        self._current = self._opened()
        self._looked_at = time.monotonic()
        self._leaving: set[asyncio.Task[None]] = set()

    def current(self) -> grpc.aio.Channel:
        """The channel for the next call."""
        now = time.monotonic()
        if now - self._looked_at >= LOOK_EVERY_S:
            self._looked_at = now
            if self._renewed.look():
                former, self._current = self._current, self._opened()
                leaving = asyncio.ensure_future(former.close(LEAVE_S))
                self._leaving.add(leaving)
                leaving.add_done_callback(self._leaving.discard)
        return self._current

    def _opened(self) -> grpc.aio.Channel:
        papers = self._renewed.papers
        return self._open_with(
            grpc.ssl_channel_credentials(papers.authority, papers.key, papers.certificate)
        )

    def unary_unary(self, *words: Any, **named: Any) -> Any:
        """A call with one request and one reply."""
        return lambda *call, **more: self.current().unary_unary(*words, **named)(*call, **more)

    def unary_stream(self, *words: Any, **named: Any) -> Any:
        """A call with one request and a stream of replies."""
        return lambda *call, **more: self.current().unary_stream(*words, **named)(*call, **more)

    def stream_unary(self, *words: Any, **named: Any) -> Any:
        """A call with a stream of requests and one reply."""
        return lambda *call, **more: self.current().stream_unary(*words, **named)(*call, **more)

    def stream_stream(self, *words: Any, **named: Any) -> Any:
        """A call with streams both ways."""
        return lambda *call, **more: self.current().stream_stream(*words, **named)(*call, **more)

    async def __aenter__(self) -> "SecureChannel":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self, grace: float | None = None) -> None:
        """Close it, and what is left of the former ones."""
        for leaving in list(self._leaving):
            leaving.cancel()
        await asyncio.gather(*self._leaving, return_exceptions=True)
        await self._current.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """Whether it is connected."""
        return self.current().get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Wait until that changes."""
        await self.current().wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Wait until it is connected."""
        await self.current().channel_ready()
