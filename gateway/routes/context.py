"""What the routes work with, and who calls them."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Annotated

import grpc
from fastapi import Depends, Header, Request

from gateway.auth import Caller, PageLinks
from gateway.feed import Feed
from gateway.follow import Follower
from gateway.limiter import Limiter
from gateway.metrics import Metrics
from gateway.peers import Orchestrator, Search
from gateway.settings import Settings
from gateway.streaming import EventStream


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The process's parts."""

    settings: Settings
    stop: asyncio.Event
    metrics: Metrics
    orchestrator: Orchestrator
    search: Search
    channels: Mapping[str, grpc.aio.Channel]
    feed: Feed
    follower: Follower
    links: PageLinks
    limiter: Limiter

    def stream(self, frames: AsyncGenerator[bytes, None]) -> EventStream:
        """Frames as a reply."""
        return EventStream(
            frames, stop=self.stop, ping_s=self.settings.ping_s, metrics=self.metrics
        )


def _context(request: Request) -> Context:
    context: Context = request.app.state.context
    return context


def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


IdempotencyKey = Annotated[
    str | None,
    Header(
        pattern=r"^[!-~]{1,200}$",
        description="The same request under the same key attaches to the same run.",
    ),
]
InContext = Annotated[Context, Depends(_context)]
CalledBy = Annotated[Caller, Depends(_caller)]
