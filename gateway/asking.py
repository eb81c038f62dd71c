"""A run on the command line: asked or taken up, watched, decided at its checkpoints, to its end."""

import asyncio
import shlex
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from gateway import events, wire
from gateway.client import Client, RunId
from gateway.connection import ClientError, Refused
from gateway.deciding import APPROVE, EXTEND, REJECT, SYNTHESIZE, Decision, decide
from gateway.plain_text import complain
from gateway.sse import ServerEvent
from gateway.terminal import screen_for, show_checkpoint
from gateway.watching import WatchedRun, after, run_of

ANSWERED, RUN_FAILED, WAITING = 0, 3, 4
OVER = frozenset({"COMPLETED", "FAILED", "CANCELLED", "EXPIRED", "REWOUND", "DELETED"})

CHOSEN = {
    EXTEND: "extend the search",
    SYNTHESIZE: "synthesize",
    APPROVE: "approve",
    REJECT: "reject",
}
# Somebody else works on the same plan: what is decided on is read again.
OVERTAKEN = frozenset({"VERSION_CONFLICT", "FEEDBACK_IN_PROGRESS"})

T = TypeVar("T")
Events = AsyncGenerator[ServerEvent, None]
Begin = Callable[[Client], Events]


class NothingToDo(ClientError):
    """The session is in no state for what was asked."""


class Connected(Protocol):
    """Does work with a client, in an event loop of its own."""

    def __call__(self, work: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        """The work's result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a person is spoken to: in JSON or text, and about which data folder."""

    as_json: bool = False
    data: Path | None = None

    @property
    def can_ask(self) -> bool:
        """Whether somebody sits at the terminal."""
        return not self.as_json and sys.stdin.isatty() and sys.stdout.isatty()

    def command(self, *words: str) -> str:
        """A command to type."""
        folder = ["--data", str(self.data)] if self.data else []
        return shlex.join(["zocrates", *words, *folder])


def ask_question(
    connected: Connected,
    prompt: str,
    session: str | None,
    manner: Manner,
    options: wire.TurnOptions | None = None,
) -> int:
    """Ask and see the run through; returns the exit code."""
    try:
        return see_through(
            connected,
            WatchedRun(),
            lambda client: client.ask(prompt, session_id=session, options=options),
            manner,
        )
    except Refused as refused:
        if refused.code != "PENDING_CHECKPOINT" or session is None:
            raise
        raise NothingToDo(
            f"The session waits for a decision: {manner.command('resume', session)}\n"
            f"or take its last question back: {manner.command('rewind', session)}"
        ) from refused


def take_up(connected: Connected, session: str, decision: Decision | None, manner: Manner) -> int:
    """Decide at the checkpoint of the session's last run, or go on watching it."""
    run = connected(lambda client: last_run(client, session))
    if run.checkpoint is not None:
        return see_through(connected, run, _resuming(run, decision) if decision else None, manner)
    if decision is not None or run.state in OVER:
        before = f"{_chosen(run.decided)}\n" if decision is not None and run.decided else ""
        can_go_on = run.state in ("FAILED", "CANCELLED")
        raise NothingToDo(
            f"The session waits for no decision: its last run is {_in_words(run.state)}.\n{before}"
            + (f"Let it go on with: {manner.command('retry', session)}\n" if can_go_on else "")
            + f"See it with: {manner.command('sessions', session)}"
        )
    return see_through(connected, run, _following(run), manner)


def retry_run(connected: Connected, session: str, manner: Manner) -> int:
    """Let the session's last run go on after a failure, and see it through."""
    run = connected(lambda client: last_run(client, session))
    return see_through(connected, run, lambda client: client.retry(_id(run)), manner)


async def last_run(client: Client, session_id: str) -> WatchedRun:
    """The session's last run as it stands; raises NothingToDo when there is none."""
    session = await client.session(session_id)
    if not session.messages:
        raise NothingToDo("The session has no question.")
    return run_of(session.id, session.messages[-1])


def see_through(connected: Connected, run: WatchedRun, begin: Begin | None, manner: Manner) -> int:
    """Watch a run to its end, asking the person at each checkpoint; returns the exit code."""
    # Each stretch has its own event loop and none runs at a prompt, so that Ctrl-C ends the prompt.
    while True:
        if begin is not None:
            run = _watched(connected, run, begin, manner)
        if run.checkpoint is None:
            return _ended(run, manner)
        decision = _decision(run, manner)
        if decision is None:
            return WAITING
        begin = _resuming(run, decision)


def _watched(connected: Connected, run: WatchedRun, begin: Begin, manner: Manner) -> WatchedRun:
    try:
        return connected(lambda client: watch(begin(client), run, manner))
    except Refused as late:
        if late.code in OVERTAKEN and manner.can_ask:
            complain(str(late))
            return connected(lambda client: last_run(client, run.session_id))
        if late.code != "STALE_INTERRUPT":
            raise
        if not manner.can_ask:
            raise NothingToDo(_decided(late)) from late
        complain(_decided(late))
    # Somebody else was faster, and their decision holds.
    return connected(lambda client: watch(_following(run)(client), run, manner))


async def watch(stream: Events, run: WatchedRun, manner: Manner) -> WatchedRun:
    """Show a run's events as they come; returns the run after the last one."""
    screen = screen_for(sys.stdout, sys.stderr, as_json=manner.as_json)
    try:
        async with aclosing(stream) as events:
            async for event in events:
                run = after(run, event)
                screen.show(run, event)
    except asyncio.CancelledError:
        screen.close()
        if run.session_id:
            complain(
                f"the run goes on; follow it with: {manner.command('resume', run.session_id)}\n"
                f"or cancel it with: {manner.command('cancel', run.session_id)}"
            )
        raise
    finally:
        screen.close()
    return run


def _following(run: WatchedRun) -> Begin:
    async def events(client: Client) -> Events:
        async with aclosing(client.follow(_id(run), last_id=run.last_id)) as stream:
            async for event in stream:
                yield event
                if event.name == "request_input":
                    # The run's own stream goes on through checkpoints; here they are answered.
                    return

    return events


def _resuming(run: WatchedRun, decision: Decision) -> Begin:
    asked = run.checkpoint
    assert asked is not None
    return lambda client: client.resume(
        _id(run),
        asked.interrupt_id,
        action=decision.action,
        guidance=decision.guidance,
        message=decision.message,
        expected_version=asked.version,
    )


def _decision(run: WatchedRun, manner: Manner) -> Decision | None:
    """What the person decides; None, with the commands to type, when nobody does now."""
    asked = run.checkpoint
    assert asked is not None
    if not manner.can_ask or asked.payload is None:
        if not manner.as_json:
            show_checkpoint(asked, sys.stderr)
        complain(_how_to_decide(run, manner))
        return None
    show_checkpoint(asked, sys.stdout)
    try:
        decision = decide(asked.payload, input, print)
    except KeyboardInterrupt:
        print()
        complain(_how_to_decide(run, manner))
        raise
    if decision is None:
        complain(_how_to_decide(run, manner))
    return decision


def _how_to_decide(run: WatchedRun, manner: Manner) -> str:
    match run.checkpoint.payload if run.checkpoint else None:
        case events.PlanCheckpoint():
            ways = [["--approve"], ["--feedback", "TEXT"]]
        case events.ApprovalCheckpoint():
            ways = [["--approve"], ["--reject"]]
        case _:
            ways = [["--extend"], ["--synthesize"]]
    commands = [manner.command("resume", run.session_id, *way) for way in ways]
    return f"the run waits for a decision: {commands[0]}\nor: {commands[1]}"


def _decided(late: Refused) -> str:
    """Who decided what and when, as far as it is told; a withdrawn checkpoint has no action."""
    try:
        answered = events.CheckpointAnswered.model_validate(
            {"interrupt_id": "", **late.detail}, extra="ignore"
        )
    except ValidationError:
        return str(late)
    return _chosen(answered)


def _chosen(answered: events.CheckpointAnswered) -> str:
    when = ""
    if answered.answered_at is not None:
        when = f" at {answered.answered_at.astimezone():%H:%M:%S on %Y-%m-%d}"
    chosen = f"{answered.answered_by} chose to {CHOSEN.get(answered.action, answered.action)}"
    return f"The checkpoint was answered already: {chosen}{when}."


def _ended(run: WatchedRun, manner: Manner) -> int:
    if run.state == "COMPLETED" and run.answer is not None:
        if manner.can_ask:
            print(f"\nGo on in this session with: --session {run.session_id}")
        return ANSWERED
    again = manner.command("retry", run.session_id)
    if run.failure is not None:
        complain(f"the run failed: {run.failure.message}\nLet it go on with: {again}")
    elif run.state == "CANCELLED":
        complain(f"the run is cancelled; let it go on with: {again}")
    elif run.state == "DELETED":
        complain("the session was deleted")
    else:
        seen = manner.command("sessions", run.session_id)
        complain(f"the run is {_in_words(run.state)}; see it with: {seen}")
    return RUN_FAILED


def _id(run: WatchedRun) -> RunId:
    return RunId(session_id=run.session_id, invocation_id=run.invocation_id)


def _in_words(name: str) -> str:
    return name.lower().replace("_", " ") or "unfinished"
