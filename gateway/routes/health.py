"""Probes: is the process alive, can questions be taken, what was counted."""

import asyncio
from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from gateway import wire
from gateway.peers import standing_of
from gateway.routes.context import InContext

router = APIRouter(tags=["probes"])

# Without these no question can be taken; with the others away it is taken and waits for them.
NEEDED = frozenset({"orchestrator", "search", "postgres"})


@router.get("/health")
async def health(request: Request) -> wire.Liveness:
    """Say that the process runs."""
    return wire.Liveness(version=request.app.version, time=datetime.now(UTC))


@router.get("/readiness", responses={503: {"model": wire.Readiness}})
async def readiness(context: InContext, response: Response) -> wire.Readiness:
    """Say whether questions can be taken, and name every part that is missing.

    NATS is told of, not needed: rows come without it.
    """
    names = list(context.channels)
    found = await asyncio.gather(*(standing_of(context.channels[name]) for name in names))
    standings = dict(zip(names, found, strict=True))
    missing = {name for name, one in standings.items() if one.state != "serving"}
    missing |= {name for one in found for name in one.missing}
    missing |= set() if context.feed.is_live else {"nats"}
    is_ready = not missing & NEEDED and not context.stop.is_set()
    response.status_code = 200 if is_ready else 503
    return wire.Readiness(
        status="ready" if is_ready else "not ready",
        peers={name: one.state for name, one in standings.items()},
        missing=sorted(missing),
        live_events=context.feed.is_live,
    )


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(context: InContext) -> PlainTextResponse:
    """The gateway's counters in the Prometheus text format."""
    return PlainTextResponse(
        context.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8"
    )
