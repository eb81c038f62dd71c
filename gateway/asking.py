"""The two commands that stream: asking a question, and bringing the index up to date."""

import asyncio
import sys
from contextlib import aclosing

from gateway import wire
from gateway.client import Client
from gateway.plain_text import complain, one_line
from gateway.presentation import reason_of
from gateway.sse import ServerEvent
from gateway.terminal import screen_for
from gateway.watching import WatchedRun, after

ANSWERED, FAILED, RUN_FAILED = 0, 1, 3


async def ask_question(client: Client, prompt: str, session: str | None, as_json: bool) -> int:
    """Ask and show the run; returns the exit code."""
    run = WatchedRun()
    screen = screen_for(sys.stdout, sys.stderr, as_json=as_json)
    try:
        async with aclosing(client.ask(prompt, session_id=session)) as events:
            async for event in events:
                run = after(run, event)
                screen.show(run, event)
    except asyncio.CancelledError:
        if run.session_id and not as_json:
            screen.close()
            complain(f"the run goes on; see it with: zocrates sessions {run.session_id}")
        raise
    finally:
        screen.close()
    if run.state == "COMPLETED" and run.answer is not None:
        if not as_json and sys.stdout.isatty():
            print(f"\nGo on in this session with: --session {run.session_id}")
        return ANSWERED
    complain(_ending(run))
    return RUN_FAILED


async def sync_library(client: Client, full: bool, as_json: bool) -> int:
    """Sync and show the progress; returns the exit code."""
    phase = ""
    async with aclosing(client.sync(full=full)) as events:
        async for event in events:
            if as_json:
                print(event.as_line(), flush=True)
            phase = str(event.data.get("phase", event.name))
            if not as_json:
                _show_progress(event)
    if phase == "done":
        return ANSWERED
    if phase not in ("failed", "error") and not as_json:
        complain("The sync did not end; run it again.")
    return FAILED


def _show_progress(event: ServerEvent) -> None:
    """One line that is written over on a terminal; only how it ended when piped."""
    if event.name == "error":
        complain(str(event.data.get("message", "The sync broke off.")))
        return
    progress = wire.SyncProgress.model_validate(event.data, extra="ignore")
    over = "\r\x1b[K" if sys.stdout.isatty() else ""
    match progress.phase:
        case "done":
            print(f"{over}The index is up to date.")
            for skip in progress.failed:
                print(f"  Not read: {one_line(skip.title, 60)}: {reason_of(skip)}")
        case "failed":
            print(over, end="", flush=True)
            complain(progress.error or "The sync failed.")
        case phase if over:
            numbers = f"{progress.done:,} of {progress.total:,}"
            print(f"{over}{phase}  {numbers}  {one_line(progress.current, 50)}", end="", flush=True)


def _ending(run: WatchedRun) -> str:
    if run.failure is not None:
        return f"the run failed: {run.failure.message}"
    state = run.state.lower().replace("_", " ") or "unfinished"
    return f"the run is {state}; see it with: zocrates sessions {run.session_id}"
