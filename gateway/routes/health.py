"""Probes: is the process alive, can questions be taken, what was counted."""

import asyncio

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

from gateway import wire
from gateway.peers import state_of
from gateway.routes.context import InContext

router = APIRouter(tags=["probes"])


@router.get("/health")
async def health() -> wire.Liveness:
    """Say that the process runs."""
    return wire.Liveness()


@router.get("/readiness", responses={503: {"model": wire.Readiness}})
async def readiness(context: InContext, response: Response) -> wire.Readiness:
    """Say whether questions can be taken; NATS is told of, not needed: rows come without it."""
    names = list(context.channels)
    states = await asyncio.gather(*(state_of(context.channels[name]) for name in names))
    is_ready = all(state == "serving" for state in states) and not context.stop.is_set()
    response.status_code = 200 if is_ready else 503
    return wire.Readiness(
        status="ready" if is_ready else "not_ready",
        peers=dict(zip(names, states, strict=True)),
        live_events=context.feed.is_live,
    )


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(context: InContext) -> PlainTextResponse:
    """The gateway's counters in the Prometheus text format."""
    return PlainTextResponse(
        context.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8"
    )
