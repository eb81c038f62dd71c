"""Bringing the index up to date on the command line."""

import sys
from contextlib import aclosing

from gateway import library_wire
from gateway.client import Client
from gateway.plain_text import complain, one_line
from gateway.presentation import reason_of
from gateway.sse import ServerEvent

DONE, FAILED = 0, 1


async def sync_library(client: Client, *, full: bool, retry_failed: bool, as_json: bool) -> int:
    """Sync and show the progress; returns the exit code."""
    phase = ""
    async with aclosing(client.sync(full=full, retry_failed=retry_failed)) as events:
        async for event in events:
            if as_json:
                print(event.as_line(), flush=True)
            phase = str(event.data.get("phase", event.name))
            if not as_json:
                _show_progress(event)
    if phase == "done":
        return DONE
    if phase not in ("failed", "error") and not as_json:
        complain("The sync did not end; run it again.")
    return FAILED


def _show_progress(event: ServerEvent) -> None:
    """One line that is written over on a terminal; only how it ended when piped."""
    if event.name == "error":
        complain(str(event.data.get("message", "The sync broke off.")))
        return
    progress = library_wire.SyncProgress.model_validate(event.data, extra="ignore")
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
