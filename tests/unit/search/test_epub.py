"""Books are read chapter by chapter, with sections by headings or else by the contents."""

import zipfile
from pathlib import Path

import pytest

from services.search.library.records import Unread
from services.search.text.epub import read_epub
from services.search.text.passages import structure

CONTAINER = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'


def book(path: Path, chapters: dict[str, str], **more: str | bytes) -> Path:
    """An EPUB with the chapters in order; `more` are further files by name."""
    items = "".join(
        f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    order = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    package = (
        f'<opf:package xmlns:opf="x"><manifest>{items}<item id="nav" href="nav.xhtml" '
        f'media-type="application/xhtml+xml" properties="nav"/></manifest><spine>{order}</spine>'
        "</opf:package>"
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("OPS/book.opf", package)
        for name, body in {**chapters, **more}.items():
            name = name if "/" in name else f"OPS/{name}"
            archive.writestr(name, body)
    return path


def paths(path: Path) -> list[tuple[str, ...]]:
    return [section.path for section in structure(read_epub(path), "user/BOOK").sections]


def test_chapters_are_read_in_the_order_of_the_book(tmp_path: Path) -> None:
    chapters = {
        "z.xhtml": "<?xml version='1.0'?><html><body><h1>One</h1><p>First.</p></body></html>",
        "a.xhtml": "<html><body><h1>Two</h1><p>Second.</p><h2>Inner</h2><p>In.</p></body></html>",
    }
    made = book(tmp_path / "book.epub", chapters)
    assert read_epub(made).pages[0].text == "One\n\nFirst.\n\nTwo\n\nSecond.\n\nInner\n\nIn."
    assert paths(made) == [("One",), ("Two",), ("Two", "Inner")]


def test_the_contents_name_chapters_without_headings(tmp_path: Path) -> None:
    contents = (
        "<nav epub:type='toc'><ol><li><a href='a.xhtml'>Chapter One</a><ol>"
        "<li><a href='a.xhtml#late'>Later</a></li></ol></li></ol></nav>"
        "<nav epub:type='page-list'><ol><li><a href='a.xhtml#p1'>17</a></li></ol></nav>"
    )
    chapters = {"a.xhtml": "<p class='t'>CHAPTER ONE</p><p>First.</p><p id='late'>Then.</p>"}
    made = book(tmp_path / "book.epub", chapters, **{"nav.xhtml": contents})
    assert paths(made) == [("CHAPTER ONE",), ("CHAPTER ONE", "Later")]


def test_an_empty_element_does_not_swallow_what_follows(tmp_path: Path) -> None:
    body = "<html><head><title/><script src='a.js'/></head><body><a id='x'/><p>Seen.</p></body>"
    assert read_epub(book(tmp_path / "b.epub", {"a.xhtml": body})).pages[0].text == "Seen."


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.search.text.epub.MOST_BYTES", 1_000_000)
    chapters = {f"c{n}.xhtml": "<p>" + "a" * 400_000 for n in range(5)}
    text = read_epub(book(tmp_path / "bomb.epub", chapters))
    assert (text.unread, text.pages) == (Unread.TOO_LARGE, ())
    assert text.detail == "The book unpacks to more than a book can hold."


def test_a_protected_book_is_encrypted(tmp_path: Path) -> None:
    listed = "<enc:CipherReference URI='OPS/a.xhtml'/>"
    made = book(
        tmp_path / "book.epub", {"a.xhtml": "<p>x</p>"}, **{"META-INF/encryption.xml": listed}
    )
    assert read_epub(made).unread is Unread.ENCRYPTED


def test_protected_fonts_do_not_matter(tmp_path: Path) -> None:
    listed = "<enc:CipherReference URI='OPS/font.otf'/>"
    made = book(
        tmp_path / "book.epub", {"a.xhtml": "<p>x</p>"}, **{"META-INF/encryption.xml": listed}
    )
    assert read_epub(made).unread is None


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 not a zip", b"%PDF-1.4"])
def test_a_file_that_is_no_book_is_damaged(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "book.epub").write_bytes(data)
    assert read_epub(tmp_path / "book.epub").unread is Unread.DAMAGED


def test_a_cut_off_book_is_damaged(tmp_path: Path) -> None:
    made = book(tmp_path / "book.epub", {"a.xhtml": "<p>" + "word " * 5_000})
    data = made.read_bytes()
    for length in range(0, len(data), max(1, len(data) // 40)):
        made.write_bytes(data[:length])
        assert read_epub(made).unread is Unread.DAMAGED


def test_a_book_that_lacks_a_chapter_is_read_in_part(tmp_path: Path) -> None:
    made = book(tmp_path / "book.epub", {"a.xhtml": "<p>Seen.</p>"})
    with zipfile.ZipFile(made, "a") as archive:
        package = archive.read("OPS/book.opf").decode()
    chapters = {"a.xhtml": "<p>Seen.</p>"}
    more = package.replace(
        "<manifest>",
        '<manifest><item id="gone" href="gone.xhtml" media-type="application/xhtml+xml"/>',
    ).replace("<spine>", '<spine><itemref idref="gone"/>')
    with zipfile.ZipFile(tmp_path / "part.epub", "w") as archive:
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("OPS/book.opf", more)
        archive.writestr("OPS/a.xhtml", chapters["a.xhtml"])
    text = read_epub(tmp_path / "part.epub")
    assert (text.unread, text.detail) == (
        Unread.DAMAGED,
        "1 of 2 chapters are not in the file.",
    )
    assert text.pages[0].text == "Seen."
