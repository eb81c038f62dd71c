"""Reading files outside the serving process: a bad file can hang, bloat or crash its reader only.

The reader is `python -m services.search.text.worker`: an ordinary subprocess, because it can be
waited for, measured and killed on every system without help threads. The two speak in JSON, so a
reader taken over by a file has no more power over this process than wrong text.
"""

import asyncio
import json
import logging
import sys
import time
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from services.search.library.records import Unread
from services.search.text.document_text import FileText, PagedText, StructuredText
from services.search.text.frames import HEADER_BYTES, Request, body_length, decode_text, frame
from services.search.text.media import Media

log = logging.getLogger(__name__)

# Fresh readers keep the memory that a library leaves behind in bounds.
FILES_PER_WORKER = 200
GONE_DEADLINE_S = 5.0
# A reader that unpacks a bomb grows by some hundred megabytes between two looks.
LOOK_EVERY_S = 0.1
# However busy the machine is, a file is given up after so many times what it may take.
WAITING = 10
# No honest text comes near; an answer is held in memory.
LONGEST_ANSWER = 512 * 1024 * 1024


class WorkerLost(Exception):
    """The reader ended without an answer."""


class MemoryExceeded(Exception):
    """The reader took more memory than it may."""


class Extractor:
    """Reads one file at a time in a process of its own; enter it before use."""

    def __init__(
        self,
        *,
        timeout_s: float = 120.0,
        memory_bytes: int = 1024 * 1024 * 1024,
        max_pages: int = 2000,
        files_per_worker: int = FILES_PER_WORKER,
        command: tuple[str, ...] = (sys.executable, "-m", "services.search.text.worker"),
    ) -> None:
        """What one file may take: `timeout_s` of processor time, or of doing nothing at all."""
        self._timeout_s = timeout_s
        self._memory_bytes = memory_bytes
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

    async def warm(self) -> None:
        """Start the reader's process now, so that the first file does not wait for it."""
        async with self._turn:
            self._worker = self._worker or await self._start()

    async def read(self, path: Path, media: Media, document_id: str) -> FileText:
        """The text of a file; one that hangs, bloats or crashes the reader gives a reason too."""
        request = Request(
            path=str(path),
            media=media.value,
            document_id=document_id,
            max_pages=self._max_pages,
            deadline_s=self._timeout_s * WAITING,
        )
        async with self._turn:
            try:
                # On a busy machine everything takes its time: a file is charged for its work.
                async with asyncio.timeout(self._timeout_s * WAITING):
                    text = await self._ask(request)
            except TimeoutError:
                return await self._give_up(
                    request,
                    Unread.TIMED_OUT,
                    f"Reading the file took longer than {self._timeout_s:g} seconds.",
                )
            except MemoryExceeded:
                return await self._give_up(
                    request,
                    Unread.TOO_LARGE,
                    f"Reading the file took more than {self._memory_bytes >> 20} MiB of memory.",
                )
            except WorkerLost:
                return await self._give_up(
                    request, Unread.DAMAGED, "The file made the reader crash."
                )
            except BaseException:
                # Cancelled, say: the answer on its way must not be taken for that of the next file.
                await self._stop()
                raise
            self._files += 1
            if self._files >= self._files_per_worker:
                await self._stop()
            return text

    async def _give_up(self, request: Request, reason: Unread, detail: str) -> FileText:
        await self._stop()
        log.warning("file_given_up", extra={"path": request.path, "reason": reason.value})
        paged = PagedText(pages=(), outline=(), page_count=0, unread=reason, detail=detail)
        return FileText(paged=paged, structured=StructuredText(sections=(), passages=()))

    async def _ask(self, request: Request) -> FileText:
        worker = self._worker = self._worker or await self._start()
        answer = asyncio.create_task(_answer(worker, json.dumps(asdict(request)).encode()))
        watch = _Watch(worker.pid, memory_bytes=self._memory_bytes, seconds=self._timeout_s)
        try:
            while not answer.done():
                await asyncio.wait({answer}, timeout=LOOK_EVERY_S)
                if not answer.done():
                    watch.look()
            return await asyncio.to_thread(decode_text, answer.result())
        finally:
            answer.cancel()

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


async def _answer(worker: asyncio.subprocess.Process, request: bytes) -> bytes:
    """What the reader says to the request; raises WorkerLost."""
    if worker.stdin is None or worker.stdout is None:
        raise WorkerLost
    try:
        worker.stdin.write(frame(request))
        await worker.stdin.drain()
        length = body_length(await worker.stdout.readexactly(HEADER_BYTES))
        if length > LONGEST_ANSWER:
            raise WorkerLost
        return await worker.stdout.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError) as error:
        raise WorkerLost from error


class _Watch:
    """Looks at what a reader takes for one file."""

    def __init__(self, pid: int, *, memory_bytes: int, seconds: float) -> None:
        self._pid = pid
        self._memory_bytes = memory_bytes
        self._seconds = seconds
        self._first = self._last = self._processor_s()
        self._active_at = time.monotonic()

    def look(self) -> None:
        """Raise MemoryExceeded or TimeoutError if it is too much."""
        try:
            memory = psutil.Process(self._pid).memory_info().rss
        except psutil.Error:
            return  # gone, which its pipe tells as well
        if memory > self._memory_bytes:
            raise MemoryExceeded
        used, now = self._processor_s(), time.monotonic()
        if used > self._last:
            self._last, self._active_at = used, now
        if max(used - self._first, now - self._active_at) > self._seconds:
            raise TimeoutError

    def _processor_s(self) -> float:
        try:
            times = psutil.Process(self._pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system)
