"""Every kind of file is told by its type or name, decoded, and read; or says why it is not."""

import os
from pathlib import Path

import pytest

from services.search.library.records import Unread
from services.search.text import reader
from services.search.text.decoding import decoded
from services.search.text.document_text import FileText
from services.search.text.media import Media, media_of
from services.search.text.plain import read_plain
from services.search.text.reader import read_file


def read(path: Path, media: Media) -> FileText:
    return read_file(path, media, "user/KEY", max_pages=10)


@pytest.mark.parametrize(
    ("content_type", "name", "media"),
    [
        ("application/pdf", "paper", Media.PDF),
        ("", "Paper.PDF", Media.PDF),
        ("application/octet-stream", "paper.pdf", Media.PDF),
        ("text/html", "paper.pdf", Media.PDF),
        ("text/html; charset=utf-8", "page", Media.WEB_PAGE),
        ("application/xhtml+xml", "page.xhtml", Media.WEB_PAGE),
        ("application/epub+zip", "book.epub", Media.EPUB),
        ("application/zip", "book.epub", Media.EPUB),
        ("text/plain", "notes.txt", Media.TEXT),
        ("text/markdown", "notes.md", Media.TEXT),
        ("image/png", "figure.png", None),
        ("application/vnd.ms-excel", "data.html", None),
        ("", "data.csv", None),
    ],
)
def test_the_kind_of_a_file_is_told_by_type_and_name(
    content_type: str, name: str, media: Media | None
) -> None:
    assert media_of(content_type, name) is media


RUSSIAN = "Сон после обучения защищает выученное от забывания. " * 5
JAPANESE = "学習の後の睡眠は記憶を守ることが知られている。" * 5


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("naïve".encode(), "naïve"),
        ("\ufeffnaïve".encode(), "naïve"),
        ("naïve".encode("utf-16"), "naïve"),
        (RUSSIAN.encode("cp1251"), RUSSIAN),
        (JAPANESE.encode("cp932"), JAPANESE),
        ("“Sleep” — naïve café. ".encode("cp1252") * 5, "“Sleep” — naïve café. " * 5),
    ],
)
def test_plain_text_is_decoded_by_what_it_looks_like(data: bytes, text: str) -> None:
    assert decoded(data, is_markup=False) == text


@pytest.mark.parametrize(
    ("encoding", "declaration"),
    [
        ("cp1251", '<meta charset="windows-1251">'),
        ("euc_jp", '<meta http-equiv="content-type" content="text/html; charset=euc-jp">'),
        ("cp932", '<?xml version="1.0" encoding="Shift_JIS"?>'),
        ("utf-8", '<meta charset="no-such-thing">'),
        ("utf-8", '<meta charset="utf-16">'),
    ],
)
def test_a_web_page_is_decoded_by_what_it_declares(encoding: str, declaration: str) -> None:
    text = f"{declaration}<p>Сон"
    if encoding in ("euc_jp", "cp932"):
        text = f"{declaration}<p>睡眠"
    assert decoded(text.encode(encoding), is_markup=True) == text


def test_plain_text_is_paragraphs_and_markdown_has_headings(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"One\r\nline.\r\n\r\nTwo.")
    (tmp_path / "a.md").write_text("# Title\n\n## Plan ##\nSleep\nmore.\n\n## End\n\nDone.")
    assert read(tmp_path / "a.txt", Media.TEXT).paged.pages[0].text == "One line.\n\nTwo."
    sections = read(tmp_path / "a.md", Media.TEXT).structured.sections
    assert [section.path for section in sections] == [
        ("Title",),
        ("Title", "Plan"),
        ("Title", "End"),
    ]


@pytest.mark.parametrize("media", list(Media))
def test_a_file_that_is_not_there_is_missing(tmp_path: Path, media: Media) -> None:
    assert read(tmp_path / "none", media).paged.unread is Unread.FILE_MISSING


@pytest.mark.parametrize("media", [Media.TEXT, Media.WEB_PAGE])
def test_bytes_that_are_no_text_are_damaged(tmp_path: Path, media: Media) -> None:
    (tmp_path / "a").write_bytes(bytes(range(256)) * 100)
    assert read(tmp_path / "a", media).paged.unread is Unread.DAMAGED


def test_a_text_that_is_too_large_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "LARGEST_TEXT", 1_000_000)
    (tmp_path / "a.txt").write_bytes(b"word " * 300_000)
    text = read(tmp_path / "a.txt", Media.TEXT).paged
    assert (text.unread, text.detail) == (Unread.TOO_LARGE, "The file is larger than 1 MB.")


def test_an_empty_file_holds_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"")
    text = read(tmp_path / "a.txt", Media.TEXT)
    assert (text.paged.pages, text.structured.passages) == ((), ())


@pytest.mark.parametrize("changes", [1, 99])
def test_a_file_that_changes_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: int
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Version 0.")
    left = iter(range(1, changes + 1))

    def interrupted(text: str, *, is_markdown: bool) -> object:
        if (version := next(left, None)) is not None:
            path.write_text(f"Version {version}.")
            os.utime(path, ns=(version, version))
        return reader_of_plain_text(text, is_markdown=is_markdown)

    reader_of_plain_text = read_plain
    monkeypatch.setattr(reader, "read_plain", interrupted)
    text = read(path, Media.TEXT)
    if changes == 1:
        assert text.paged.pages[0].text == "Version 1."
    else:
        assert (text.paged.unread, text.structured.passages) == (Unread.CHANGING, ())
