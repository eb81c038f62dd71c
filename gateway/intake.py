"""The inner ring: the caller's key, a whole body of known size and kind, HEAD answered as GET."""

import asyncio
from typing import NoReturn

from starlette.datastructures import Headers, QueryParams
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.auth import Caller, Doorkeeper
from gateway.errors import GatewayError
from gateway.guard import PROBES, reply_with
from gateway.settings import Settings

# What a browser or a client must get before it can have a key.
OPEN_PATHS = PROBES | {"/", "/page-key", "/openapi.json"}
OPEN_FOLDER = "/page/"
# A browser's own reader of event streams can send no headers; nowhere else may a key stand in an
# address, which is logged and remembered.
STREAMS = "/api/v1/stream/"
QUERY_KEYS = ("api_key", "token")
# A body up to so many times the limit is read to its end and thrown away: a client that is still
# sending when the connection closes sees a broken connection instead of the answer.
DRAINED = 32
# What may carry attachments. Such bodies are taken one after the other, each in its time, so that
# several do not fill the memory together.
SUBMISSIONS = frozenset({"/api/v1/tasks", "/api/v1/tasks/stream"})
LARGE_BODY_S = 60.0
WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class Intake:
    """Hands a request on with its caller in the request's state and its body in one piece."""

    def __init__(self, app: ASGIApp, *, settings: Settings, doorkeeper: Doorkeeper) -> None:
        self._app = app
        self._limit = settings.max_body_bytes
        self._submission_limit = settings.max_submission_bytes
        self._one_large = asyncio.Lock()
        self._doorkeeper = doorkeeper

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if not self._is_large_submission(scope, headers):
            await self._serve(scope, headers, receive, send, self._limit)
            return
        async with self._one_large:
            await self._serve(scope, headers, receive, send, self._submission_limit)

    async def _serve(
        self, scope: Scope, headers: Headers, receive: Receive, send: Send, limit: int
    ) -> None:
        path = scope["path"]
        try:
            if path not in OPEN_PATHS and not path.startswith(OPEN_FOLDER):
                scope.setdefault("state", {})["caller"] = self._caller(scope, headers)
            if scope["method"] in WITH_BODY:
                receive = await self._with_whole_body(headers, receive, limit)
        except GatewayError as error:
            await reply_with(error)(scope, receive, send)
            return
        if scope["method"] == "HEAD":
            await _answer_head(self._app, scope, send)
        else:
            await self._app(scope, receive, send)

    def _is_large_submission(self, scope: Scope, headers: Headers) -> bool:
        if scope["method"] != "POST" or scope["path"] not in SUBMISSIONS:
            return False
        return _declared(headers) > self._limit

    def _caller(self, scope: Scope, headers: Headers) -> Caller:
        path = scope["path"]
        key = _key_in(headers)
        if key is None and scope["method"] == "GET" and path.startswith(STREAMS):
            key = _key_in_query(QueryParams(scope["query_string"]))
        return self._doorkeeper.admit(key, path)

    async def _with_whole_body(self, headers: Headers, receive: Receive, limit: int) -> Receive:
        if _declared(headers) > max(limit, DRAINED * self._limit):
            self._refuse(limit)
        pieces = receive if limit == self._limit else _in_time(receive)
        body = bytearray()
        size = 0
        more = True
        while more:
            message = await pieces()
            if message["type"] == "http.disconnect":
                return _replaying(message, receive)
            chunk = message.get("body", b"")
            size += len(chunk)
            if size > max(limit, DRAINED * self._limit):
                self._refuse(limit)
            if size <= limit:
                body += chunk
            more = message.get("more_body", False)
        if size > limit:
            self._refuse(limit)
        if body:
            _check_kind(headers, bytes(body))
        whole: Message = {"type": "http.request", "body": bytes(body), "more_body": False}
        return _replaying(whole, receive)

    def _refuse(self, limit: int) -> NoReturn:
        raise GatewayError(
            "TOO_LARGE",
            f"The body is larger than {limit} bytes.",
            detail={"max_bytes": str(limit)},
            # What was not read would be taken for the next request.
            headers={"Connection": "close"},
        )


def _in_time(receive: Receive) -> Receive:
    """Gives a body up whose pieces keep others waiting."""
    end = asyncio.get_running_loop().time() + LARGE_BODY_S

    async def received() -> Message:
        try:
            async with asyncio.timeout_at(end):
                return await receive()
        except TimeoutError as error:
            raise GatewayError(
                "INVALID_REQUEST",
                f"The body did not arrive within {LARGE_BODY_S:.0f} s; send it again.",
                headers={"Connection": "close"},
            ) from error

    return received


def _declared(headers: Headers) -> int:
    length = headers.get("content-length", "0")
    return int(length) if length.isascii() and length.isdecimal() else 0


def _check_kind(headers: Headers, body: bytes) -> None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise GatewayError(
            "UNSUPPORTED_MEDIA_TYPE",
            "The body must be JSON, sent with Content-Type: application/json.",
        )
    try:
        body.decode()
    except UnicodeDecodeError as error:
        text = f"The body is not valid UTF-8 (byte {error.start})."
        raise GatewayError("INVALID_REQUEST", text) from error


def _key_in(headers: Headers) -> str | None:
    if (key := headers.get("x-api-key")) is not None:
        return key
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def _key_in_query(query: QueryParams) -> str | None:
    return next((key for name in QUERY_KEYS if (key := query.get(name))), None)


def _replaying(first: Message, rest: Receive) -> Receive:
    pending = [first]

    async def receive() -> Message:
        return pending.pop() if pending else await rest()

    return receive


async def _answer_head(app: ASGIApp, scope: Scope, send: Send) -> None:
    """Answer as GET would, without the body; a stream ends as soon as its headers are out."""
    started = asyncio.Event()

    async def send_head(message: Message) -> None:
        if message["type"] == "http.response.start":
            await send(message)
            started.set()

    async def receive() -> Message:
        await started.wait()
        return {"type": "http.disconnect"}

    scope["method"] = "GET"
    try:
        await app(scope, receive, send_head)
    finally:
        scope["method"] = "HEAD"
    await send({"type": "http.response.body", "body": b"", "more_body": False})
