"""The two commands that stream: asking a question, and bringing the index up to date."""

import sys
from collections.abc import AsyncIterator

from gateway import wire
from gateway.client import Client
from gateway.plain_text import clean, complain, counted, one_line
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
        async for event in client.ask(prompt, session_id=session):
            run = after(run, event)
            screen.show(run, event)
    finally:
        screen.close()
        # Also after Ctrl-C: the run goes on in the gateway, and this finds it again.
        if run.session_id and not as_json and not run.state:
            complain(f"the run goes on; see it with: zocrates sessions {run.session_id}")
    if run.state == "COMPLETED" and run.answer is not None:
        if not as_json and sys.stdout.isatty():
            print(f'\nGo on: zocrates ask --session {run.session_id} "…"')
        return ANSWERED
    complain(_ending(run))
    return RUN_FAILED


async def sync_library(client: Client, full: bool, as_json: bool) -> int:
    """Sync and show the progress; returns the exit code."""
    events = client.sync(full=full)
    if as_json:
        return await _sync_as_json(events)
    last: wire.SyncProgress | None = None
    async for event in events:
        if event.name == "error":
            complain(str(event.data.get("message", "The sync broke off.")))
            return FAILED
        last = wire.SyncProgress.model_validate(event.data, extra="ignore")
        _show_progress(last)
    if last is None or last.phase == "failed":
        complain(last.error if last and last.error else "The sync did not end; run it again.")
        return FAILED
    return ANSWERED


async def _sync_as_json(events: AsyncIterator[ServerEvent]) -> int:
    phase = ""
    async for event in events:
        print(event.as_line(), flush=True)
        phase = str(event.data.get("phase", event.name))
    return ANSWERED if phase == "done" else FAILED


def _show_progress(progress: wire.SyncProgress) -> None:
    """One line that is written over on a terminal; only the ends of phases when piped."""
    over = sys.stdout.isatty()
    what = f"{progress.phase}  {progress.done:,} of {progress.total:,}"
    if over:
        print(f"\r\x1b[K{what}  {one_line(progress.current, 50)}", end="", flush=True)
    if progress.phase not in ("done", "failed"):
        return
    if over:
        print("\r\x1b[K", end="")
    print(f"{clean(progress.phase)}: {counted(progress.done, 'document')}")
    for skip in progress.failed:
        print(f"  not read: {one_line(skip.title, 60)}: {reason_of(skip)}")


def _ending(run: WatchedRun) -> str:
    if run.failure is not None:
        return f"the run failed: {run.failure.message}"
    state = run.state.lower().replace("_", " ") or "unfinished"
    return f"the run is {state}; see it with: zocrates sessions {run.session_id}"
