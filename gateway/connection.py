"""HTTP to a gateway: requests, replies and event streams, each failure as one sentence."""

import asyncio
import ipaddress
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, ValidationError

from gateway import wire
from gateway.location import Location
from gateway.sse import EventParser, ServerEvent

CONNECT_S = 5.0
REPLY_S = 30.0
LOOK_S = 0.25
# The gateway writes a comment every 15 seconds, so a longer silence is a dead connection.
SILENCE_S = 45.0

END_MARK = "[DONE]"

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

    def __init__(
        self,
        text: str,
        *,
        code: str,
        status: int,
        detail: Mapping[str, str],
        retry_after_s: float,
    ) -> None:
        super().__init__(text)
        self.code = code
        self.status = status
        self.detail = detail
        self.retry_after_s = retry_after_s


class Connection:
    """Use it as an asynchronous context manager."""

    def __init__(
        self, location: Location, *, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.base_url = location.base_url
        self._restart_s = location.restart_s
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

    async def stream(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[ServerEvent, None]:
        """The events of a reply; raises a ClientError when there is none or it breaks off."""
        parser = EventParser(end_mark=END_MARK)
        timeout = httpx.Timeout(SILENCE_S, connect=CONNECT_S)
        async with self.sent(
            method, path, json=body, headers=headers, params=params, timeout=timeout
        ) as response:
            async for piece in response.aiter_bytes():
                for event in parser.feed(piece):
                    yield event

    async def get(
        self, path: str, kind: type[Reply], params: Mapping[str, str] | None = None
    ) -> Reply:
        """The reply to a GET."""
        async with self.sent("GET", path, params=params) as response:
            return await decoded(response, kind)

    @asynccontextmanager
    async def sent(self, method: str, path: str, **parts: Any) -> AsyncIterator[httpx.Response]:
        """A successful response to a request; raises a ClientError for anything else."""
        try:
            async with aclosing(await self._opened(method, path, parts)) as response:
                if not response.is_success:
                    await response.aread()
                    raise self._refusal(response)
                yield response
        except httpx.InvalidURL as error:
            raise GatewayAway(f"{self.base_url!r} is no address: {error}.") from error
        except httpx.UnsupportedProtocol as error:
            raise GatewayAway(f"{self.base_url!r} does not begin with http:// .") from error
        except httpx.ConnectError as error:
            raise NothingThere(
                f"Nothing answers at {self.base_url}; start Zocrates with: zocrates up"
            ) from error
        except httpx.TimeoutException as error:
            raise GatewayAway(f"{self.base_url} does not answer in time; ask again.") from error
        except (httpx.TransportError, ValueError) as error:
            raise GatewayAway(f"{self.base_url} broke off its answer ({error}).") from error

    async def _opened(self, method: str, path: str, parts: Mapping[str, Any]) -> httpx.Response:
        """The reply, whose body is not read yet; waits for a gateway that is started again."""
        loop = asyncio.get_running_loop()
        give_up = loop.time() + self._restart_s
        while True:
            request = self._http.build_request(method, path, **parts)
            try:
                return await self._http.send(request, stream=True)
            except httpx.ConnectError:
                # Nothing was sent, so nothing can happen twice.
                if loop.time() >= give_up:
                    raise
            await asyncio.sleep(LOOK_S)

    def _refusal(self, response: httpx.Response) -> ClientError:
        try:
            body = wire.ErrorBody.model_validate_json(response.content)
        except ValidationError:
            return GatewayAway(
                f"{self.base_url} answered {response.status_code} in a way that the gateway of "
                "Zocrates does not; is another program there?"
            )
        if response.status_code == httpx.codes.UNAUTHORIZED:
            return WrongKey(
                f"{self.base_url} does not accept the key; `zocrates env` prints the right one "
                "where Zocrates runs, for the variable ZOCRATES_API_KEY."
            )
        return Refused(
            body.error,
            code=body.code,
            status=response.status_code,
            detail=body.detail,
            retry_after_s=_seconds(response.headers.get("Retry-After", "")),
        )


async def decoded(response: httpx.Response, kind: type[Reply]) -> Reply:
    """The reply of a response; raises GatewayAway when it is something else."""
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
