"""Keys on the task wire: how they come, how they are refused, and how often they may ask."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, DEFAULT_ON, Sampler

from gateway.limiter import SharedLimiter
from gateway.metrics import Metrics
from gateway.quota import Allowance
from services.chassis.bus import open_bus
from tests.fakes.gateway_stage import ADA, BOB, Stage, stage_with_nats, until
from tests.servers import NatsServer

LIMITED = "/api/v1/tasks/unknown/control-state"
MOST = 5
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b" * 16


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """A gateway of each test's own: what one counts is not another's."""
    async with stage_with_nats(tmp_path / "nats", limit_per_minute=MOST) as lit:
        yield lit


async def without_key(stage: Stage, path: str, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=stage.http.base_url) as anonymous:
        return await anonymous.get(path, headers=headers)


@pytest.mark.parametrize(
    ("headers", "text"),
    [({}, "Authentication required"), ({"X-API-Key": "x" * 20}, "Invalid token")],
)
async def test_the_task_wire_refuses_in_its_own_words(
    stage: Stage, headers: dict[str, str], text: str
) -> None:
    reply = await without_key(stage, LIMITED, **headers)
    assert (reply.status_code, reply.json()["error"]) == (401, text)
    assert reply.json()["code"] == "UNAUTHENTICATED"
    assert reply.headers["WWW-Authenticate"] == 'Bearer realm="Shannon API"'


@pytest.mark.parametrize("name", ["api_key", "token"])
async def test_a_key_in_the_address_opens_streams_and_nothing_else(stage: Stage, name: str) -> None:
    stream = await without_key(stage, f"/api/v1/stream/sse?workflow_id=unknown&{name}={ADA}")
    assert stream.status_code == 404
    other = await without_key(stage, f"{LIMITED}?{name}={ADA}")
    assert other.status_code == 401


@pytest.mark.parametrize("sampler", [DEFAULT_ON, ALWAYS_OFF], ids=["recorded", "only named"])
async def test_a_reply_tells_the_trace_that_its_request_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sampler: Sampler
) -> None:
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", TracerProvider(sampler=sampler))
    async with stage_with_nats(tmp_path / "nats") as stage:
        for name, given in (("X-Trace-ID", TRACE), ("traceparent", f"00-{TRACE}-{SPAN}-00")):
            reply = await stage.http.get(LIMITED, headers={name: given})
            assert reply.headers["X-Trace-ID"] == TRACE
            assert reply.headers["X-Span-ID"] not in ("", SPAN, TRACE[:16])
        traces = {(await stage.http.get(LIMITED)).headers["X-Trace-ID"] for _ in range(2)}
        assert len(traces) == 2


async def test_a_key_that_asked_too_often_is_told_when_to_come_again(stage: Stage) -> None:
    left = []
    for _ in range(MOST):
        reply = await stage.http.get(LIMITED)
        assert reply.status_code == 404
        left.append(int(reply.headers["X-RateLimit-Remaining-Minute"]))
        assert reply.headers["X-RateLimit-Limit-Minute"] == str(MOST)
    assert left == list(range(MOST - 1, -1, -1))
    refused = await stage.http.get(LIMITED)
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert refused.json()["error"] == "Rate limit exceeded"
    assert (refused.json()["code"], refused.json()["window"]) == ("LIMIT_REACHED", "minute")
    assert refused.json()["message"].endswith(" s.")
    # Another key has windows of its own, and polling one task is not counted.
    assert (await stage.http.get(LIMITED, headers={"X-API-Key": BOB})).status_code == 404
    assert (await stage.http.get("/api/v1/tasks/unknown")).status_code == 404


async def test_gateways_that_count_together_let_in_exactly_as_many_as_allowed(
    nats_server: NatsServer,
) -> None:
    allowance = Allowance(minute=1_000, hour=7, day=1_000)
    async with open_bus(nats_server.url, "one") as one, open_bus(nats_server.url, "two") as two:
        await until(lambda: one.is_connected and two.is_connected)
        limiters = [SharedLimiter(bus, lambda: 1_800_057_700.0, Metrics()) for bus in (one, two)]
        verdicts = await asyncio.gather(
            *(limiter.count("key", allowance) for limiter in limiters for _ in range(8))
        )
        counted = [verdict for verdict in verdicts if verdict is not None]
        assert len(counted) == 16
        assert sum(verdict.exceeded is None for verdict in counted) == 7
        late = await limiters[0].count("key", allowance)
        assert late is not None
        assert late.exceeded == "hour"


async def test_a_submission_has_a_limit_of_its_own(tmp_path: Path) -> None:
    limits = {"max_body_bytes": 1_000, "max_submission_bytes": 50_000}

    async def told(path: str, size: int) -> tuple[int, str]:
        content = b'{"query": ""}'.ljust(size)
        headers = {"Content-Type": "application/json"}
        reply = await stage.http.post(path, content=content, headers=headers)
        return reply.status_code, str(reply.json()["detail"].get("max_bytes"))

    async with stage_with_nats(tmp_path / "nats", **limits) as stage:
        for path in ("/api/v1/tasks", "/api/v1/tasks/stream"):
            assert await told(path, 50_000) == (400, "None")
            assert await told(path, 50_001) == (413, "50000")
        assert await told("/api/v1/approvals/decision", 1_001) == (413, "1000")


async def test_a_long_body_that_does_not_come_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.intake.LARGE_BODY_S", 0.2)
    async with stage_with_nats(tmp_path / "nats", max_body_bytes=1_000) as stage:
        url = stage.http.base_url
        reader, writer = await asyncio.open_connection(url.host, url.port)
        head = (
            f"POST /api/v1/tasks HTTP/1.1\r\nHost: {url.host}\r\nX-API-Key: {ADA}\r\n"
            "Content-Type: application/json\r\nContent-Length: 2000\r\n\r\n{"
        )
        writer.write(head.encode())
        answered = await asyncio.wait_for(reader.read(), 10)
        writer.close()
        assert answered.startswith(b"HTTP/1.1 400")
        assert b"did not arrive within" in answered


async def test_without_nats_nothing_is_refused_and_that_is_counted(nats_server: NatsServer) -> None:
    metrics = Metrics()
    async with open_bus(nats_server.url, "one") as bus:
        limiter = SharedLimiter(bus, lambda: 0.0, metrics)
        await until(lambda: bus.is_connected)
        nats_server.kill()
        await until(lambda: not bus.is_connected)
        assert await limiter.count("key", Allowance(minute=1, hour=1, day=1)) is None
    assert metrics.uncounted_requests.value() == 1


async def test_a_page_of_an_allowed_origin_reads_tags_and_limits(tmp_path: Path) -> None:
    origin = "https://lab.example"
    async with stage_with_nats(tmp_path / "nats", allowed_origins=(origin,)) as stage:
        reply = await stage.http.get("/api/v1/tasks/unknown", headers={"Origin": origin})
        exposed = set(reply.headers["Access-Control-Expose-Headers"].split(", "))
        asked = await stage.http.options(
            "/api/v1/tasks/unknown/review",
            headers={
                "Origin": origin,
                "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "if-match,x-api-key,content-type",
            },
        )
    assert {"ETag", "X-Workflow-ID", "Retry-After", "X-RateLimit-Remaining-Minute"} <= exposed
    assert asked.status_code == 200
