"""What the routes work with, and who calls them."""

import asyncio
import math
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
from gateway.model_peers import Models
from gateway.peers import Orchestrator, Search
from gateway.settings import Settings
from gateway.streaming import EventStream
from gateway.task_peers import Reviews, Tasks


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
    tasks: Tasks
    reviews: Reviews
    models: Models
    links: PageLinks
    limiter: Limiter

    def stream(
        self,
        frames: AsyncGenerator[bytes, None],
        *,
        most_ping_s: float = math.inf,
        breaks_off: bool = False,
    ) -> EventStream:
        """Frames as a reply."""
        return EventStream(
            frames,
            stop=self.stop,
            ping_s=min(self.settings.ping_s, most_ping_s),
            metrics=self.metrics,
            breaks_off=breaks_off,
        )


# Coroutines: the framework calls a plain function in a thread.
async def _context(request: Request) -> Context:
    context: Context = request.app.state.context
    return context


async def _caller(request: Request) -> Caller:
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
