"""A typed client of the gateway: questions as event streams that survive a broken connection."""

import ipaddress
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote, urlsplit

import httpx
from pydantic import BaseModel, ValidationError

from gateway import wire
from gateway.location import Location
from gateway.patience import Patience
from gateway.sse import EventParser, ServerEvent

CONNECT_S = 5.0
REPLY_S = 30.0
# The gateway writes a comment every 15 seconds, so a longer silence is a dead connection.
SILENCE_S = 45.0
# How long a gateway or a process behind it may be away, for example to be started again.
PATIENCE_S = 30.0
AWAY = frozenset({502, 503})

Reply = TypeVar("Reply", bound=BaseModel)


class ClientError(Exception):
    """The gateway did not do what was asked; the text is one sentence for a person."""


class GatewayAway(ClientError):
    """The gateway cannot be reached, is silent, or is none."""


class NothingThere(GatewayAway):
    """No program listens at the address."""


class WrongKey(ClientError):
    """The gateway does not know the key."""


class Refused(ClientError):
    """The gateway said no, with a stable code."""

    def __init__(self, text: str, *, code: str, status: int, retry_after_s: float) -> None:
        super().__init__(text)
        self.code = code
        self.status = status
        self.retry_after_s = retry_after_s


@dataclass(slots=True)
class _Position:
    """How far a stream of a run has been read."""

    session_id: str = ""
    invocation_id: str = ""
    last_id: str = ""

    @property
    def is_known(self) -> bool:
        return bool(self.session_id and self.invocation_id)

    def passed(self, event: ServerEvent) -> None:
        """Remember where to go on after this event."""
        self.session_id = str(event.data.get("session_id", self.session_id))
        self.invocation_id = str(event.data.get("invocation_id", self.invocation_id))
        self.last_id = event.id or self.last_id


class Client:
    """Use it as an asynchronous context manager."""

    def __init__(
        self,
        location: Location,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._base_url = location.base_url
        self._patience_s = patience_s
        self._http = httpx.AsyncClient(
            base_url=location.base_url,
            headers={"X-API-Key": location.api_key},
            timeout=httpx.Timeout(REPLY_S, connect=CONNECT_S),
            transport=transport,
            # A proxy of the environment cannot reach this machine's own addresses.
            trust_env=not is_loopback(location.base_url),
        )

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.__aexit__(kind, error, trace)

    async def ask(
        self, prompt: str, *, session_id: str | None = None
    ) -> AsyncGenerator[ServerEvent, None]:
        """Ask, and give the run's events until it is done.

        The connection may break: the question is not asked twice and no event is lost or repeated.
        """
        body = {"prompt": prompt, **({"session_id": session_id} if session_id else {})}
        # The same key in each attempt, so that a question whose reply was lost is one run.
        key = uuid.uuid4().hex
        position = _Position()
        patience = Patience(self._patience_s)
        while True:
            try:
                # Closed at once, also when the caller stops early: the connection is let go.
                async with aclosing(self._run_events(position, body, key)) as events:
                    async for event in events:
                        patience.renew()
                        yield event
                        if event.name == "done":
                            return
                await patience.pause(GatewayAway(f"{self._base_url} broke the answer off."))
            except GatewayAway as error:
                if isinstance(error, NothingThere) and not position.is_known:
                    raise
                await patience.pause(error)
            except Refused as error:
                if error.status not in AWAY:
                    raise
                await patience.pause(error, at_least_s=error.retry_after_s)

    async def sync(self, *, full: bool = False) -> AsyncGenerator[ServerEvent, None]:
        """Bring the index up to date and give its progress; a running sync is joined."""
        async with aclosing(self._stream("POST", "/library/sync", body={"full": full})) as events:
            async for event in events:
                yield event

    async def library(self) -> wire.Library:
        """The state of the library."""
        return await self._get("/library", wire.Library)

    async def sessions(self, *, limit: int = 20, cursor: str | None = None) -> wire.SessionList:
        """One page of the sessions, the latest first."""
        params = {"limit": str(limit), **({"cursor": cursor} if cursor else {})}
        return await self._get("/sessions", wire.SessionList, params)

    async def session(self, session_id: str) -> wire.Session:
        """A session with its messages."""
        return await self._get(f"/sessions/{quote(session_id, safe='')}", wire.Session)

    async def page_link(self) -> str:
        """A new address that opens the page once."""
        async with self._sent("POST", "/page-links") as response:
            return (await _decoded(response, wire.PageLink)).url

    async def _run_events(
        self, position: _Position, body: Mapping[str, Any], key: str
    ) -> AsyncGenerator[ServerEvent, None]:
        """One connection's worth of a run's events, from where the last connection broke."""
        if position.is_known:
            run = f"/sessions/{position.session_id}/runs/{position.invocation_id}/events"
            headers = {"Last-Event-ID": position.last_id} if position.last_id else {}
            stream = self._stream("GET", run, headers=headers)
        else:
            stream = self._stream("POST", "/chat", body=body, headers={"Idempotency-Key": key})
        async with aclosing(stream) as events:
            async for event in events:
                if event.name == "error" and not event.id:
                    # Not the run failed, only this stream of it.
                    raise GatewayAway(str(event.data.get("message", "The stream broke off.")))
                position.passed(event)
                yield event

    async def _stream(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[ServerEvent, None]:
        parser = EventParser()
        timeout = httpx.Timeout(SILENCE_S, connect=CONNECT_S)
        async with self._sent(
            method, path, json=body, headers=headers, timeout=timeout
        ) as response:
            async for piece in response.aiter_bytes():
                for event in parser.feed(piece):
                    yield event

    async def _get(
        self, path: str, kind: type[Reply], params: Mapping[str, str] | None = None
    ) -> Reply:
        async with self._sent("GET", path, params=params) as response:
            return await _decoded(response, kind)

    @asynccontextmanager
    async def _sent(self, method: str, path: str, **parts: Any) -> AsyncIterator[httpx.Response]:
        """A successful response to a request; raises a ClientError for anything else."""
        try:
            async with self._http.stream(method, path, **parts) as response:
                if not response.is_success:
                    await response.aread()
                    raise self._refusal(response)
                yield response
        except httpx.InvalidURL as error:
            raise GatewayAway(f"{self._base_url!r} is no address: {error}.") from error
        except httpx.UnsupportedProtocol as error:
            raise GatewayAway(f"{self._base_url!r} does not begin with http:// .") from error
        except httpx.ConnectError as error:
            raise NothingThere(
                f"Nothing answers at {self._base_url}; start Zocrates with: zocrates up"
            ) from error
        except httpx.TimeoutException as error:
            raise GatewayAway(f"{self._base_url} does not answer in time; ask again.") from error
        except (httpx.TransportError, ValueError) as error:
            raise GatewayAway(f"{self._base_url} broke off its answer ({error}).") from error

    def _refusal(self, response: httpx.Response) -> ClientError:
        try:
            body = wire.ErrorBody.model_validate_json(response.content)
        except ValidationError:
            return GatewayAway(
                f"{self._base_url} answered {response.status_code} in a way that the gateway of "
                "Zocrates does not; is another program there?"
            )
        if response.status_code == httpx.codes.UNAUTHORIZED:
            return WrongKey(
                f"{self._base_url} does not accept the key; `zocrates env` prints the right one "
                "where Zocrates runs, for the variable ZOCRATES_API_KEY."
            )
        return Refused(
            body.error,
            code=body.code,
            status=response.status_code,
            retry_after_s=_seconds(response.headers.get("Retry-After", "")),
        )


async def _decoded(response: httpx.Response, kind: type[Reply]) -> Reply:
    content = await response.aread()
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        raise GatewayAway(
            f"{response.url.host} answered something else than this version of Zocrates expects; "
            "use the command line of the same version as the gateway."
        ) from error


def is_loopback(base_url: str) -> bool:
    """Whether the address is this machine's own."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _seconds(value: str) -> float:
    return float(value) if value.isascii() and value.isdigit() else 0.0
