"""What every gRPC process counts: its calls, by method and outcome, and how long they take."""

import inspect
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import Any

import grpc
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.process_collector import ProcessCollector

SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60, 300)
# Asked by machines every few seconds, and held open by callers for ever.
UNCOUNTED = ("/grpc.health.v1.Health/", "/grpc.reflection.")


async def _nothing() -> None:
    """Nothing has to be looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """Where a process counts, and what it looks up just before somebody reads."""

    registry: CollectorRegistry
    look_up: Callable[[], Awaitable[None]] = _nothing


def new_registry() -> CollectorRegistry:
    """A registry with memory, processor time and open files of the process."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    return registry


class CallMetrics(grpc.aio.ServerInterceptor):
    """Counts the calls of a server."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._calls = Counter(
            "zocrates_rpc_calls_total",
            "Calls that ended, by method and status.",
            ("method", "code"),
            registry=registry,
        )
        self._seconds = Histogram(
            "zocrates_rpc_seconds",
            "How long calls took, streams to their end.",
            ("method",),
            buckets=SECONDS,
            registry=registry,
        )
        self._in_hand = Gauge(
            "zocrates_rpc_in_hand", "Calls that are being answered.", registry=registry
        )

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """Wrap unary and server-streaming handlers."""
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None or method.startswith(UNCOUNTED):
            return handler
        if handler.unary_unary is not None:
            return grpc.unary_unary_rpc_method_handler(
                self._counted(handler.unary_unary, method),
                request_deserializer=handler.request_deserializer,
                response_serializer=handler.response_serializer,
            )
        if handler.unary_stream is not None:
            return grpc.unary_stream_rpc_method_handler(
                self._counted_stream(handler.unary_stream, method),
                request_deserializer=handler.request_deserializer,
                response_serializer=handler.response_serializer,
            )
        return handler

    def _counted(self, call: Callable[..., Any], method: str) -> Callable[..., Any]:
        async def counted(request: Any, context: Any) -> Any:
            with self._counting(method, context):
                return await call(request, context)

        return counted

    def _counted_stream(self, call: Callable[..., Any], method: str) -> Callable[..., Any]:
        if not inspect.isasyncgenfunction(call):
            return self._counted(call, method)

        async def counted(request: Any, context: Any) -> Any:
            with self._counting(method, context):
                async with aclosing(call(request, context)) as replies:
                    async for reply in replies:
                        yield reply

        return counted

    @contextmanager
    def _counting(self, method: str, context: Any) -> Any:
        started = time.perf_counter()
        code = grpc.StatusCode.CANCELLED
        try:
            with self._in_hand.track_inprogress():
                yield
            code = grpc.StatusCode.OK
        except grpc.aio.AbortError:
            code = _status(context)
            raise
        finally:
            self._calls.labels(method, code.name).inc()
            self._seconds.labels(method).observe(time.perf_counter() - started)


def _status(context: Any) -> grpc.StatusCode:
    """The status that a handler ended its call with, which gRPC gives as it was set: either way."""
    told = context.code()
    known = (code for code in grpc.StatusCode if told in (code, code.value[0]))
    return next(known, grpc.StatusCode.UNKNOWN)
