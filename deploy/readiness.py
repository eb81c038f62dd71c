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

PAUSE_S = 0.1
PROBE_DEADLINE_S = 2.0
DEADLINE_S = 120.0
HTTP_PREFIX = "http://"
# A process that has just begun to listen is noticed at once.
CHANNEL_OPTIONS = [
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 200),
]
HEALTH_METHOD = "/grpc.health.v1.Health/Check"


async def wait_until_ready(name: str, target: str, *, deadline: float) -> None:
    """Ask until the process answers that it is ready; raises TimeoutError naming it."""
    waits = http_serves if target.startswith(HTTP_PREFIX) else grpc_serves
    try:
        async with asyncio.timeout(deadline - time.monotonic()):
            await waits(target)
    except TimeoutError as error:
        raise TimeoutError(f"{name} did not become ready at {target}") from error
    print(name, flush=True)


async def grpc_serves(target: str) -> None:
    """Wait until the standard health service says SERVING."""
    async with grpc.aio.insecure_channel(target, options=CHANNEL_OPTIONS) as channel:
        check = channel.unary_unary(
            HEALTH_METHOD,
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        request = health_pb2.HealthCheckRequest()
        while True:
            try:
                reply = await check(request, wait_for_ready=True, timeout=PROBE_DEADLINE_S)
                if reply.status == health_pb2.HealthCheckResponse.SERVING:
                    return
            except grpc.aio.AioRpcError:
                # Not listening yet, or another process dies right now: asked again.
                pass
            await asyncio.sleep(PAUSE_S)


async def http_serves(url: str) -> None:
    """Wait until a GET answers with 200."""
    while True:
        if await asyncio.to_thread(_get, url):
            return
        await asyncio.sleep(PAUSE_S)


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
