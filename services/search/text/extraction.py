"""Reading PDFs outside the serving process, so that a bad file can hang or crash only its reader.

The reader is `python -m services.search.text.worker`: an ordinary subprocess, because it can be
waited for and killed on every system without help threads. The two speak in JSON, so a reader
taken over by a file has no more power over this process than wrong text.
"""

import asyncio
import json
import logging
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from services.search.library.records import Unread
from services.search.text.document_text import PagedText
from services.search.text.frames import HEADER_BYTES, body_length, decode_text, frame

log = logging.getLogger(__name__)

# Fresh readers keep the memory that a library leaves behind in bounds.
FILES_PER_WORKER = 200
GONE_DEADLINE_S = 5.0


class WorkerLost(Exception):
    """The reader ended without an answer."""


class Extractor:
    """Reads one PDF at a time in a process of its own; enter it before use."""

    def __init__(
        self,
        *,
        timeout_s: float = 120.0,
        max_pages: int = 2000,
        files_per_worker: int = FILES_PER_WORKER,
        command: tuple[str, ...] = (sys.executable, "-m", "services.search.text.worker"),
    ) -> None:
        """`timeout_s` is what one file may take."""
        self._timeout_s = timeout_s
        self._max_pages = max_pages
        self._files_per_worker = files_per_worker
        self._command = command
        self._turn = asyncio.Lock()
        self._worker: asyncio.subprocess.Process | None = None
        self._files = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        async with self._turn:
            await self._stop()

    async def read(self, path: Path) -> PagedText:
        """The text of a PDF; a file that hangs or crashes the reader gives a reason too."""
        async with self._turn:
            try:
                async with asyncio.timeout(self._timeout_s):
                    text = await self._ask(path)
            except TimeoutError:
                await self._stop()
                log.warning("pdf_timed_out", extra={"path": str(path)})
                return _unread(
                    Unread.TIMED_OUT,
                    f"Reading the file took longer than {self._timeout_s:g} seconds.",
                )
            except WorkerLost:
                await self._stop()
                log.warning("pdf_crashed_reader", extra={"path": str(path)})
                return _unread(Unread.DAMAGED, "The file made the PDF reader crash.")
            except BaseException:
                # Cancelled, say: the answer on its way must not be taken for that of the next file.
                await self._stop()
                raise
            self._files += 1
            if self._files >= self._files_per_worker:
                await self._stop()
            return text

    async def _ask(self, path: Path) -> PagedText:
        worker = self._worker = self._worker or await self._start()
        if worker.stdin is None or worker.stdout is None:
            raise WorkerLost
        request = json.dumps(
            {
                "path": str(path),
                "max_pages": self._max_pages,
                "deadline_s": self._timeout_s,
            }
        )
        try:
            worker.stdin.write(frame(request.encode()))
            await worker.stdin.drain()
            header = await worker.stdout.readexactly(HEADER_BYTES)
            body = await worker.stdout.readexactly(body_length(header))
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise WorkerLost from error
        return decode_text(body)

    async def _start(self) -> asyncio.subprocess.Process:
        self._files = 0
        return await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )

    async def _stop(self) -> None:
        worker, self._worker = self._worker, None
        if worker is None:
            return
        if worker.returncode is None:
            worker.kill()
        async with asyncio.timeout(GONE_DEADLINE_S):
            await worker.wait()


def _unread(reason: Unread, detail: str) -> PagedText:
    return PagedText(pages=(), outline=(), page_count=0, unread=reason, detail=detail)
