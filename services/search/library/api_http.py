"""Requests to an API of Zotero: few at a time, patient when told to wait, clear when refused."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import httpx

from services.search.library.api_items import Json
from services.search.library.source import SourceRefused, SourceUnreachable

OK, NOT_MODIFIED, FORBIDDEN, NOT_FOUND = 200, 304, 403, 404
WAIT_AND_REPEAT = frozenset({429, 500, 502, 503, 504})
REFUSALS = frozenset({401, 403})
# An order that no change of an item disturbs while its pages are read.
STEADY_ORDER = {"sort": "dateAdded", "direction": "asc"}
FIRST_PAUSE_S = 1.0

Params = Mapping[str, str | int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """How a source is treated."""

    concurrency: int
    """Requests under way at once."""
    page: int
    """Objects of a page."""
    timeout_s: float
    """Longest silence within a reply."""
    attempts: int = 5
    longest_wait_s: float = 120.0
    """Asked to wait longer, the reading ends with that as its reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """All objects of a list, and what its replies said of the library."""

    objects: tuple[Json, ...]
    version: int | None
    is_unchanged: bool = False


class Unsteady(Exception):
    """The library changed while its pages were read; reading again may succeed."""


class ApiHttp:
    """A client for one server; close it when the source is done with."""

    def __init__(
        self,
        base_url: str,
        *,
        who: str,
        headers: Mapping[str, str],
        manners: Manners,
        help_when_refused: str,
        help_when_silent: str,
    ) -> None:
        self.base_url = base_url
        self._who = who
        self._manners = manners
        self._help_when_refused = help_when_refused
        self._help_when_silent = help_when_silent
        self._places = asyncio.Semaphore(manners.concurrency)
        self._not_before = 0.0
        self.latest: Mapping[str, str] = {}
        """The headers of the latest full reply, which name the program and its versions."""
        self._client = httpx.AsyncClient(
            # Zotero drops what looks like a browser; proxies have no business on loopback.
            headers={"User-Agent": f"Zocrates/{_own_version()}", **headers},
            timeout=httpx.Timeout(manners.timeout_s, connect=10.0),
            follow_redirects=False,
            trust_env=False,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def get(
        self, path: str, params: Params | None = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """A reply that is 200, 304 or 404; raises SourceUnreachable, SourceRefused."""
        async with self._reply(f"{self.base_url}{path}", params, headers) as response:
            await self._read_whole(response)
        if response.status_code == OK:
            self.latest = response.headers
        if response.status_code in (OK, NOT_MODIFIED, NOT_FOUND):
            return response
        if response.status_code in REFUSALS:
            raise SourceRefused(
                f"{self._who} refuses to give the library ({response.status_code}: "
                f"{response.text.strip()[:200]}). {self._help_when_refused}"
            )
        raise SourceUnreachable(
            f"{self._who} answered {path!r} with {response.status_code}: "
            f"{response.text.strip()[:200]}."
        )

    async def listing(
        self, path: str, params: Params | None = None, *, since: int | None = None
    ) -> Listing:
        """All pages of a list; with `since`, of what changed after that version.

        Raises Unsteady when the list changed between its pages.
        """
        asked: dict[str, str | int] = {**STEADY_ORDER, **(params or {})}
        headers = {}
        if since is not None:
            asked["since"] = since
            headers["If-Modified-Since-Version"] = str(since)
        objects: list[Json] = []
        versions: set[int | None] = set()
        while True:
            page = {**asked, "limit": self._manners.page, "start": len(objects)}
            response = await self.get(path, page, headers)
            if response.status_code == NOT_MODIFIED:
                return Listing(objects=(), version=since, is_unchanged=True)
            if response.status_code == NOT_FOUND:
                return Listing(objects=(), version=None)
            found = await asyncio.to_thread(_objects, response)
            versions.add(_number(response.headers.get("Last-Modified-Version")))
            objects += found
            total = _number(response.headers.get("Total-Results"))
            if not found or total is None or len(objects) >= total:
                break
        keys = {entry.get("key", entry.get("id")) for entry in objects}
        if len(versions) > 1 or len(keys) != len(objects):
            raise Unsteady
        return Listing(objects=tuple(objects), version=next(iter(versions)))

    async def json(self, path: str, params: Params | None = None) -> Any:
        """The reply as JSON; None where there is nothing at this path."""
        response = await self.get(path, params)
        return None if response.status_code == NOT_FOUND else _parsed(response)

    @asynccontextmanager
    async def download(self, url: str, *, foreign: bool) -> AsyncIterator[httpx.Response]:
        """A reply whose body is still to be read; a `foreign` address is not shown the key."""
        headers = {"Zotero-API-Key": ""} if foreign else None
        async with self._reply(url, None, headers) as response:
            yield response

    @asynccontextmanager
    async def _reply(
        self, url: str, params: Params | None, headers: Mapping[str, str] | None
    ) -> AsyncIterator[httpx.Response]:
        """The first reply that does not ask to come again."""
        async with self._places:
            for attempt in range(self._manners.attempts):
                await self._wait_until_welcome()
                request = self._client.build_request("GET", url, params=params, headers=headers)
                if request.headers.get("Zotero-API-Key") == "":
                    del request.headers["Zotero-API-Key"]
                try:
                    response = await self._client.send(request, stream=True)
                except httpx.HTTPError as error:
                    raise self._silent(error) from error
                is_last = attempt == self._manners.attempts - 1
                if response.status_code in WAIT_AND_REPEAT and not is_last:
                    await response.aclose()
                    self._note_wait(response, FIRST_PAUSE_S * 2**attempt)
                    continue
                self._note_wait(response, 0)
                try:
                    yield response
                finally:
                    await response.aclose()
                return

    def _note_wait(self, response: httpx.Response, at_least_s: float) -> None:
        """Remember how long the server wants to be left alone."""
        asked = [_number(response.headers.get(name)) for name in ("Retry-After", "Backoff")]
        told = [float(seconds) for seconds in asked if seconds is not None]
        wait_s = max(told) if told else at_least_s
        if wait_s > self._manners.longest_wait_s:
            raise SourceUnreachable(
                f"{self._who} asks to be left alone for {wait_s:.0f} seconds; the next sync "
                "goes on where this one stops."
            )
        until = asyncio.get_running_loop().time() + wait_s
        self._not_before = max(self._not_before, until)

    async def _wait_until_welcome(self) -> None:
        wait_s = self._not_before - asyncio.get_running_loop().time()
        if wait_s > 0:
            await asyncio.sleep(wait_s)

    async def _read_whole(self, response: httpx.Response) -> None:
        try:
            await response.aread()
        except httpx.HTTPError as error:
            raise self._silent(error) from error

    def _silent(self, error: httpx.HTTPError) -> SourceUnreachable:
        what = str(error) or type(error).__name__
        return SourceUnreachable(f"{self._who} does not answer ({what}). {self._help_when_silent}")


def number_in(headers: Mapping[str, str], name: str) -> int | None:
    """A header that is a number."""
    return _number(headers.get(name))


def _number(value: str | None) -> int | None:
    return int(value) if value is not None and value.isdecimal() else None


def _objects(response: httpx.Response) -> list[Json]:
    found = _parsed(response)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise SourceUnreachable(f"{str(response.url)!r} did not answer with a list of objects.")
    return found


def _parsed(response: httpx.Response) -> Any:
    try:
        return json.loads(response.content)
    except ValueError as error:
        raise SourceUnreachable(
            f"{str(response.url)!r} did not answer with JSON; is another program listening there?"
        ) from error


def _own_version() -> str:
    try:
        return version("zocrates")
    except PackageNotFoundError:
        return "0"
