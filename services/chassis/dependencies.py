"""Health of a process, and of what it depends on, which is looked at now and then.

A dependency is a name of the health service that begins with `dependency/`. That one is away does
not make the process unhealthy: it answers, retries, and goes on when the dependency is back.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from services.chassis.telemetry import EventLog

PREFIX = "dependency/"
LOOK_S = 2.0
EVERY_S = 5.0

Look = Callable[[], Awaitable[bool]]
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING

log = EventLog(__name__)


class Health(health.aio.HealthServicer):
    """The health service with its listing, which the library leaves out."""

    def __init__(self) -> None:
        super().__init__()
        self._told: dict[str, int] = {}
        self._is_stopping = False

    async def set(self, service: str, status: int) -> None:
        """Tell the state of one name; without effect once the process stops."""
        await super().set(service, status)
        if not self._is_stopping:
            self._told[service] = status

    async def enter_graceful_shutdown(self) -> None:
        """Tell from now on that nothing is served here."""
        self._is_stopping = True
        self._told = dict.fromkeys(self._told, NOT_SERVING)
        await super().enter_graceful_shutdown()

    async def List(self, request: Any, context: Any) -> Any:  # the stubs do not know it yet
        """The state of every name."""
        told = self._told.items()
        return health_pb2.HealthListResponse(  # type: ignore[attr-defined]
            statuses={name: health_pb2.HealthCheckResponse(status=status) for name, status in told}
        )


async def watch(
    dependencies: Mapping[str, Look], board: Health, *, every_s: float = EVERY_S
) -> None:
    """Look at each for ever, and tell what changed."""
    known: dict[str, bool] = {}
    while True:
        names = list(dependencies)
        found = await asyncio.gather(*(_is_there(dependencies[name]) for name in names))
        for name, is_there in zip(names, found, strict=True):
            if known.get(name) == is_there:
                continue
            await board.set(f"{PREFIX}{name}", SERVING if is_there else NOT_SERVING)
            if not is_there:
                log.warning("dependency_away", dependency=name)
            elif name in known:
                log.info("dependency_back", dependency=name)
            known[name] = is_there
        await asyncio.sleep(every_s)


async def _is_there(look: Look) -> bool:
    try:
        async with asyncio.timeout(LOOK_S):
            return await look()
    except TimeoutError:
        return False


def serves(channel: grpc.aio.Channel) -> Look:
    """Whether the process behind a channel says that it serves."""
    stub = health_pb2_grpc.HealthStub(channel)

    async def look() -> bool:
        try:
            reply = await stub.Check(health_pb2.HealthCheckRequest(), timeout=LOOK_S)  # type: ignore[attr-defined]  # made at run time
        except grpc.aio.AioRpcError:
            return False
        return bool(reply.status == SERVING)

    return look
