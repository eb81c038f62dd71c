"""Files that are bad, each in its way, give one reason each and do no harm to those around them."""

import asyncio
import zipfile
import zlib
from pathlib import Path

import pytest

from services.search.library.records import Unread
from services.search.text.document_text import FileText
from services.search.text.extraction import Extractor
from services.search.text.media import Media, media_of
from tests.fixtures.printed_paper import LEFT, printed_paper
from tests.fixtures.written_pdf import assembled

SENTENCE = "Sleep after learning protects what was learned."
MEMORY = 250 << 20


def good(path: Path) -> Path:
    paper = printed_paper(path)
    paper.line(LEFT, 700, SENTENCE)
    return paper.save()


def deflate_bomb(path: Path) -> Path:
    """Some kilobytes that unpack to so many operators that their objects fill the memory."""
    content = b"0 0 m 1 1 l S\n" * 1_000_000
    packed = zlib.compress(zlib.compress(content, 9), 9)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R >>",
        b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n" % len(packed)
        + packed
        + b"\nendstream",
    ]
    path.write_bytes(assembled(objects, catalog=1))
    assert path.stat().st_size < 20_000
    return path


def enormous_page(path: Path) -> Path:
    paper = printed_paper(path)
    paper.canvas.setPageSize((14_400, 14_400))
    paper.line(100, 14_000, SENTENCE, 40)
    return paper.save()


def zip_bomb(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr(
            "META-INF/container.xml", '<container><rootfile full-path="b.opf"/></container>'
        )
        archive.writestr(
            "b.opf",
            '<package><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
            '<itemref idref="a"/></package>',
        )
        archive.writestr("a.xhtml", b"<p>" + b"a" * 60_000_000)
    return path


def cut_off(path: Path) -> Path:
    data = good(path).read_bytes()
    path.write_bytes(data[: len(data) // 3])
    return path


def page_with_scripts(path: Path) -> Path:
    path.write_text(f"<script>while (true) {{}}</script><p onclick='x()'>{SENTENCE}</p>")
    return path


def book_of_a_thousand_empty_pages(path: Path) -> Path:
    paper = printed_paper(path)
    for _ in range(1_000):
        paper.next_page()
    return paper.save()


def nothing(path: Path) -> Path:
    path.write_bytes(b"")
    return path


FILES = {
    "bomb.pdf": (deflate_bomb, Unread.TOO_LARGE),
    "enormous.pdf": (enormous_page, None),
    "cut.pdf": (cut_off, Unread.DAMAGED),
    "empty.pdf": (nothing, Unread.DAMAGED),
    "blank.pdf": (book_of_a_thousand_empty_pages, Unread.IMAGE_ONLY),
    "bomb.epub": (zip_bomb, Unread.TOO_LARGE),
    "empty.epub": (nothing, Unread.DAMAGED),
    "scripts.html": (page_with_scripts, None),
    "empty.html": (nothing, None),
    "имя ‮ 名\u0301.pdf": (good, None),
}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, FileText]:
    """All of them, read one after the other by the same reader, and a good one at the end."""
    folder = tmp_path_factory.mktemp("bad")
    paths = [make(folder / name) for name, (make, _) in FILES.items()]
    paths.append(good(folder / "good.pdf"))

    async def read() -> dict[str, FileText]:
        async with Extractor(memory_bytes=MEMORY) as extractor:
            return {
                path.name: await extractor.read(
                    path, media_of("", path.name) or Media.PDF, f"user/{path.name}"
                )
                for path in paths
            }

    return asyncio.run(read())


@pytest.mark.parametrize("name", list(FILES))
def test_each_gives_its_reason(texts: dict[str, FileText], name: str) -> None:
    paged = texts[name].paged
    assert paged.unread is FILES[name][1]
    assert bool(paged.detail) is (paged.unread is not None)


def test_the_good_ones_are_read_all_the_same(texts: dict[str, FileText]) -> None:
    read = {
        name for name, text in texts.items() if any(SENTENCE in p.text for p in text.paged.pages)
    }
    assert read == {"enormous.pdf", "scripts.html", "имя ‮ 名\u0301.pdf", "good.pdf"}
    assert all(texts[name].structured.passages for name in read)
