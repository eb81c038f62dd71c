"""What the gateway refuses, with which status, code and sentence."""

import json
from collections.abc import AsyncIterator
from typing import Any

import grpc
import httpx
import pytest

from tests.fakes.gateway_peers import refusal
from tests.fakes.gateway_stage import ADA, BOB, EVE, Stage, stage_with_nats, until
from tests.servers import NatsServer

HEX = "0" * 32
OPEN = ["/health", "/readiness", "/metrics", "/", "/page/style.css", "/openapi.json"]
CLOSED = [
    ("GET", "/sessions"),
    ("GET", f"/sessions/{HEX}"),
    ("GET", f"/sessions/{HEX}/runs/{HEX}/events"),
    ("POST", "/chat"),
    ("POST", "/chat/resume"),
    ("POST", f"/sessions/{HEX}/cancel"),
    ("POST", f"/sessions/{HEX}/retry"),
    ("POST", f"/sessions/{HEX}/rewind"),
    ("PATCH", f"/sessions/{HEX}"),
    ("DELETE", f"/sessions/{HEX}"),
    ("GET", f"/sessions/{HEX}/runs/{HEX}/checkpoint"),
    ("GET", "/library"),
    ("POST", "/library/sync"),
    ("GET", "/passages/abcdef01"),
    ("POST", "/page-links"),
    ("GET", "/nothing/here"),
]


@pytest.fixture(scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """One gateway for all tests here; none of them changes what another sees."""
    async with stage_with_nats(
        tmp_path_factory.mktemp("nats"), allowed_hosts=("lab.example",)
    ) as lit:
        yield lit


@pytest.fixture(autouse=True)
def willing(stage: Stage) -> None:
    stage.orchestrator.refuses = None


def told(reply: httpx.Response) -> tuple[int, str]:
    body = reply.json()
    assert set(body) == {"error", "code", "detail"}
    assert body["error"].endswith(".")
    return reply.status_code, body["code"]


async def chat(stage: Stage, body: Any, **headers: str) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return await stage.http.post(
        "/chat", content=content, headers={"Content-Type": "application/json", **headers}
    )


@pytest.mark.parametrize("path", OPEN)
async def test_probes_and_the_pages_files_need_no_key(stage: Stage, path: str) -> None:
    reply = await stage.http.get(path, headers={"X-API-Key": ""})
    assert reply.status_code == 200


@pytest.mark.parametrize(("method", "path"), CLOSED)
@pytest.mark.parametrize("headers", [{}, {"X-API-Key": "wrong"}, {"Authorization": "Basic eA=="}])
async def test_everything_else_needs_a_key(
    stage: Stage, method: str, path: str, headers: dict[str, str]
) -> None:
    async with httpx.AsyncClient(base_url=stage.http.base_url) as anonymous:
        reply = await anonymous.request(method, path, headers=headers)
    assert told(reply) == (401, "UNAUTHENTICATED")
    assert reply.headers["WWW-Authenticate"] == "Bearer"


async def test_a_key_comes_as_a_header_of_its_own_or_as_bearer(stage: Stage) -> None:
    async with httpx.AsyncClient(base_url=stage.http.base_url) as anonymous:
        for headers in ({"X-API-Key": ADA}, {"Authorization": f"bearer {ADA}"}):
            assert (await anonymous.get("/sessions", headers=headers)).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("127.0.0.1:1234", 200),
        ("localhost:8080", 200),
        ("LOCALHOST", 200),
        ("[::1]:8080", 200),
        ("lab.example", 200),
        ("Lab.Example:443", 200),
        ("evil.example", 400),
        ("127.0.0.1.evil.example", 400),
        ("localhost.evil.example", 400),
        ("lab.example.evil", 400),
        ("", 400),
    ],
)
async def test_only_loopback_and_allowed_hosts_are_answered(
    stage: Stage, host: str, status: int
) -> None:
    reply = await stage.http.get("/sessions", headers={"Host": host})
    assert reply.status_code == status
    if status == 400:
        assert told(reply) == (400, "INVALID_HOST")
    assert (await stage.http.get("/health", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200),
        ("http://127.0.0.1:8080", 200),
        ("https://127.0.0.1:8080", 200),
        ("null", 403),
        ("", 403),
        ("http://127.0.0.1:8081", 403),
        ("http://localhost:8080", 403),
        ("https://evil.example", 403),
        ("http://127.0.0.1:8080.evil.example", 403),
        ("moz-extension://127.0.0.1:8080", 403),
        ("http://[", 403),
    ],
)
async def test_pages_of_others_may_not_call(stage: Stage, origin: str | None, status: int) -> None:
    headers = {"Host": "127.0.0.1:8080"} | ({} if origin is None else {"Origin": origin})
    reply = await stage.http.get("/sessions", headers=headers)
    assert reply.status_code == status
    assert not any(name.startswith("access-control") for name in reply.headers)
    if status == 403:
        assert told(reply) == (403, "FORBIDDEN_ORIGIN")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "The field 'prompt' is missing."),
        ({"prompt": ""}, "The field 'prompt' should have at least 1 character."),
        ({"prompt": " \n\t "}, "'prompt'"),
        ({"prompt": 5}, "The field 'prompt' should be a valid string."),
        ({"prompt": None}, "'prompt'"),
        ({"prompt": "x" * 20_001}, "'prompt'"),
        ({"prompt": "a\0b"}, "'prompt' must not contain the NUL character."),
        ({"prompt": "x", "wat": 1}, "The field 'wat' is not known; leave it out."),
        ({"prompt": "x", "session_id": "nope"}, "'session_id'"),
        ({"prompt": "x", "session_id": HEX.upper().replace("0", "A")}, "'session_id'"),
        ({"prompt": "x", "scope": {"library": []}}, "'scope.library' is not known"),
        ({"prompt": "x", "scope": {"libraries": "user"}}, "'scope.libraries'"),
        ({"prompt": "x", "scope": {"years": {"from": "2020"}}}, "'scope.years.from'"),
        ({"prompt": "x", "scope": {"years": {"from": 2021, "to": 2020}}}, "'scope.years'"),
        ({"prompt": "x", "active_items": [{"library": "user", "key": "x"}]}, "active_items.0.key"),
        ({"prompt": "x", "options": {"max_extensions": True}}, "'options.max_extensions'"),
        ({"prompt": "x", "options": {"max_extensions": -1}}, "'options.max_extensions'"),
        ([], "The body must be a JSON object."),
        ("x", "The body must be a JSON object."),
        (b"", "A JSON body is missing."),
        (b"{", "The body is not valid JSON."),
        (b'{"prompt": "\xff"}', "The body is not valid UTF-8 (byte 12)."),
        (b'{"prompt": "\\ud800"}', "'prompt'"),
        (b"[" * 60_000, "The body cannot be read as JSON."),
        (b'{"prompt": "x", "options": {"max_extensions": 1' + b"0" * 5000 + b"}}", "."),
    ],
)
async def test_a_malformed_question_is_refused_in_one_sentence(
    stage: Stage, body: Any, sentence: str
) -> None:
    reply = await chat(stage, body)
    assert told(reply) == (400, "INVALID_REQUEST")
    assert sentence in reply.json()["error"]
    assert "\n" not in reply.json()["error"]


async def test_a_long_body_is_refused_whether_its_length_is_told_or_not(stage: Stage) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b" " * 10_000

    assert told(await chat(stage, {"prompt": "x" * 100_000})) == (413, "TOO_LARGE")
    reply = await stage.http.post(
        "/chat", content=chunks(), headers={"Content-Type": "application/json"}
    )
    assert told(reply) == (413, "TOO_LARGE")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_a_body_must_be_sent_as_json(stage: Stage, kind: str) -> None:
    reply = await stage.http.post(
        "/chat", content=b'{"prompt": "x"}', headers={"Content-Type": kind}
    )
    assert told(reply) == (415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize("key", ["", "x" * 201, "ä", "a b"])
async def test_an_idempotency_key_is_visible_ascii(stage: Stage, key: str) -> None:
    reply = await stage.http.post(
        "/chat", json={"prompt": "x"}, headers=[(b"Idempotency-Key", key.encode())]
    )
    assert told(reply) == (400, "INVALID_REQUEST")


@pytest.mark.parametrize(
    "path",
    [
        "/sessions/x",
        f"/sessions/{HEX}0",
        f"/sessions/{HEX}/runs/%00/events",
        f"/sessions/{HEX[:-1]}%0a/runs/{HEX}/events",
        "/passages/nothex",
        f"/passages/abcdef01?invocation_id={HEX}g",
        "/sessions?limit=0",
        "/sessions?limit=101",
        "/sessions?limit=x",
        "/sessions?query=%00",
    ],
)
async def test_a_malformed_id_or_parameter_is_refused(stage: Stage, path: str) -> None:
    assert told(await stage.http.get(path)) == (400, "INVALID_REQUEST")


@pytest.mark.parametrize(
    "path", ["/nothing", "/chat/", "/page/", "/page/none.css", "/page/..%2fapp.py", "/docs"]
)
async def test_what_is_not_there_is_told_in_our_words(stage: Stage, path: str) -> None:
    assert told(await stage.http.get(path)) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", "/chat", "POST"),
        ("GET", "/chat", "POST"),
        ("HEAD", "/chat", "POST"),
        ("POST", "/sessions", "GET, HEAD"),
        ("PUT", f"/sessions/{HEX}", "DELETE, GET, HEAD, PATCH"),
        ("GET", f"/sessions/{HEX}/cancel", "POST"),
        ("DELETE", "/health", "GET, HEAD"),
        ("POST", "/", "GET, HEAD"),
        ("OPTIONS", "/library/sync", "POST"),
        ("BREW", "/library", "GET, HEAD"),
    ],
)
async def test_a_wrong_method_is_told_the_right_ones(
    stage: Stage, method: str, path: str, allow: str
) -> None:
    reply = await stage.http.request(method, path)
    assert reply.status_code == 405
    assert reply.headers["Allow"] == allow
    if method != "HEAD":
        assert told(reply) == (405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize(
    ("status", "reason", "expected"),
    [
        (grpc.StatusCode.NOT_FOUND, "UNKNOWN_SESSION", (404, "UNKNOWN_SESSION")),
        (grpc.StatusCode.FAILED_PRECONDITION, "RUN_ACTIVE", (409, "RUN_ACTIVE")),
        (grpc.StatusCode.ALREADY_EXISTS, "IDEMPOTENCY_MISMATCH", (422, "IDEMPOTENCY_MISMATCH")),
        (grpc.StatusCode.INVALID_ARGUMENT, "SOMETHING_NEW", (400, "INVALID_REQUEST")),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY", (429, "LIMIT_REACHED")),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "SLOW", (504, "PEER_TIMEOUT")),
        (grpc.StatusCode.INTERNAL, "INTERNAL", (500, "INTERNAL")),
        (grpc.StatusCode.DATA_LOSS, "ODD", (500, "INTERNAL")),
    ],
)
async def test_a_peers_refusal_is_told_by_its_reason_first(
    stage: Stage, status: grpc.StatusCode, reason: str, expected: tuple[int, str]
) -> None:
    stage.orchestrator.refuses = refusal(status, reason, "Something with the secret table.")
    reply = await chat(stage, {"prompt": "x"})
    assert told(reply) == expected
    assert (expected[0] == 429) == ("retry-after" in reply.headers)
    if expected[0] == 500:
        assert "secret" not in reply.text
    elif expected[0] == 409:
        assert reply.json()["detail"] == {"asked": "this"}


async def test_the_owner_comes_from_the_key_only(stage: Stage) -> None:
    headers = {"X-API-Key": BOB, "x-zocrates-owner": "ada"}
    await stage.http.get("/sessions", headers=headers)
    assert stage.orchestrator.owners[-1] == "bob"


@pytest.mark.parametrize(
    ("key", "wanted", "searched"),
    [
        (ADA, None, None),
        (ADA, [], []),
        (ADA, ["user"], ["user"]),
        (BOB, None, ["groups/7"]),
        (BOB, ["user", "groups/7"], ["groups/7"]),
        (BOB, ["user"], []),
        (EVE, None, []),
        (EVE, ["user"], []),
    ],
)
async def test_a_search_sees_the_libraries_that_are_wanted_and_allowed(
    stage: Stage, key: str, wanted: list[str] | None, searched: list[str] | None
) -> None:
    body: dict[str, Any] = {"prompt": "x"}
    if wanted is not None:
        body["scope"] = {"libraries": wanted}
    async with stage.http.stream("POST", "/chat", json=body, headers={"X-API-Key": key}) as reply:
        assert reply.status_code == 200
    scope = stage.orchestrator.turns[-1].scope
    assert scope.HasField("libraries") == (searched is not None)
    assert list(scope.libraries.values) == (searched or [])


async def test_a_question_is_answered_503_while_the_orchestrator_is_away(
    nats_server: NatsServer,
) -> None:
    async with Stage(nats_server.url).lit() as stage:
        await stage.stop_orchestrator()
        reply = await chat(stage, {"prompt": "x"})
        assert told(reply) == (503, "PEER_DOWN")
        assert int(reply.headers["Retry-After"]) > 0
        ready = await stage.http.get("/readiness")
        assert (ready.status_code, ready.json()["status"]) == (503, "not ready")
        assert ready.json()["peers"] == {"orchestrator": "unreachable", "search": "serving"}
        assert (await stage.http.get("/library")).status_code == 200
        await stage.start_orchestrator()

        async def is_back() -> bool:
            return (await stage.http.get("/sessions")).status_code == 200

        await until(is_back)


async def test_allowed_origins_get_cors_headers_also_on_refusals(nats_server: NatsServer) -> None:
    origin = {"Origin": "https://lab.example"}
    async with Stage(nats_server.url, allowed_origins=("https://lab.example",)).lit() as stage:
        for key, status in ((ADA, 200), ("wrong", 401)):
            reply = await stage.http.get("/sessions", headers={**origin, "X-API-Key": key})
            assert reply.status_code == status
            assert reply.headers["Access-Control-Allow-Origin"] == "https://lab.example"
        asks = {
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "x-api-key",
        }
        async with httpx.AsyncClient(base_url=stage.http.base_url) as anonymous:
            preflight = await anonymous.options("/chat", headers={**origin, **asks})
            foreign = await anonymous.options("/chat", headers={"Origin": "https://x.y", **asks})
        assert preflight.status_code == 200
        assert told(foreign) == (403, "FORBIDDEN_ORIGIN")


async def test_a_bug_is_answered_with_a_fixed_text(nats_server: NatsServer) -> None:
    async with Stage(nats_server.url).lit() as stage:
        # A state that the wire does not know is a bug of the peer or of ours.
        stage.orchestrator.add(state=0)
        run = next(iter(stage.orchestrator.runs.values()))
        reply = await stage.http.get(f"/sessions/{run.session_id}")
        assert told(reply) == (500, "INTERNAL")
        assert "state" not in reply.json()["error"]


async def test_without_keys_everybody_is_the_local_owner(nats_server: NatsServer) -> None:
    open_house: dict[str, Any] = {"keys": (), "skip_auth": True, "environment": "test"}
    async with Stage(nats_server.url, **open_house).lit() as stage:
        async with httpx.AsyncClient(base_url=stage.http.base_url) as anonymous:
            assert (await anonymous.get("/sessions")).status_code == 200
            link = (await anonymous.post("/page-links")).json()["url"]
        await until(lambda: stage.orchestrator.owners == ["local"])
        assert link == f"{stage.http.base_url}/"
