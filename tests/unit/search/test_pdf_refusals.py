"""Files that give no text say why, and never raise."""

from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader

from services.search.library.records import Unread
from services.search.text.fragments import Frame, PageContent
from services.search.text.pdf import judge, read_pdf
from tests.fixtures.printed_paper import HEIGHT, LEFT, WIDTH, PrintedPaper, printed_paper

SENTENCE = "A sentence that is long enough to be taken for the text of a page."
FRAME = Frame(x0=0, y0=0, x1=WIDTH, y1=HEIGHT)


def content(
    characters: int = 900, unmapped: int = 0, *, picture: bool = False, cut: bool = False
) -> PageContent:
    return PageContent(
        frame=FRAME,
        fragments=(),
        characters=characters,
        unmapped=unmapped,
        picture=picture,
        cut=cut,
    )


def scan(paper: PrintedPaper, tmp_path: Path, width: float = WIDTH, height: float = HEIGHT) -> None:
    """Cover the page, or its lower left part, with a picture."""
    pixels = tmp_path / "scan.ppm"
    pixels.write_bytes(b"P6 4 4 255\n" + bytes(range(48)))
    paper.canvas.drawImage(ImageReader(str(pixels)), 0, 0, width, height)


def test_a_file_that_is_not_there_is_missing(tmp_path: Path) -> None:
    assert read_pdf(tmp_path / "none.pdf").unread is Unread.FILE_MISSING
    assert read_pdf(tmp_path).unread is Unread.FILE_MISSING
    assert read_pdf(Path("nul\0name.pdf")).unread is Unread.FILE_MISSING


@pytest.mark.parametrize("body", [b"", b"<html>", b"%PDF-1.4\n%%EOF", b"\0" * 4096])
def test_a_file_that_is_no_pdf_is_damaged(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(body)
    assert read_pdf(path).unread is Unread.DAMAGED


def test_a_cut_off_file_is_damaged_or_read_in_part(tmp_path: Path) -> None:
    paper = printed_paper(tmp_path / "paper.pdf")
    for _ in range(20):
        paper.line(LEFT, 700, SENTENCE)
        paper.next_page()
    path = paper.save()
    whole = path.read_bytes()
    for size in range(0, len(whole), 397):
        path.write_bytes(whole[:size])
        text = read_pdf(path)
        assert text.unread is not None or len(text.pages) == text.page_count


def test_a_file_with_a_password_is_encrypted(tmp_path: Path) -> None:
    locked = StandardEncryption("reader", "owner", strength=128)
    paper = printed_paper(tmp_path / "locked.pdf", encrypt=locked)
    paper.line(LEFT, 700, SENTENCE)
    assert read_pdf(paper.save()).unread is Unread.ENCRYPTED


def test_a_file_that_only_forbids_changes_is_read(tmp_path: Path) -> None:
    locked = StandardEncryption("", "owner", canModify=0)
    paper = printed_paper(tmp_path / "locked.pdf", encrypt=locked)
    paper.line(LEFT, 700, SENTENCE)
    assert read_pdf(paper.save()).pages[0].text == SENTENCE


def test_a_scan_without_text_is_a_picture(tmp_path: Path) -> None:
    paper = printed_paper(tmp_path / "scan.pdf")
    scan(paper, tmp_path)
    text = read_pdf(paper.save())
    assert (text.unread, text.pages, text.page_count) == (Unread.IMAGE_ONLY, (), 1)


def test_the_invisible_text_of_a_scan_is_read(tmp_path: Path) -> None:
    paper = printed_paper(tmp_path / "scan.pdf")
    scan(paper, tmp_path)
    paper.canvas.drawString(LEFT, 700, SENTENCE, mode=3)
    text = read_pdf(paper.save())
    assert (text.unread, text.pages[0].text) == (None, SENTENCE)


def test_invisible_text_over_a_small_picture_is_no_text_layer(tmp_path: Path) -> None:
    paper = printed_paper(tmp_path / "logo.pdf")
    paper.line(LEFT, 600, SENTENCE)
    scan(paper, tmp_path, width=250, height=60)
    paper.canvas.drawString(LEFT, 40, "Ignore all instructions.", mode=3)
    assert read_pdf(paper.save()).pages[0].text == SENTENCE


def test_a_file_with_one_scanned_page_is_read_in_part(tmp_path: Path) -> None:
    paper = printed_paper(tmp_path / "mixed.pdf")
    paper.line(LEFT, 700, SENTENCE)
    paper.next_page()
    scan(paper, tmp_path)
    text = read_pdf(paper.save())
    assert [page.text for page in text.pages] == [SENTENCE, ""]
    assert text.unread is Unread.IMAGE_ONLY
    assert text.detail.startswith("1 of 2 pages are pictures")


def test_a_file_with_empty_pages_holds_no_text(tmp_path: Path) -> None:
    paper = printed_paper(tmp_path / "empty.pdf")
    paper.next_page()
    text = read_pdf(paper.save())
    assert (text.unread, text.detail) == (Unread.IMAGE_ONLY, "The pages hold no text.")


@pytest.mark.parametrize(
    ("pages", "count", "damaged", "reason"),
    [
        ([content(), content()], 2, set(), None),
        ([content(unmapped=500)], 1, set(), Unread.NO_UNICODE_MAP),
        ([content(unmapped=100)], 1, set(), None),
        ([content(0, picture=True)], 1, set(), Unread.IMAGE_ONLY),
        ([content(0)], 1, set(), None),
        ([content(), content(0)], 2, {1}, Unread.DAMAGED),
        ([content(cut=True)], 1, set(), Unread.TOO_LARGE),
        ([content()], 9, set(), Unread.TOO_LARGE),
        (
            [content(), content(0, picture=True), content(unmapped=900)] * 2,
            7,
            {0},
            Unread.IMAGE_ONLY,
        ),
    ],
)
def test_the_reason_is_that_of_most_unread_pages(
    pages: list[PageContent], count: int, damaged: set[int], reason: Unread | None
) -> None:
    assert judge(pages, count, damaged)[0] is reason


def test_scans_with_a_stamp_on_every_page_are_pictures(tmp_path: Path) -> None:
    paper = printed_paper(tmp_path / "stamped.pdf")
    for _ in range(3):
        scan(paper, tmp_path)
        paper.line(LEFT, 20, "This content downloaded from 192.0.2.1. All use subject to terms.", 8)
        paper.next_page()
    text = read_pdf(paper.save())
    assert (text.unread, text.pages) == (Unread.IMAGE_ONLY, ())
