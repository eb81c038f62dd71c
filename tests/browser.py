"""A page of a real browser; and Chromium, driven through a pipe by its own protocol."""

import asyncio
import base64
import fcntl
import itertools
import json
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

PATIENCE_S = 30
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


class Page(ABC):
    """One page of a browser, whatever protocol drives it."""

    @abstractmethod
    async def visit(self, url: str) -> None:
        """Go to an address, also when only its fragment differs."""

    @abstractmethod
    async def reload(self) -> None:
        """Load the page again."""

    @abstractmethod
    async def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, or what its promise settles to."""

    @abstractmethod
    async def resize(self, *, width: int, height: int) -> None:
        """Give the window another size."""

    @abstractmethod
    async def picture(self) -> bytes:
        """The whole page as a PNG."""

    async def shows(self, text: str) -> None:
        """Wait until the page shows a text."""
        await self.holds(f"document.body?.innerText.includes({json.dumps(text)})")

    async def holds(self, expression: str) -> None:
        """Wait until a JavaScript expression holds."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                # A page tells nobody that it has changed.
                while not await self.evaluate(f"Boolean({expression})"):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        except TimeoutError:
            shown = await self.evaluate("document.body?.innerText")
            raise AssertionError(f"{expression} does not hold; the page shows: {shown}") from None

    async def click(self, label: str) -> None:
        """Click the button whose text begins so."""
        button = (
            "[...document.querySelectorAll('button')].find(b => b.checkVisibility() && !b.disabled"
            f" && b.textContent.startsWith({json.dumps(label)}))"
        )
        await self.holds(button)
        await self.evaluate(f"{button}.click()")

    async def types(self, field: str, text: str) -> None:
        """Put a text into the field that an expression gives, as typing does."""
        await self.holds(field)
        await self.evaluate(
            f"(() => {{ let f = {field}; f.value = {json.dumps(text)}; "
            "f.dispatchEvent(new Event('input', { bubbles: true })); })()"
        )

    async def presses(self, key: str, *, ctrl: bool = False) -> None:
        """Send a key to what has the focus."""
        await self.evaluate(
            "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', "
            f"{{ key: {json.dumps(key)}, ctrlKey: {json.dumps(ctrl)}, "
            "bubbles: true, cancelable: true }))"
        )


class ChromiumPage(Page):
    """A page of Chromium, driven through a pipe by its own protocol."""

    def __init__(self, commands: int, replies: asyncio.StreamReader) -> None:
        self._commands = commands
        self._replies = replies
        self._numbers = itertools.count(1)
        self._session = ""

    async def open(self) -> None:
        """Make the page."""
        target = await self._send("Target.createTarget", url="about:blank")
        attached = await self._send(
            "Target.attachToTarget", targetId=target["targetId"], flatten=True
        )
        self._session = attached["sessionId"]

    async def visit(self, url: str) -> None:
        await self._send("Page.navigate", url=url)

    async def reload(self) -> None:
        await self._send("Page.reload")

    async def evaluate(self, expression: str) -> Any:
        reply = await self._send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in reply, reply
        return reply["result"].get("value")

    async def resize(self, *, width: int, height: int) -> None:
        await self._send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    async def darken(self, is_dark: bool) -> None:
        """Let the page find that dark colours are preferred, or light ones."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        await self._send("Emulation.setEmulatedMedia", features=[scheme])

    async def used_memory(self) -> int:
        """Bytes of JavaScript that are still referred to."""
        await self._send("HeapProfiler.collectGarbage")
        return int((await self._send("Runtime.getHeapUsage"))["usedSize"])

    async def picture(self) -> bytes:
        shot = await self._send("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    async def _send(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        async with asyncio.timeout(PATIENCE_S):
            while True:
                reply = json.loads((await self._replies.readuntil(b"\0"))[:-1])
                if reply.get("id") == number:
                    assert "error" not in reply, reply
                    result: dict[str, Any] = reply["result"]
                    return result


@asynccontextmanager
async def chromium_page(folder: Path) -> AsyncIterator[ChromiumPage]:
    """A page of a fresh Chromium."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("NEEDS CHROMIUM: it is not installed, so the page was not tried in a browser")
    their_commands, our_commands = os.pipe()
    our_replies, their_replies = os.pipe()
    # The browser reads commands from 3 and writes replies to 4. A shell puts them there: code of
    # ours between fork and exec would run in a copy of a process with many threads.
    commands = fcntl.fcntl(their_commands, fcntl.F_DUPFD, 10)
    answers = fcntl.fcntl(their_replies, fcntl.F_DUPFD, 10)
    process = await asyncio.create_subprocess_exec(
        *("/bin/bash", "-c", f'exec "$0" "$@" 3<&{commands} 4>&{answers}', program),
        *FLAGS,
        f"--user-data-dir={folder}",
        pass_fds=(commands, answers),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    for descriptor in (their_commands, their_replies, commands, answers):
        os.close(descriptor)
    replies = asyncio.StreamReader(limit=2**26)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(replies), os.fdopen(our_replies, "rb")
    )
    try:
        page = ChromiumPage(our_commands, replies)
        await page.open()
        yield page
    finally:
        process.kill()
        await process.wait()
        transport.close()
        os.close(our_commands)
