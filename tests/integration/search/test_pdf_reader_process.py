"""Files are read in a process that may hang or crash without harm to its caller."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from services.search.library.records import Unread
from services.search.text.document_text import FileText
from services.search.text.extraction import Extractor
from services.search.text.frames import decode_text, encode_text
from services.search.text.media import Media
from services.search.text.pdf import read_pdf
from services.search.text.reader import read_file
from tests.fixtures.printed_paper import LEFT, printed_paper

# Readers that misbehave: each takes a request as the real one does.
HANGS = "import sys, time; sys.stdin.buffer.read(8); time.sleep(600)"
GROWS = (
    "import sys, time; sys.stdin.buffer.read(8);"
    "hoard = [b'x' * (1 << 20) for _ in range(300)]; time.sleep(600)"
)
CRASHES = "import os, sys; sys.stdin.buffer.read(8); os.abort()"


async def read(extractor: Extractor, path: Path) -> FileText:
    return await extractor.read(path, Media.PDF, "user/KEY")


def reader(script: str) -> tuple[str, ...]:
    return sys.executable, "-c", script


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    made = printed_paper(tmp_path / "Löve – 睡眠.pdf")
    made.canvas.bookmarkPage("start")
    made.canvas.addOutlineEntry("Start", "start")
    made.lines(LEFT, 700, ["Sleep after learning protects what was learned.", "It does so twice."])
    return made.save()


async def test_the_process_gives_what_reading_gives(paper: Path) -> None:
    async with Extractor() as extractor:
        text = await read(extractor, paper)
    expected = read_file(paper, Media.PDF, "user/KEY", max_pages=2000)
    assert text.structured == expected.structured
    assert [(page.index, page.label, page.text) for page in text.paged.pages] == [
        (page.index, page.label, page.text) for page in expected.paged.pages
    ]


def test_a_text_survives_the_way_between_processes(paper: Path, tmp_path: Path) -> None:
    for path in (paper, tmp_path / "none.pdf"):
        text = read_file(path, Media.PDF, "user/KEY", max_pages=2000)
        received = decode_text(encode_text(text))
        assert received.structured == text.structured
        assert encode_text(received) == encode_text(text)


async def test_files_are_read_one_after_the_other(paper: Path, tmp_path: Path) -> None:
    paths = [paper, tmp_path / "none.pdf"] * 3
    async with Extractor(files_per_worker=2) as extractor:
        texts = await asyncio.gather(*(read(extractor, path) for path in paths))
    assert [text.paged.unread for text in texts] == [None, Unread.FILE_MISSING] * 3


async def test_a_file_that_takes_too_long_is_given_up(paper: Path) -> None:
    async with Extractor(timeout_s=0.2, command=reader(HANGS)) as extractor:
        text = await read(extractor, paper)
    assert text.paged.unread is Unread.TIMED_OUT
    assert text.paged.detail == "Reading the file took longer than 0.2 seconds."


async def test_a_file_that_takes_too_much_memory_is_given_up(paper: Path) -> None:
    async with Extractor(memory_bytes=200 << 20, command=reader(GROWS)) as extractor:
        text = await read(extractor, paper)
    assert text.paged.unread is Unread.TOO_LARGE
    assert text.paged.detail == "Reading the file took more than 200 MiB of memory."


async def test_a_file_that_crashes_the_reader_is_damaged(paper: Path) -> None:
    async with Extractor(command=reader(CRASHES)) as extractor:
        assert (await read(extractor, paper)).paged.unread is Unread.DAMAGED
        assert (await read(extractor, paper)).paged.unread is Unread.DAMAGED


async def test_the_answer_to_a_cancelled_read_is_not_taken_for_the_next(
    paper: Path, tmp_path: Path
) -> None:
    async with Extractor() as extractor:
        reading = asyncio.create_task(read(extractor, tmp_path / "none.pdf"))
        await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert (await read(extractor, paper)).paged.unread is None


async def test_the_reader_ends_with_its_caller(paper: Path) -> None:
    worker = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "services.search.text.worker",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert worker.stdin is not None
    worker.stdin.close()
    async with asyncio.timeout(20):
        assert await worker.wait() == 0


def test_the_serving_process_does_not_load_the_pdf_library() -> None:
    script = (
        "import sys; import services.search.text.extraction, services.search.text.passages;"
        "sys.exit(any(name.startswith('pypdfium2') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == 0


def test_an_enormous_page_is_read_in_bounded_time(tmp_path: Path) -> None:
    made = printed_paper(tmp_path / "bomb.pdf")
    made.canvas.setPageSize((14_400, 14_400))
    for row in range(2_000):
        made.line(10, 14_000 - 7 * row, "0123456789" * 50, 6)
    begin = time.monotonic()
    text = read_pdf(made.save())
    assert text.unread is Unread.TOO_LARGE
    assert time.monotonic() - begin < 60
