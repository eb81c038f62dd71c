"""Where an orchestrator can be made to die: around every call of its store, its peers and its bus.

What is wrapped is found by looking at the surroundings that the process is composed of, so that a
new store, peer or method is a new point by itself.
"""

import inspect
import os
import re
import signal
from collections.abc import AsyncGenerator, Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from services.orchestrator.process import Surroundings

Reach = Callable[[str], None]


class Points(NamedTuple):
    """The names of a call's beginning and of its end."""

    before: str
    after: str


def seamed(around: Surroundings, reach: Reach) -> Surroundings:
    """The same surroundings; each call of theirs tells when it begins and when it has ended."""
    return replace(
        around,
        store=_all_between(around.store, reach),
        peers=_all_between(around.peers, reach),
        bus=Between(around.bus, reach),  # type: ignore[arg-type]  # it does what a bus does
    )


def calls_of(kind: type) -> list[str]:
    """The public calls of a class that leave the process, as `Class.method`."""
    return [
        f"{kind.__name__}.{name}"
        for name, member in inspect.getmembers(kind)
        if not name.startswith("_") and _leaves(member)
    ]


def _leaves(member: object) -> bool:
    return inspect.iscoroutinefunction(member) or inspect.isasyncgenfunction(member)


def _all_between(parts: Any, reach: Reach) -> Any:  # a dataclass of collaborators, and its like
    wrapped = {one.name: Between(getattr(parts, one.name), reach) for one in fields(parts)}
    return replace(parts, **wrapped)


class Between:
    """Stands for a collaborator; its calls pass through, everything else is its own."""

    def __init__(self, inner: object, reach: Reach) -> None:
        self._inner = inner
        self._reach = reach

    def __getattr__(self, name: str) -> Any:  # whatever the collaborator has there
        member = getattr(self._inner, name)
        if name.startswith("_") or not _leaves(member):
            return member
        call = f"{type(self._inner).__name__}.{name}"
        if inspect.isasyncgenfunction(member):
            return self._generator(call, member)
        return self._coroutine(call, member)

    def _coroutine(self, call: str, member: Callable[..., Any]) -> Callable[..., Any]:
        async def passed_on(*given: Any, **named: Any) -> Any:
            label = label_of(call, given, named)
            self._reach(f"before {call}{label}")
            result = await member(*given, **named)
            self._reach(f"after {call}{label}{found(call, result)}")
            return result

        return passed_on

    def _generator(self, call: str, member: Callable[..., Any]) -> Callable[..., Any]:
        async def passed_on(*given: Any, **named: Any) -> AsyncGenerator[Any, None]:
            self._reach(f"before {call}")
            async for piece in member(*given, **named):
                self._reach(f"amid {call} {type(piece).__name__}")
                yield piece
            self._reach(f"after {call}")

        return passed_on


def label_of(call: str, given: tuple[Any, ...], named: dict[str, Any]) -> str:
    """What tells this call from others of its name."""
    match call:
        case "History.record":
            entry = given[1]
            # Results that are there at the same time are written together, or else one by one.
            key = re.sub(r"/call_\d+$", "/calls", entry.step.key) if entry.step else ""
            step = key if entry.step is None or entry.step.is_done else f"{key} begun"
            return f" {' '.join(part for part in (step, entry.leaving or '') if part)}"
        case "SynthPeer.investigate":
            brief, transcript, _ = given
            return f" pass_{brief.number}/turn_{len(transcript) + 1}"
        case "SearchPeer.search":
            return f" {given[0].query}"
        case "Checkpoints.decide":
            return f" {given[0].interrupt_id}"
        case _:
            return ""


def found(call: str, result: Any) -> str:
    """Of a call that is made again and again: whether it found something."""
    match call:
        case (
            "Runs.claim"
            | "Outbox.claim"
            | "Outbox.unpublished"
            | "Checkpoints.expire"
            | "ReviewExpiry.expire"
        ):
            return " something" if result else " nothing"
        case _:
            return ""


class Fate:
    """Notes the points that a process reaches, and ends it at the next one that it is given.

    The folder is shared with whoever decides: `armed` holds a line for each death to come, of how
    many times the point is reached, and the point; `reached` holds a line for each point.
    """

    def __init__(self, folder: Path) -> None:
        self._armed = folder / "armed"
        self._reached = os.open(folder / "reached", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._waits_for = ""
        self._times = 0

    def reach(self, point: str) -> None:
        """Go on, or die here."""
        os.write(self._reached, f"{point}\n".encode())
        first, _, others = self._armed.read_text().partition("\n")
        if first != self._waits_for:
            self._waits_for, self._times = first, 0
        times, _, wanted = first.partition(" ")
        if wanted != point:
            return
        self._times += 1
        if self._times == int(times):
            following = self._armed.with_suffix(".next")
            following.write_text(others)
            following.replace(self._armed)
            os.kill(os.getpid(), signal.SIGKILL)
