"""A typed client of the gateway: runs as event streams that survive a broken connection."""

import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

from gateway import control, holdings, library_wire, wire
from gateway.connection import Connection, GatewayAway, NothingThere, Refused, Reply, decoded
from gateway.location import Location
from gateway.patience import Patience
from gateway.sse import ServerEvent
from gateway.task_client import Tasks

# How long a gateway or a process behind it may be away, for example to be started again.
PATIENCE_S = 30.0
AWAY = frozenset({502, 503})


@dataclass(frozen=True, slots=True, kw_only=True)
class RunId:
    """Which run of which session."""

    session_id: str
    invocation_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """The request that opens a run's stream."""

    path: str
    body: Mapping[str, Any]
    # The same key in each attempt, so that a request whose reply was lost has one effect.
    key: str = field(default_factory=lambda: uuid.uuid4().hex)


@dataclass(slots=True)
class _Position:
    """How far a stream of a run has been read."""

    session_id: str = ""
    invocation_id: str = ""
    last_id: str = ""
    has_begun: bool = False

    def passed(self, event: ServerEvent) -> None:
        """Remember where to go on after this event."""
        self.has_begun = True
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
        self._connection = Connection(location, transport=transport)
        self._patience_s = patience_s
        self.tasks = Tasks(self._connection, patience_s=patience_s)

    async def __aenter__(self) -> Self:
        await self._connection.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._connection.__aexit__(kind, error, trace)

    def ask(
        self,
        prompt: str,
        *,
        session_id: str | None = None,
        options: wire.TurnOptions | None = None,
    ) -> AsyncGenerator[ServerEvent, None]:
        """Ask, and give the run's events until it is done or waits for a decision.

        The connection may break: the question is not asked twice and no event is lost or repeated.
        """
        body: dict[str, Any] = {"prompt": prompt}
        if session_id:
            body["session_id"] = session_id
        if options is not None:
            body["options"] = options.model_dump(exclude_defaults=True)
        return self._events(_Start(path="/chat", body=body), _Position())

    def resume(
        self,
        run: RunId,
        interrupt_id: str,
        *,
        action: str,
        guidance: str | None = None,
        message: str | None = None,
        expected_version: int | None = None,
    ) -> AsyncGenerator[ServerEvent, None]:
        """Decide at a checkpoint, and give the run's events from there, in the same way.

        The first step raises Refused with the code STALE_INTERRUPT when it was decided already.
        """
        body: dict[str, Any] = {
            "session_id": run.session_id,
            "invocation_id": run.invocation_id,
            "interrupt_id": interrupt_id,
            "response": {"action": action},
        }
        if guidance:
            body["response"]["guidance"] = guidance
        if message:
            body["response"]["message"] = message
        if expected_version is not None:
            body["expected_version"] = expected_version
        return self._events(_Start(path="/chat/resume", body=body), _Position())

    def retry(self, run: RunId) -> AsyncGenerator[ServerEvent, None]:
        """Let a failed or cancelled run go on, and give its events from there, in the same way."""
        path = f"{_session_path(run.session_id)}/retry"
        start = _Start(path=path, body={"invocation_id": run.invocation_id})
        return self._events(start, _Position())

    def follow(self, run: RunId, *, last_id: str = "") -> AsyncGenerator[ServerEvent, None]:
        """The run's events after a position, through checkpoints, until it is over."""
        return self._events(None, _position(run, last_id))

    async def cancel(self, run: RunId) -> control.RunStanding:
        """Cancel a run, at once."""
        return await self._change(run, "cancel", control.RunStanding)

    async def rewind(self, run: RunId) -> control.Rewound:
        """Take a run and all later ones out of its session, at once."""
        return await self._change(run, "rewind", control.Rewound)

    async def rename(self, session_id: str, title: str) -> wire.SessionSummary:
        """Give a session another title."""
        path = _session_path(session_id)
        async with self._connection.sent("PATCH", path, json={"title": title}) as response:
            return await decoded(response, wire.SessionSummary)

    async def delete(self, session_id: str) -> None:
        """Delete a session with all its runs, at once."""
        async with self._connection.sent("DELETE", _session_path(session_id)):
            pass

    async def checkpoint(self, run: RunId) -> control.Checkpoint:
        """The checkpoint that a run waits at, with what it is about."""
        return await self._read(f"{_run_path(run)}/checkpoint", control.Checkpoint)

    async def sync(
        self, *, full: bool = False, retry_failed: bool = False
    ) -> AsyncGenerator[ServerEvent, None]:
        """Bring the index up to date and give its progress; a running sync is joined."""
        body = {"full": full, "retry_failed": retry_failed}
        stream = self._connection.stream("POST", "/library/sync", body=body)
        async with aclosing(stream) as events:
            async for event in events:
                yield event

    async def library(self) -> library_wire.Library:
        """The state of the library."""
        return await self._read("/library", library_wire.Library)

    async def choose_source(self, choice: holdings.SourceChoice) -> None:
        """Have the library read from another place from now on."""
        body = choice.model_dump(exclude_none=True)
        async with self._connection.sent("PUT", "/library/source", json=body):
            pass

    async def held(self) -> holdings.Holdings:
        """Everything that a scope can name, with exact counts."""
        return await self._read("/library/collections", holdings.Holdings)

    async def sessions(self, *, limit: int = 20, cursor: str | None = None) -> wire.SessionList:
        """One page of the sessions, the latest first."""
        params = {"limit": str(limit), **({"cursor": cursor} if cursor else {})}
        return await self._read("/sessions", wire.SessionList, params)

    async def session(self, session_id: str) -> wire.Session:
        """A session with its messages."""
        return await self._read(_session_path(session_id), wire.Session)

    async def page_link(self) -> str:
        """A new address that opens the page once."""
        async with self._connection.sent("POST", "/page-links") as response:
            return (await decoded(response, wire.PageLink)).url

    async def _read(
        self, path: str, kind: type[Reply], params: Mapping[str, str] | None = None
    ) -> Reply:
        """What is at a path; waits while a process behind the gateway is away."""
        patience = Patience(self._patience_s)
        while True:
            try:
                return await self._connection.get(path, kind, params)
            except Refused as error:
                if error.status not in AWAY:
                    raise
                await patience.pause(error, at_least_s=error.retry_after_s)

    async def _change(self, run: RunId, verb: str, kind: type[Reply]) -> Reply:
        path = f"{_session_path(run.session_id)}/{verb}"
        body = {"invocation_id": run.invocation_id}
        async with self._connection.sent("POST", path, json=body) as response:
            return await decoded(response, kind)

    async def _events(
        self, start: _Start | None, position: _Position
    ) -> AsyncGenerator[ServerEvent, None]:
        """Events to the end of the stream, over as many connections as it takes.

        Without a start the run is only followed.
        """
        patience = Patience(self._patience_s)
        while True:
            try:
                # Closed at once, also when the caller stops early: the connection is let go.
                async with aclosing(self._connected(start, position)) as events:
                    async for event in events:
                        patience.renew()
                        yield event
                        if event.name == "done":
                            return
                away = GatewayAway(f"{self._connection.base_url} broke the answer off.")
                await patience.pause(away)
            except GatewayAway as error:
                if isinstance(error, NothingThere) and not position.has_begun:
                    raise
                await patience.pause(error)
            except Refused as error:
                if error.status not in AWAY:
                    raise
                await patience.pause(error, at_least_s=error.retry_after_s)

    async def _connected(
        self, start: _Start | None, position: _Position
    ) -> AsyncGenerator[ServerEvent, None]:
        """One connection's worth of a run's events, from where the last connection broke."""
        if start is None or position.has_begun:
            run = RunId(session_id=position.session_id, invocation_id=position.invocation_id)
            headers = {"Last-Event-ID": position.last_id} if position.last_id else {}
            stream = self._connection.stream("GET", f"{_run_path(run)}/events", headers=headers)
        else:
            headers = {"Idempotency-Key": start.key}
            stream = self._connection.stream("POST", start.path, body=start.body, headers=headers)
        async with aclosing(stream) as events:
            async for event in events:
                if event.name == "error" and not event.id:
                    # Not the run failed, only this stream of it.
                    raise GatewayAway(str(event.data.get("message", "The stream broke off.")))
                position.passed(event)
                yield event


def _position(run: RunId, last_id: str) -> _Position:
    # A message without events stands at 0, which is no id of an event.
    last = "" if last_id == "0" else last_id
    return _Position(session_id=run.session_id, invocation_id=run.invocation_id, last_id=last)


def _session_path(session_id: str) -> str:
    return f"/sessions/{quote(session_id, safe='')}"


def _run_path(run: RunId) -> str:
    return f"{_session_path(run.session_id)}/runs/{quote(run.invocation_id, safe='')}"
