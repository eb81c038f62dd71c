"""A researcher: asks, follows the run all the time, decides at each checkpoint, and keeps count."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.chaos.script import Decision, Plan

AWAY = (502, 503, 504)
PAUSE_S = 0.2
THINKING_S = 1.0
# One of so many decisions is sent twice at the same moment, as by a double click.
DOUBLED = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One frame of a stream."""

    name: str
    id: str
    data: dict[str, Any]

    @property
    def is_row(self) -> bool:
        """Whether it is a recorded event, and not made on the way."""
        return self.id.isdigit() and self.name != "done"


@dataclass
class Seen:
    """What came of a plan, as its researcher saw it."""

    plan: Plan
    session_id: str = ""
    run_id: str = ""
    # Type by sequence, in the order in which they came.
    rows: list[tuple[int, str]] = field(default_factory=list)
    last_id: str = ""
    markdown: str | None = None
    state: str = ""
    streams: int = 0
    decision_attempts: int = 0
    texts: dict[int, str] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)

    def wrong(self, what: str) -> None:
        """Note something that must not be."""
        self.violations.append(f"run {self.plan.number} ({self.run_id}): {what}")

    @property
    def path(self) -> str:
        """Where the run is followed."""
        return f"/sessions/{self.session_id}/runs/{self.run_id}/events"

    def take(self, frame: Frame) -> None:
        """Check and keep a frame."""
        if frame.is_row:
            expected = self.rows[-1][0] + 1 if self.rows else 1
            if int(frame.id) != expected or frame.data["sequence"] != expected:
                self.wrong(f"row {frame.id} ({frame.name}) came where {expected} was next")
            self.rows.append((int(frame.id), frame.name))
        self.last_id = frame.id or self.last_id
        match frame.name:
            case "answer_delta":
                self._written(frame.data)
            case "answer":
                self.markdown = frame.data["markdown"]
            case "error" if frame.id:
                self.wrong(f"the run failed: {frame.data['code']} {frame.data['message']}")
            case "snapshot":
                self.wrong("a snapshot came though nothing is forgotten")
            case "done":
                self.state = frame.data["state"]

    def _written(self, delta: dict[str, Any]) -> None:
        text = self.texts.get(delta["attempt"], "") if delta["offset"] else ""
        if len(text) != delta["offset"]:
            self.wrong(f"a piece of text at {delta['offset']} came after {len(text)} characters")
        self.texts[delta["attempt"]] = text + delta["text"]


@dataclass
class Researcher:
    """One plan in the hands of its researcher."""

    http: httpx.AsyncClient
    addresses: Sequence[str]
    seen: Seen
    chance: random.Random

    async def see_through(self) -> None:
        """Ask, follow, decide, until the run is over."""
        await self._ask()
        asked: set[str] = set()
        async with asyncio.TaskGroup() as deciding:
            while self.seen.state not in ("COMPLETED", "FAILED", "CANCELLED"):
                headers = {"Last-Event-ID": self.seen.last_id} if self.seen.last_id else {}
                self.seen.streams += 1
                async for frame in self._frames("GET", self.seen.path, headers=headers):
                    self.seen.take(frame)
                    interrupt_id = str(frame.data.get("interrupt_id", ""))
                    if frame.name == "request_input" and interrupt_id not in asked:
                        asked.add(interrupt_id)
                        deciding.create_task(self._decide(interrupt_id))

    async def _ask(self) -> None:
        plan = self.seen.plan
        while not self.seen.run_id:
            frames = self._frames(
                "POST",
                "/chat",
                json={"prompt": plan.question},
                headers={"Idempotency-Key": plan.key},
            )
            async for frame in frames:
                self.seen.session_id = frame.data["session_id"]
                self.seen.run_id = frame.data["invocation_id"]
                break

    async def _decide(self, interrupt_id: str) -> None:
        decision = next(
            (one for one in self.seen.plan.decisions if one.interrupt_id == interrupt_id), None
        )
        if decision is None:
            self.seen.wrong(f"it asked {interrupt_id!r}")
            return
        await asyncio.sleep(self.chance.uniform(0, THINKING_S))
        times = 2 if self.chance.random() < DOUBLED else 1
        await asyncio.gather(*(self._send(decision) for _ in range(times)))

    async def _send(self, decision: Decision) -> None:
        """Send until it is settled; the same key each time."""
        response = {"action": decision.action}
        if decision.guidance:
            response["guidance"] = decision.guidance
        body = {
            "session_id": self.seen.session_id,
            "invocation_id": self.seen.run_id,
            "interrupt_id": decision.interrupt_id,
            "response": response,
        }
        headers = {"Idempotency-Key": f"{self.seen.run_id}-{decision.interrupt_id}"}
        while True:
            self.seen.decision_attempts += 1
            async for frame in self._frames("POST", "/chat/resume", json=body, headers=headers):
                told = (frame.name, frame.data.get("interrupt_id"))
                if told != ("checkpoint_answered", decision.interrupt_id):
                    self.seen.wrong(f"the reply to {decision.interrupt_id!r} began with {told}")
                return

    async def _frames(self, method: str, path: str, **parts: Any) -> AsyncIterator[Frame]:
        """The frames of a reply until it ends or breaks; none when nobody answers now.

        Any gateway will do, as behind the one name that several have.
        """
        address = self.chance.choice(self.addresses)
        try:
            async with self.http.stream(method, f"{address}{path}", **parts) as reply:
                if reply.status_code == httpx.codes.OK:
                    async for frame in _parsed(reply):
                        if frame.name == "error" and not frame.id:
                            break  # the stream broke off, not the run
                        yield frame
                    return
                await reply.aread()
                if reply.status_code not in AWAY:
                    self.seen.wrong(f"{method} {path}: {reply.status_code} {reply.text[:300]}")
        except httpx.TransportError:
            pass  # the gateway is away, or went in the middle
        await asyncio.sleep(PAUSE_S)


async def _parsed(reply: httpx.Response) -> AsyncIterator[Frame]:
    pending = b""
    async for chunk in reply.aiter_raw():
        *blocks, pending = (pending + chunk).split(b"\n\n")
        for block in blocks:
            lines = [line for line in block.decode().split("\n") if not line.startswith(":")]
            fields = dict(line.split(": ", 1) for line in lines if line)
            if fields:
                yield Frame(
                    name=fields["event"],
                    id=fields.get("id", ""),
                    data=json.loads(fields["data"]),
                )
