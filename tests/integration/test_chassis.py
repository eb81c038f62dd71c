"""Servers, channels and the error mapping of the chassis, over real sockets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import grpc
import grpc._cython.cygrpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from services.chassis import channel, dependencies, server
from services.chassis.errors import INTERNAL_TEXT, InvalidRequest, failure_of
from services.chassis.telemetry import trace_metadata
from zocrates.search.v1 import search_pb2 as pb
from zocrates.search.v1 import search_pb2_grpc as rpc

NAME = "zocrates.search.v1.SearchService"


class Failing(rpc.SearchServiceServicer):
    """Fails in the way that the query names."""

    async def SearchCorpus(
        self, request: pb.SearchCorpusRequest, context: server.Context
    ) -> pb.SearchCorpusResponse:
        match request.query:
            case "known":
                raise InvalidRequest("query 'known' is refused; send another", field="query")
            case "bug":
                raise KeyError("secret detail")
            case "owner":
                return pb.SearchCorpusResponse(degraded=server.owner_of(context))
        await asyncio.Event().wait()
        raise AssertionError


class FailingLibrary(rpc.LibraryServiceServicer):
    """Sends one message, then fails."""

    async def Sync(
        self, request: pb.SyncRequest, context: server.Context
    ) -> AsyncIterator[pb.SyncProgress]:
        yield pb.SyncProgress(done=1)
        raise InvalidRequest("no more") if request.full else RuntimeError("secret detail")


@pytest.fixture
async def stub() -> AsyncIterator[rpc.SearchServiceStub]:
    services = {
        NAME: lambda s: rpc.add_SearchServiceServicer_to_server(Failing(), s),
        "zocrates.search.v1.LibraryService": lambda s: rpc.add_LibraryServiceServicer_to_server(
            FailingLibrary(), s
        ),
    }
    async with (
        server.serving(services, drain_s=0.1) as running,
        channel.open_channel(f"127.0.0.1:{running.port}") as open_,
    ):
        yield open_


async def ask(open_: grpc.aio.Channel, query: str) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await rpc.SearchServiceStub(open_).SearchCorpus(
            pb.SearchCorpusRequest(query=query), timeout=5
        )
    return raised.value


async def test_an_error_of_the_family_keeps_its_reason_text_and_facts(
    stub: grpc.aio.Channel,
) -> None:
    failure = failure_of(await ask(stub, "known"))
    assert (failure.code, failure.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert failure.message == "query 'known' is refused; send another"
    assert failure.facts == {"field": "query"}


async def test_a_bug_becomes_internal_with_a_fixed_text(stub: grpc.aio.Channel) -> None:
    failure = failure_of(await ask(stub, "bug"))
    assert (failure.code, failure.message) == (grpc.StatusCode.INTERNAL, INTERNAL_TEXT)


@pytest.mark.parametrize(
    ("full", "code"), [(True, grpc.StatusCode.INVALID_ARGUMENT), (False, grpc.StatusCode.INTERNAL)]
)
async def test_a_stream_fails_after_what_it_sent(
    stub: grpc.aio.Channel, full: bool, code: grpc.StatusCode
) -> None:
    seen = []
    call = rpc.LibraryServiceStub(stub).Sync(pb.SyncRequest(full=full), timeout=5)
    seen.append((await call.read()).done)
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await call.read()
    assert (seen, raised.value.code()) == ([1], code)
    assert "secret" not in (raised.value.details() or "")


class EndlessLibrary(rpc.LibraryServiceServicer):
    """Sends for ever, and tells when it was closed."""

    def __init__(self) -> None:
        self.closed = asyncio.Event()

    async def Sync(
        self, request: pb.SyncRequest, context: server.Context
    ) -> AsyncIterator[pb.SyncProgress]:
        try:
            while True:
                yield pb.SyncProgress(done=1)
        finally:
            self.closed.set()


async def test_a_stream_whose_caller_goes_away_is_closed_and_leaves_no_trace_context(
    caplog: pytest.LogCaptureFixture,
) -> None:
    library = EndlessLibrary()
    services = {
        "zocrates.search.v1.LibraryService": lambda s: rpc.add_LibraryServiceServicer_to_server(
            library, s
        )
    }
    async with (
        server.serving(services, drain_s=0.1) as running,
        channel.open_channel(f"127.0.0.1:{running.port}") as open_,
    ):
        call = rpc.LibraryServiceStub(open_).Sync(pb.SyncRequest(), timeout=5)
        assert (await call.read()).done == 1
        call.cancel()
        async with asyncio.timeout(5):
            await library.closed.wait()
    assert not [record for record in caplog.records if record.name.startswith("opentelemetry")]


async def test_a_call_without_a_reply_ends_at_its_deadline(stub: grpc.aio.Channel) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await rpc.SearchServiceStub(stub).SearchCorpus(
            pb.SearchCorpusRequest(query="wait"), timeout=0.2
        )
    assert raised.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED


@pytest.mark.parametrize(
    ("metadata", "owner"), [([], "local"), ([("x-zocrates-owner", "ada")], "ada")]
)
async def test_the_owner_comes_from_metadata(
    stub: grpc.aio.Channel, metadata: list[tuple[str, str]], owner: str
) -> None:
    reply = await rpc.SearchServiceStub(stub).SearchCorpus(
        pb.SearchCorpusRequest(query="owner"), metadata=metadata, timeout=5
    )
    assert reply.degraded == owner


async def test_health_is_told_for_the_process_and_each_service(stub: grpc.aio.Channel) -> None:
    for name in ("", NAME):
        reply = await health_pb2_grpc.HealthStub(stub).Check(
            health_pb2.HealthCheckRequest(service=name), timeout=5
        )
        assert reply.status == health_pb2.HealthCheckResponse.SERVING


async def test_health_can_be_watched_and_says_that_the_server_stops() -> None:
    async with AsyncExitStack() as stack:
        running = await stack.enter_async_context(server.serving({}, drain_s=1))
        open_ = grpc.aio.insecure_channel(f"127.0.0.1:{running.port}")
        stack.push_async_callback(open_.close)
        watch = health_pb2_grpc.HealthStub(open_).Watch(health_pb2.HealthCheckRequest(), timeout=10)
        serving = health_pb2.HealthCheckResponse
        assert (await watch.read()).status == serving.SERVING
        async with asyncio.TaskGroup() as group:
            group.create_task(running.health.enter_graceful_shutdown())
            assert (await watch.read()).status == serving.NOT_SERVING


async def test_a_replica_that_stops_gets_no_new_call_and_fails_none() -> None:
    async with AsyncExitStack() as first, server.serving(answering("second")) as second:
        replica = await first.enter_async_context(server.serving(answering("first"), farewell_s=1))
        target = f"ipv4:127.0.0.1:{replica.port},127.0.0.1:{second.port}"
        async with channel.open_channel(target) as open_:
            async with asyncio.timeout(10):
                while {await answer(open_) for _ in range(4)} != {"first", "second"}:
                    continue
            asking = asyncio.create_task(answers_until_one_is_left(open_))
            await first.aclose()
            assert await asking == {"second"}


def answering(name: str) -> dict[str, server.Register]:
    class Answering(rpc.SearchServiceServicer):
        async def SearchCorpus(
            self, request: pb.SearchCorpusRequest, context: server.Context
        ) -> pb.SearchCorpusResponse:
            return pb.SearchCorpusResponse(degraded=name)

    return {NAME: lambda s: rpc.add_SearchServiceServicer_to_server(Answering(), s)}


async def answer(open_: grpc.aio.Channel) -> str:
    reply = await rpc.SearchServiceStub(open_).SearchCorpus(pb.SearchCorpusRequest(), timeout=5)
    return str(reply.degraded)


async def answers_until_one_is_left(open_: grpc.aio.Channel) -> set[str]:
    async with asyncio.timeout(20):
        while len(names := {await answer(open_) for _ in range(8)}) > 1:
            continue
    return names


async def test_a_taken_port_is_an_error_not_a_shared_socket() -> None:
    async with server.serving({}) as first:
        with pytest.raises(server.PortTaken, match=str(first.port)):
            async with server.serving({}, port=first.port):
                pass


@pytest.mark.parametrize(
    "option", sorted({name for name, _ in [*server.OPTIONS, *channel.OPTIONS]})
)
def test_every_channel_option_is_one_that_grpc_knows(option: str) -> None:
    # gRPC ignores a misspelled option silently; its compiled core holds the names it knows.
    core = Path(grpc._cython.cygrpc.__file__).read_bytes()
    assert option.encode() in core


def test_a_server_allows_the_pings_that_channels_send() -> None:
    # Otherwise a long silent call ends with GOAWAY "too many pings" after the second one.
    sent, allowed = dict(channel.OPTIONS), dict(server.OPTIONS)
    every_ms = int(str(sent["grpc.keepalive_time_ms"]))
    assert int(str(allowed["grpc.http2.min_ping_interval_without_data_ms"])) < every_ms
    assert allowed["grpc.keepalive_permit_without_calls"] == 1
    assert sent["grpc.http2.max_pings_without_data"] == 0


async def test_the_callers_trace_reaches_the_servers_log_also_when_no_spans_are_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    provider = TracerProvider(sampler=ALWAYS_OFF)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    seen: list[int] = []

    async def check(request: bytes, context: server.Context) -> bytes:
        seen.append(trace.get_current_span().get_span_context().trace_id)
        return b""

    def register(grpc_server: grpc.aio.Server) -> None:
        handler = grpc.unary_unary_rpc_method_handler(check)
        generic = grpc.method_handlers_generic_handler("test.Traced", {"Check": handler})
        grpc_server.add_generic_rpc_handlers((generic,))

    async with (
        server.serving({"test.Traced": register}) as running,
        channel.open_channel(f"127.0.0.1:{running.port}") as opened,
    ):
        with trace.get_tracer("test").start_as_current_span("request") as span:
            call = opened.unary_unary("/test.Traced/Check")
            await call(b"", timeout=10, metadata=trace_metadata())
    assert seen == [span.get_span_context().trace_id]


async def test_what_a_process_depends_on_is_told_when_it_goes_and_when_it_is_back() -> None:
    there = {"store": True}

    async def look() -> bool:
        return there["store"]

    async def told(health: health_pb2_grpc.HealthStub, wanted: int) -> None:
        request = health_pb2.HealthCheckRequest(service="dependency/store")
        async with asyncio.timeout(10):
            async for reply in health.Watch(request, timeout=10):
                if reply.status == wanted:
                    return

    async with (
        server.serving({}) as running,
        channel.open_channel(f"127.0.0.1:{running.port}") as open_,
    ):
        watching = asyncio.create_task(
            dependencies.watch({"store": look}, running.health, every_s=0.01)
        )
        health = health_pb2_grpc.HealthStub(open_)
        await told(health, health_pb2.HealthCheckResponse.SERVING)
        there["store"] = False
        await told(health, health_pb2.HealthCheckResponse.NOT_SERVING)
        overall = await health.Check(health_pb2.HealthCheckRequest(), timeout=5)
        assert overall.status == health_pb2.HealthCheckResponse.SERVING
        there["store"] = True
        await told(health, health_pb2.HealthCheckResponse.SERVING)
        watching.cancel()
