"""Starting, serving and draining a gRPC server, the same for every process."""

import asyncio
import gc
import inspect
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any, TypeAlias

import grpc
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from opentelemetry.context import attach
from opentelemetry.instrumentation.grpc import aio_server_interceptor, filters

from services.chassis.dependencies import SERVING, Health, Look, watch
from services.chassis.errors import DETAILS_KEY, Internal, ServiceError, status_of
from services.chassis.identity import Identity, Renewed
from services.chassis.metrics import CallMetrics, Metrics, new_registry
from services.chassis.settings import MAX_MESSAGE_BYTES, ServiceSettings
from services.chassis.spans import tell_session
from services.chassis.status_page import status_page
from services.chassis.telemetry import EventLog, context_from, spans_are_recorded

new_event_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
with suppress(ImportError):
    # The same in C, where there is one: a quarter of a busy process's time was the loop.
    import uvloop

    new_event_loop = uvloop.new_event_loop

FAREWELL_S = 0.25
# How many more objects there are than at the last look before the collector looks again.
GARBAGE_OBJECTS = 20_000
OWNER_KEY = "x-zocrates-owner"
LOCAL_OWNER = "local"

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any] | None"
Register = Callable[[grpc.aio.Server], None]

log = EventLog(__name__)

OPTIONS = [
    # A second process on the same port is an error, not a silent sharing of connections.
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    # Clients ping during long silent model calls; without these the server answers GOAWAY.
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
    # Callers look again now and then who else is there; calls in hand run to their end.
    ("grpc.max_connection_age_ms", 300_000),
]


class PortTaken(Exception):
    """The address cannot be bound."""


def owner_of(context: Context) -> str:
    """The owner that the gateway set on the request, or the local one."""
    for key, value in context.invocation_metadata() or ():
        if key == OWNER_KEY and value:
            return value.decode() if isinstance(value, bytes) else str(value)
    return LOCAL_OWNER


class ErrorInterceptor(grpc.aio.ServerInterceptor):
    """Turns errors of the family into their status, anything else into INTERNAL, logged once."""

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        """Wrap unary and server-streaming handlers."""
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None:
            return handler
        if handler.unary_unary is not None:
            return grpc.unary_unary_rpc_method_handler(
                _guarded(handler.unary_unary, method),
                request_deserializer=handler.request_deserializer,
                response_serializer=handler.response_serializer,
            )
        if handler.unary_stream is not None:
            return grpc.unary_stream_rpc_method_handler(
                _guarded_stream(handler.unary_stream, method),
                request_deserializer=handler.request_deserializer,
                response_serializer=handler.response_serializer,
            )
        return handler


class TraceContext(grpc.aio.ServerInterceptor):
    """Takes over the caller's trace, so that logs name it, without recording spans."""

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        """Set the context of the task that serves the call, which ends with it."""
        metadata = handler_call_details.invocation_metadata or ()
        headers = {key: value for key, value in metadata if isinstance(value, str)}
        if "traceparent" in headers:
            attach(context_from(headers))
        return await continuation(handler_call_details)


class StreamClosing(grpc.aio.ServerInterceptor):
    """Closes the tracing of a stream in the task that ran it, also when the caller goes away.

    gRPC leaves an unfinished generator to the garbage collector, which closes it in another
    context, where tracing cannot take back what it set and logs an error.
    """

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        """Wrap server-streaming handlers."""
        handler = await continuation(handler_call_details)
        if handler is None or not inspect.isasyncgenfunction(handler.unary_stream):
            return handler
        return grpc.unary_stream_rpc_method_handler(
            _closing(handler.unary_stream),
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )


def _closing(call: Callable[..., Any]) -> Callable[..., Any]:
    async def closing(request: Any, context: Context) -> None:
        async with aclosing(call(request, context)) as replies:
            async for reply in replies:
                await context.write(reply)

    return closing


def _guarded(call: Callable[..., Any], method: str) -> Callable[..., Any]:
    async def guarded(request: Any, context: Context) -> Any:
        tell_session(getattr(request, "session_id", ""))
        try:
            reply = await call(request, context)
            tell_session(getattr(reply, "session_id", ""))
            return reply
        except (ServiceError, grpc.aio.AbortError) as error:
            await _abort(context, error)
        except Exception as error:  # the process edge: a bug must not leak or kill the server
            log.error("call_failed", error, method=method)
            await _abort(context, Internal())

    return guarded


def _guarded_stream(call: Callable[..., Any], method: str) -> Callable[..., Any]:
    if not inspect.isasyncgenfunction(call):
        # It writes its replies itself, as the watch of the health service does.
        return _guarded(call, method)

    async def guarded(request: Any, context: Context) -> AsyncIterator[Any]:
        tell_session(getattr(request, "session_id", ""))
        try:
            async with aclosing(call(request, context)) as replies:
                async for reply in replies:
                    yield reply
        except (ServiceError, grpc.aio.AbortError) as error:
            await _abort(context, error)
        except Exception as error:  # the process edge: a bug must not leak or kill the server
            log.error("call_failed", error, method=method)
            await _abort(context, Internal())

    return guarded


async def _abort(context: Context, error: ServiceError | grpc.aio.AbortError) -> None:
    if not isinstance(error, ServiceError):
        raise error
    details = status_of(error).SerializeToString()
    await context.abort(error.code, error.message, trailing_metadata=((DETAILS_KEY, details),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A started server."""

    port: int
    health: Health


@asynccontextmanager
async def serving(
    services: Mapping[str, Register],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    drain_s: float = 5,
    farewell_s: float = 0,
    dependencies: Mapping[str, Look] | None = None,
    identity: Identity | None = None,
    counting: CallMetrics | None = None,
) -> AsyncIterator[Running]:
    """Serve gRPC services by their full names, with health, reflection and the error mapping.

    On leaving, health says NOT_SERVING; after `farewell_s` seconds, by when callers went elsewhere,
    no new call is accepted, and calls in hand get `drain_s` seconds. With an identity only callers
    that show a certificate of the same authority are heard. Raises PortTaken, IdentityUnusable.
    """
    # Health probes would drown every trace.
    tracing: grpc.aio.ServerInterceptor = (
        aio_server_interceptor(  # type: ignore[no-untyped-call]
            filter_=filters.negate(filters.health_check())
        )
        if spans_are_recorded()
        else TraceContext()
    )
    server = grpc.aio.server(
        interceptors=[
            StreamClosing(),
            *([counting] if counting else []),
            tracing,
            ErrorInterceptor(),
        ],
        options=OPTIONS,
    )
    for register in services.values():
        register(server)
    probes = Health()
    health_pb2_grpc.add_HealthServicer_to_server(probes, server)
    names = [*services, health.SERVICE_NAME]
    reflection.enable_server_reflection([*names, reflection.SERVICE_NAME], server)
    try:
        bound = (
            server.add_insecure_port(f"{host}:{port}")
            if identity is None
            else server.add_secure_port(f"{host}:{port}", _credentials(identity))
        )
    except RuntimeError as error:
        raise PortTaken(f"Cannot listen on {host}:{port}: {error}") from error
    await server.start()
    for name in ["", *services]:
        await probes.set(name, SERVING)
    watching = asyncio.create_task(watch(dependencies or {}, probes))
    try:
        yield Running(port=bound, health=probes)
    finally:
        watching.cancel()
        await probes.enter_graceful_shutdown()
        await asyncio.sleep(farewell_s)
        await server.stop(drain_s)


def _credentials(identity: Identity) -> grpc.ServerCredentials:
    """Credentials that are looked at again for each new connection."""
    renewed = Renewed(identity)

    def configuration() -> Any:
        papers = renewed.papers
        return grpc.ssl_server_certificate_configuration(
            [(papers.key, papers.certificate)], papers.authority
        )

    return grpc.dynamic_ssl_server_credentials(
        configuration(),
        # None leaves the former one in use, which the stubs do not know.
        lambda: configuration() if renewed.look() else None,  # type: ignore[arg-type,return-value]
        require_client_authentication=True,
    )


async def serve(
    settings: ServiceSettings,
    services: Mapping[str, Register],
    *,
    until: asyncio.Event,
    dependencies: Mapping[str, Look] | None = None,
    metrics: Metrics | None = None,
) -> None:
    """Serve until the event is set, then drain. Raises PortTaken."""
    async with AsyncExitStack() as stack:
        counting = None
        if settings.status_port is not None:
            metrics = metrics or Metrics(registry=new_registry())
            counting = CallMetrics(metrics.registry)
            page = status_page(
                metrics, lambda: not until.is_set(), host=settings.host, port=settings.status_port
            )
            try:
                await stack.enter_async_context(page)
            except OSError as error:
                raise PortTaken(f"Cannot serve the status page: {error}") from error
        running = await stack.enter_async_context(
            serving(
                services,
                host=settings.host,
                port=settings.port,
                drain_s=settings.drain_s,
                farewell_s=FAREWELL_S,
                dependencies=dependencies,
                identity=settings.identity,
                counting=counting,
            )
        )
        log.info("serving", host=settings.host, port=running.port, services=list(services))
        await until.wait()
        log.info("draining", seconds=settings.drain_s)


def run(main: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    """Run a process's main coroutine; SIGTERM and SIGINT set the event that it is given."""

    async def with_signals() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()

        def ask_to_stop(number: int, frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(stop.set)

        # signal.signal rather than the loop's own handlers: it exists on every platform.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, ask_to_stop)
        await main(stop)

    # What was loaded lives as long as the process, and what requests leave behind is mostly freed
    # without the collector: a young generation of the default size has it look for nothing.
    gc.freeze()
    gc.set_threshold(GARBAGE_OBJECTS)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(with_signals())
