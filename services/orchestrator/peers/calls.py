"""One call to a peer: its deadline, its patience with an absent peer, and its errors by name."""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import grpc

from services.chassis.errors import failure_of
from services.chassis.telemetry import trace_metadata
from services.orchestrator.errors import PeerError, PeerRefused, PeerTimeout, PeerUnavailable

Reply = TypeVar("Reply")

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 1.0
# What a peer says that is going down or not there; CANCELLED comes from one that is draining.
ABSENT = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
PASSING = (*ABSENT, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.ABORTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """How long calls may take."""

    model_s: float
    silence_s: float
    other_s: float


async def patiently(
    peer: str, attempt: Callable[[], Awaitable[Reply]], *, patience_s: float
) -> Reply:
    """Try again while the peer is absent, for so long after it was last there."""
    loop = asyncio.get_running_loop()
    absent_since: float | None = None
    pause = FIRST_PAUSE_S
    while True:
        began = loop.time()
        try:
            return await attempt()
        except PeerUnavailable:
            # A call that lived for a while proves that the peer was there.
            if absent_since is None or loop.time() - began > LONGEST_PAUSE_S * 5:
                absent_since, pause = loop.time(), FIRST_PAUSE_S
            if loop.time() - absent_since + pause > patience_s:
                raise
        except PeerTimeout as error:
            if absent_since is None or loop.time() - began > LONGEST_PAUSE_S * 5:
                raise
            # The deadline ended the last of many attempts to reach it.
            raise PeerUnavailable(peer) from error
        await asyncio.sleep(pause * random.uniform(0.5, 1.0))
        pause = min(2 * pause, LONGEST_PAUSE_S)


async def unary(
    peer: str, rpc: Callable[..., Any], request: object, *, deadline_s: float
) -> Any:  # the stub's own type; the caller names it
    """Call until there is a reply or the deadline is over, retries included. Raises PeerError."""
    loop = asyncio.get_running_loop()
    until = loop.time() + deadline_s

    async def attempt() -> Any:
        try:
            return await rpc(
                request, timeout=max(0.05, until - loop.time()), metadata=trace_metadata()
            )
        except grpc.aio.AioRpcError as error:
            raise named(peer, error, deadline_s) from error

    return await patiently(peer, attempt, patience_s=deadline_s)


async def stream(
    peer: str, rpc: Callable[..., Any], request: object, *, deadlines: Deadlines
) -> AsyncGenerator[Any, None]:
    """The replies of one attempt; silence and the whole have deadlines. Raises PeerError."""
    call = rpc(request, timeout=deadlines.model_s, metadata=trace_metadata())
    watch = _Watch(call, deadlines.silence_s)
    try:
        while (reply := await watch.read()) is not grpc.aio.EOF:
            yield reply
    except asyncio.CancelledError:
        if not watch.is_silent:
            raise
        raise PeerTimeout(peer, deadlines.silence_s) from None
    except grpc.aio.AioRpcError as error:
        raise named(peer, error, deadlines.model_s) from error
    finally:
        watch.end()
        # An abandoned call would live on at the peer.
        call.cancel()


class _Watch:
    """Ends a call whose peer keeps silent too long while its next reply is waited for.

    One timer for all replies: one for each would cost more than reading them.
    """

    def __init__(self, call: Any, silence_s: float) -> None:
        self.is_silent = False
        self._call = call
        self._silence_s = silence_s
        self._loop = asyncio.get_running_loop()
        self._waits_since: float | None = None
        self._timer = self._loop.call_later(silence_s, self._look)

    async def read(self) -> Any:  # the call's own replies, or the end
        """The next reply. Cancelled when the peer is silent."""
        self._waits_since = self._loop.time()
        try:
            return await self._call.read()
        finally:
            self._waits_since = None

    def end(self) -> None:
        """Watch no longer."""
        self._timer.cancel()

    def _look(self) -> None:
        now = self._loop.time()
        waits_since = now if self._waits_since is None else self._waits_since
        left = waits_since + self._silence_s - now
        if left > 0:
            self._timer = self._loop.call_later(left, self._look)
            return
        self.is_silent = True
        self._call.cancel()


def named(peer: str, error: grpc.aio.AioRpcError, deadline_s: float) -> PeerError:
    """The failure as one of ours; what the peer itself explained is kept in its words."""
    failure = failure_of(error)
    is_explained = failure.reason != failure.code.name
    if is_explained:
        retryable = failure.code in PASSING
        return PeerRefused(peer, failure.reason, failure.message, retryable=retryable)
    if failure.code in ABSENT:
        return PeerUnavailable(peer)
    if failure.code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return PeerTimeout(peer, deadline_s)
    return PeerRefused(
        peer,
        "PEER_ERROR",
        f"The {peer} process failed; its log has the details.",
        retryable=True,
    )
