"""A privileged application on Firefox's engine, which loads the plugin as Zotero does."""

import asyncio
import contextlib
import itertools
import json
import os
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

APP = Path(__file__).resolve().parent / "fakes" / "zotero_app" / "application.ini"
FIREFOXES = "ZOCRATES_FIREFOXES"
START_S = 60
QUIT_S = 10
PATIENCE_S = 30
OPEN_TIMED = """
let before = performance.now();
Stage.button().click();
while (!Stage.frame?.querySelector('#prompt')?.getClientRects().length) {
    await new Promise(requestAnimationFrame);
}
let took = performance.now() - before;
Stage.button().click();
return took;
"""


def firefox_programs() -> list[str]:
    """The engines to test on: the one installed, and those that the environment names."""
    named = [part for part in os.environ.get(FIREFOXES, "").split(os.pathsep) if part]
    installed = shutil.which("firefox-esr") or shutil.which("firefox")
    return [*named, *([installed] if installed else [])]


class ZoteroApp:
    """The application: code sent to it runs in its main window, beside Zotero and Stage."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._numbers = itertools.count(1)

    async def close(self) -> None:
        """Let go of the connection; the application ends with it."""
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()

    async def run(self, code: str) -> Any:
        """Run the body of an async function; returns what it returns, as JSON."""
        number = next(self._numbers)
        self._writer.write(json.dumps({"id": number, "code": code}).encode() + b"\n")
        await self._writer.drain()
        async with asyncio.timeout(PATIENCE_S):
            reply = json.loads(await self._reader.readline())
            # A reply that was given up comes late; it is not the answer to this.
            while reply["id"] != number:
                reply = json.loads(await self._reader.readline())
        assert "error" not in reply, reply["error"]
        return reply["value"]

    async def holds(self, expression: str, patience_s: float = PATIENCE_S) -> None:
        """Wait until an expression holds."""
        deadline = time.monotonic() + patience_s
        # A document tells nobody that it has changed.
        while not await self.run(f"return Boolean({expression})"):
            if time.monotonic() > deadline:
                shown = await self.text()
                logged = await self.run("return [...Zotero.logged, ...Stage.errors]")
                raise AssertionError(f"{expression} does not hold; shown: {shown!r}; {logged}")
            await asyncio.sleep(0.05)

    async def shows(self, text: str, patience_s: float = PATIENCE_S) -> None:
        """Wait until the plugin's pane shows a text."""
        await self.holds(f"Stage.frame?.body?.innerText.includes({json.dumps(text)})", patience_s)

    async def text(self) -> str:
        """What the plugin's pane shows."""
        return str(await self.run("return Stage.frame?.body?.innerText ?? ''"))

    async def click(self, label: str) -> None:
        """Click the pane's button whose text or label begins so."""
        # In one step: the pane may draw a button anew between two.
        await self.holds(f"Stage.clicked({json.dumps(label)})")

    async def ask(self, question: str) -> None:
        """Write a question into the pane's composer and send it."""
        await self.holds("Stage.frame?.querySelector('#prompt')")
        await self.run(f"Stage.write('#prompt', {json.dumps(question)})")
        await self.click("Ask")

    async def picture(self, path: Path) -> None:
        """Keep a picture of the main window."""
        await self.run(f"await Stage.picture({json.dumps(str(path))})")


@asynccontextmanager
async def zotero_app(
    firefox: str, profile: Path, environment: dict[str, str]
) -> AsyncIterator[ZoteroApp]:
    """The application on a fresh profile, until the block ends."""
    connected: asyncio.Future[ZoteroApp] = asyncio.get_running_loop().create_future()

    def on_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set_result(ZoteroApp(reader, writer))

    server = await asyncio.start_server(on_connection, "127.0.0.1", 0, limit=2**26)
    port = server.sockets[0].getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        *(firefox, "-app", str(APP), "-profile", str(profile), "-no-remote"),
        env={
            **os.environ,
            "MOZ_HEADLESS": "1",
            "MOZ_HEADLESS_WIDTH": "1180",
            "MOZ_HEADLESS_HEIGHT": "860",
            "STAGE_PORT": str(port),
            "HOME": str(profile),
            **environment,
        },
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(START_S):
            app = await connected
        yield app
    finally:
        if connected.done():
            await connected.result().close()
        # It quits by itself then, and keeps its preferences; the clock is for one that hangs.
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), QUIT_S)
        if process.returncode is None:
            process.kill()
            await process.wait()
        server.close()


def needs_firefox() -> list[Any]:
    """Parameters for tests that run on every engine there is; one that is skipped where none is."""
    programs = firefox_programs()
    if not programs:
        reason = "NEEDS FIREFOX: firefox-esr is not installed, so the plugin was not tried"
        return [pytest.param("", marks=pytest.mark.skip(reason=reason))]
    return [pytest.param(path, id=f"firefox{number}") for number, path in enumerate(programs)]
