"""A real Firefox, driven by WebDriver BiDi."""

import asyncio
import base64
import itertools
import json
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.browser import PATIENCE_S, Page

LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
MOST_BYTES = 2**26
# A first start makes a whole profile, which takes long on a busy machine.
START_S = 90
# What a fresh profile would ask or fetch by itself.
PREFERENCES = {
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "",
    "toolkit.telemetry.enabled": False,
}
# A page that is just being replaced has no realm to ask in; the next look finds the new one.
BETWEEN_PAGES = {"no such frame", "no such realm", "unknown error"}


class FirefoxPage(Page):
    """A page of Firefox."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._numbers = itertools.count(1)
        self._context = ""
        self._patience_s: float = START_S

    async def open(self) -> None:
        """Make the page."""
        await self._send("session.new", capabilities={})
        # The one that stands in front: what is hidden draws and counts time slowly.
        tree = await self._send("browsingContext.getTree")
        self._context = tree["contexts"][0]["context"]
        self._patience_s = PATIENCE_S

    async def visit(self, url: str) -> None:
        await self._send("browsingContext.navigate", context=self._context, url=url, wait="none")

    async def reload(self) -> None:
        await self._send("browsingContext.reload", context=self._context, wait="none")

    async def evaluate(self, expression: str) -> Any:
        try:
            reply = await self._send(
                "script.evaluate",
                # Only text comes back as it is; everything else would come as a description of it.
                expression=f"(async () => JSON.stringify(await ({expression})) ?? 'null')()",
                target={"context": self._context},
                awaitPromise=True,
            )
        except _CommandError as error:
            if error.code in BETWEEN_PAGES:
                return None
            raise
        assert reply["type"] == "success", reply
        return json.loads(reply["result"]["value"])

    async def resize(self, *, width: int, height: int) -> None:
        await self._send(
            "browsingContext.setViewport",
            context=self._context,
            viewport={"width": width, "height": height},
        )

    async def picture(self) -> bytes:
        shot = await self._send(
            "browsingContext.captureScreenshot", context=self._context, origin="document"
        )
        return base64.b64decode(shot["data"])

    async def _send(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        await self._connection.send(json.dumps({"id": number, "method": method, "params": params}))
        async with asyncio.timeout(self._patience_s):
            while True:
                reply = json.loads(await self._connection.recv())
                if reply.get("id") == number:
                    if reply["type"] == "error":
                        raise _CommandError(reply["error"], f"{method}: {reply['message']}")
                    result: dict[str, Any] = reply["result"]
                    return result


class _CommandError(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


@asynccontextmanager
async def firefox_page(folder: Path) -> AsyncIterator[FirefoxPage]:
    """A page of a fresh Firefox."""
    program = shutil.which("firefox-esr")
    if program is None:
        pytest.skip("NEEDS FIREFOX-ESR: it is not installed, so the page was not tried in it")
    _write_profile(folder)
    process = await asyncio.create_subprocess_exec(
        program,
        "--headless",
        "--no-remote",
        "--remote-debugging-port=0",
        "--profile",
        str(folder),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        address = await _address(process)
        # Its messages are not needed any more, but a full pipe would stop it.
        drain = asyncio.create_task(_drain(process))
        async with connect(f"{address}/session", max_size=MOST_BYTES) as connection:
            page = FirefoxPage(connection)
            await page.open()
            yield page
        drain.cancel()
    finally:
        process.kill()
        await process.wait()


def _write_profile(folder: Path) -> None:
    lines = (f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in PREFERENCES.items())
    (folder / "user.js").write_text("".join(lines))


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    async with asyncio.timeout(START_S):
        while line := await process.stderr.readline():
            if found := LISTENS.search(line.decode(errors="replace")):
                return found[1]
    raise AssertionError("Firefox ended before it listened")


async def _drain(process: asyncio.subprocess.Process) -> None:
    assert process.stderr is not None
    while await process.stderr.read(65_536):
        pass
