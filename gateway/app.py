"""Putting the gateway together: what it holds open, its routes, and the rings around them."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import grpc
from fastapi import Depends, FastAPI
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from gateway.auth import Doorkeeper, PageLinks
from gateway.feed import Feed
from gateway.follow import Follower
from gateway.guard import Guard
from gateway.intake import Intake
from gateway.limiter import Limiter, OwnLimiter, SharedLimiter
from gateway.metrics import Metrics
from gateway.model_peers import Models
from gateway.openapi import describe
from gateway.peers import Orchestrator, Search
from gateway.routes import (
    chat,
    control,
    decisions,
    export,
    health,
    holdings,
    library,
    page,
    passages,
    refusals,
    reviews,
    sessions,
    stream,
    task_control,
    task_sessions,
    task_stream,
    tasks,
)
from gateway.routes.context import Context
from gateway.settings import Settings
from gateway.task_peers import Reviews, Tasks
from gateway.throttle import Throttle
from gateway.tracing import NamedTrace, ToldTrace, TraceContext, session_told
from services.chassis.bus import Bus, open_bus
from services.chassis.channel import open_channel
from services.chassis.telemetry import EventLog, spans_are_recorded

log = EventLog(__name__)

VERSION = "0.1.0"
ROUTERS = tuple(
    module.router
    for module in (
        chat,
        decisions,
        stream,
        sessions,
        control,
        export,
        library,
        holdings,
        passages,
        tasks,
        task_control,
        task_stream,
        task_sessions,
        reviews,
        health,
        page,
    )
)
# What a page of an allowed origin may read of a reply.
EXPOSED = (
    "Allow",
    "ETag",
    "Link",
    "Retry-After",
    "X-Idempotency-Cached",
    "X-Idempotency-Key",
    "X-RateLimit-Limit-Hour",
    "X-RateLimit-Limit-Minute",
    "X-RateLimit-Remaining-Hour",
    "X-RateLimit-Remaining-Minute",
    "X-RateLimit-Reset",
    "X-Session-ID",
    "X-Span-ID",
    "X-Trace-ID",
    "X-Workflow-ID",
)
UNTRACED = "/health$,/readiness$,/metrics$"


def _channel(settings: Settings, target: str) -> grpc.aio.Channel:
    """Calls are told by who serves them, right beneath the request that they are made for."""
    return open_channel(target, settings.identity, has_spans=False)


def build_app(settings: Settings, stop: asyncio.Event) -> ASGIApp:
    """The gateway as an ASGI application; setting `stop` ends its streams at once."""
    metrics = Metrics()
    doorkeeper = Doorkeeper(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if settings.skip_auth:
            log.warning("auth_skipped", environment=settings.environment)
        async with (
            open_bus(settings.nats_url, "zocrates-gateway", access=settings.bus_access) as bus,
            _channel(settings, settings.orchestrator_target) as to_orchestrator,
            _channel(settings, settings.search_target) as to_search,
        ):
            bus.on_lost(metrics.bus_losses.add)
            orchestrator = Orchestrator(
                to_orchestrator,
                deadline_s=settings.peer_deadline_s,
                planner_s=settings.planner_deadline_s,
            )
            feed = Feed(bus, capacity=settings.inbox_messages, metrics=metrics)
            app.state.context = Context(
                settings=settings,
                stop=stop,
                metrics=metrics,
                orchestrator=orchestrator,
                search=Search(to_search, deadline_s=settings.peer_deadline_s),
                channels={"orchestrator": to_orchestrator, "search": to_search},
                feed=feed,
                models=Models(to_orchestrator),
                tasks=Tasks(to_orchestrator, deadline_s=settings.peer_deadline_s),
                reviews=Reviews(
                    to_orchestrator,
                    deadline_s=settings.peer_deadline_s,
                    planner_s=settings.planner_deadline_s,
                ),
                follower=Follower(orchestrator, feed, metrics, settings, now=_now_text),
                links=PageLinks(_now),
                limiter=_limiter(settings, bus, metrics),
            )
            yield
            stop.set()

    app = FastAPI(
        title="Zocrates",
        version=VERSION,
        lifespan=lifespan,
        # The interactive pages load scripts from elsewhere; the description itself is served.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    for router in ROUTERS:
        app.include_router(router, dependencies=[Depends(session_told)])
    refusals.answer(app, [route for router in ROUTERS for route in router.routes])
    describe(app)
    app.add_middleware(ToldTrace)
    traced: ASGIApp = app
    if spans_are_recorded():
        FastAPIInstrumentor.instrument_app(
            app, excluded_urls=UNTRACED, exclude_spans=["receive", "send"]
        )
    else:
        # The same without its cost.
        traced = TraceContext(app)
    counted = Throttle(
        NamedTrace(traced),
        limiter=lambda: app.state.context.limiter,
        settings=settings,
        metrics=metrics,
    )
    inner: ASGIApp = Intake(counted, settings=settings, doorkeeper=doorkeeper)
    if settings.allowed_origins:
        inner = CORSMiddleware(
            inner,
            allow_origins=settings.allowed_origins,
            allow_methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=[
                "Authorization",
                "Cache-Control",
                "Content-Type",
                "Idempotency-Key",
                "If-Match",
                "Last-Event-ID",
                "X-API-Key",
                "X-Request-ID",
                "X-Trace-ID",
                "traceparent",
                "tracestate",
            ],
            expose_headers=EXPOSED,
        )
    return Guard(inner, settings=settings, metrics=metrics)


def _limiter(settings: Settings, bus: Bus, metrics: Metrics) -> Limiter:
    if settings.shared_limits:
        return SharedLimiter(bus, time.time, metrics)
    return OwnLimiter(time.time)


def _now() -> datetime:
    return datetime.now(UTC)


def _now_text() -> str:
    return _now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
