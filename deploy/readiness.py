"""Waits until processes are ready: `python -m deploy.readiness search=127.0.0.1:50051 …`.

A process of its own, so that the supervisor, which lives on, never loads gRPC. It writes a line
with a process's name when that process is ready, and exits when all are.
"""

import asyncio
import http.client
import sys
import time
from collections.abc import Mapping

import grpc
from grpc_health.v1 import health_pb2

PAUSE_S = 0.05
PROBE_DEADLINE_S = 2.0
DEADLINE_S = 120.0
HTTP_PREFIX = "http://"
HEALTH_METHOD = "/grpc.health.v1.Health/Check"


async def wait_until_ready(name: str, target: str, *, deadline: float) -> None:
    """Ask until the process answers that it is ready; raises TimeoutError naming it."""
    serves = http_serves if target.startswith(HTTP_PREFIX) else grpc_serves
    while not await serves(target):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{name} did not become ready at {target}")
        await asyncio.sleep(PAUSE_S)
    print(name, flush=True)


async def grpc_serves(target: str) -> bool:
    """Whether the standard health service says SERVING."""
    async with grpc.aio.insecure_channel(target) as channel:
        try:
            check = channel.unary_unary(
                HEALTH_METHOD,
                request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
                response_deserializer=health_pb2.HealthCheckResponse.FromString,
            )
            reply = await check(health_pb2.HealthCheckRequest(), timeout=PROBE_DEADLINE_S)
        except grpc.aio.AioRpcError:
            # Not listening yet, or not serving yet: asked again until the deadline.
            return False
    return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)


async def http_serves(url: str) -> bool:
    """Whether a GET answers with 200."""
    return await asyncio.to_thread(_get, url)


def _get(url: str) -> bool:
    host, _, path = url.removeprefix(HTTP_PREFIX).partition("/")
    connection = http.client.HTTPConnection(host, timeout=PROBE_DEADLINE_S)
    try:
        connection.request("GET", f"/{path}")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        # Not listening yet: asked again until the deadline.
        return False
    finally:
        connection.close()


async def wait_for_all(targets: Mapping[str, str], *, deadline: float) -> None:
    """Wait for all of them at once."""
    async with asyncio.TaskGroup() as group:
        for name, target in targets.items():
            group.create_task(wait_until_ready(name, target, deadline=deadline))


def main(arguments: list[str]) -> int:
    """Wait for the processes given as name=target."""
    targets = dict(argument.split("=", 1) for argument in arguments)
    try:
        asyncio.run(wait_for_all(targets, deadline=time.monotonic() + DEADLINE_S))
    except ExceptionGroup as group:
        late, others = group.split(TimeoutError)
        if late is None or others is not None:
            raise
        print("; ".join(str(error) for error in late.exceptions), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
