"""What is read of a printed page."""

from pathlib import Path

import pytest
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont

from services.search.text.document_text import BlockKind, OutlineEntry, Page, PagedText
from services.search.text.pdf import read_pdf
from tests.fixtures.printed_paper import COLUMN, GUTTER, LEFT, PrintedPaper, printed_paper

RIGHT = LEFT + COLUMN + GUTTER
LEFT_LINES = [
    "Sleep after learning has long been said to pro-",
    "tect what was learned. In this paper the claim",
    "is put to the test in forty older adults, who",
    "were asked to learn pairs of words in the eve-",
    "ning and to recall them in the morning. They",
    "were tested twice, a month apart, and the or-",
]
RIGHT_LINES = [
    "der of the two nights was drawn by lot. Recall",
    "was better after the night with longer slow",
    "waves, by four words of forty on average.",
    "    The difference was larger in those who had",
    "slept badly before. None of them had noticed it",
    "and the ratings of the night did not differ.",
]
FIRST_PARAGRAPH = (
    "Sleep after learning has long been said to protect what was learned. In this paper the "
    "claim is put to the test in forty older adults, who were asked to learn pairs of words in "
    "the evening and to recall them in the morning. They were tested twice, a month apart, and "
    "the order of the two nights was drawn by lot. Recall was better after the night with longer "
    "slow waves, by four words of forty on average."
)


@pytest.fixture
def paper(tmp_path: Path) -> PrintedPaper:
    return printed_paper(tmp_path / "paper.pdf")


def read(paper: PrintedPaper) -> PagedText:
    text = read_pdf(paper.save())
    assert text.unread is None, text.detail
    return text


def blocks(page: Page, kind: BlockKind) -> list[str]:
    return [page.text[b.start : b.end] for b in page.blocks if b.kind is kind]


def test_two_columns_become_paragraphs_with_whole_words(paper: PrintedPaper) -> None:
    paper.line(LEFT, 780, "Slow waves and recall after sixty", 18, "Times-Bold")
    paper.columns(700, LEFT_LINES, RIGHT_LINES)
    (page,) = read(paper).pages
    assert blocks(page, BlockKind.HEADING) == ["Slow waves and recall after sixty"]
    assert blocks(page, BlockKind.TEXT)[0] == FIRST_PARAGRAPH
    assert blocks(page, BlockKind.TEXT)[1].startswith("The difference was larger in those who")


def test_a_file_that_alternates_between_columns_reads_the_same(paper: PrintedPaper) -> None:
    for row, (left, right) in enumerate(zip(LEFT_LINES, RIGHT_LINES, strict=True)):
        paper.line(LEFT, 700 - 12 * row, left)
        paper.line(RIGHT, 700 - 12 * row, right)
    (page,) = read(paper).pages
    assert blocks(page, BlockKind.TEXT)[0] == FIRST_PARAGRAPH


def test_a_figure_does_not_divide_the_paragraph_around_it(paper: PrintedPaper) -> None:
    paper.lines(LEFT, 700, LEFT_LINES)
    paper.lines(LEFT, 560, ["Figure 1. Recall in the two nights."], 9)
    paper.lines(RIGHT, 700, RIGHT_LINES)
    (page,) = read(paper).pages
    assert blocks(page, BlockKind.TEXT)[0] == FIRST_PARAGRAPH
    assert blocks(page, BlockKind.CAPTION) == ["Figure 1. Recall in the two nights."]


def test_footnotes_are_kept_apart_from_the_text(paper: PrintedPaper) -> None:
    paper.columns(700, LEFT_LINES * 4, RIGHT_LINES)
    paper.lines(LEFT, 380, ["1 The lists are available from the authors."], 7.5)
    (page,) = read(paper).pages
    assert blocks(page, BlockKind.NOTE) == ["1 The lists are available from the authors."]


def test_running_heads_and_page_numbers_are_dropped(paper: PrintedPaper) -> None:
    for number in ("211", "212", "213"):
        paper.furniture("Journal of Later Life 12 (2020)", number)
        paper.columns(700, LEFT_LINES, RIGHT_LINES)
        paper.next_page()
    text = " ".join(page.text for page in read(paper).pages)
    assert "Journal of Later Life" not in text
    assert "211" not in text


def test_the_rows_of_a_table_stay_rows(paper: PrintedPaper) -> None:
    paper.lines(LEFT, 700, LEFT_LINES)
    for row, cells in enumerate([("Group", "Recall"), ("Young", "31.2"), ("Old", "27.9")]):
        for index, cell in enumerate(cells):
            paper.line(LEFT + 80 * index, 560 - 12 * row, cell)
    paper.lines(RIGHT, 700, RIGHT_LINES)
    (page,) = read(paper).pages
    assert blocks(page, BlockKind.TABLE) == ["Group Recall\nYoung 31.2\nOld 27.9"]


def test_the_printed_label_is_kept_apart_from_the_physical_page(paper: PrintedPaper) -> None:
    paper.canvas.addPageLabel(0, style="ROMAN_LOWER", start=1)
    paper.canvas.addPageLabel(1, style="ARABIC", start=211)
    for _ in range(3):
        paper.lines(LEFT, 700, LEFT_LINES)
        paper.next_page()
    assert [(page.index, page.label) for page in read(paper).pages] == [
        (0, "i"),
        (1, "211"),
        (2, "212"),
    ]


def test_a_file_without_labels_counts_from_one(paper: PrintedPaper) -> None:
    paper.lines(LEFT, 700, LEFT_LINES)
    assert read(paper).pages[0].label == "1"


def test_the_outline_names_pages_and_levels(paper: PrintedPaper) -> None:
    for level, title in enumerate(["Methods", "Participants"]):
        paper.lines(LEFT, 700, LEFT_LINES)
        paper.canvas.bookmarkPage(title)
        paper.canvas.addOutlineEntry(title, title, level)
        paper.next_page()
    assert read(paper).outline == (
        OutlineEntry(title="Methods", level=1, page_index=0),
        OutlineEntry(title="Participants", level=2, page_index=1),
    )


def test_text_turned_with_its_page_is_read(paper: PrintedPaper) -> None:
    paper.canvas.rotate(90)
    paper.canvas.translate(0, -500)
    paper.lines(100, 400, LEFT_LINES[:3])
    (page,) = read(paper).pages
    assert page.text.startswith("Sleep after learning has long been said to protect what")


def test_a_stamp_along_the_margin_is_left_out(paper: PrintedPaper) -> None:
    paper.lines(LEFT, 700, LEFT_LINES)
    paper.canvas.rotate(90)
    paper.line(300, -30, "arXiv:2101.00001v1 [q-bio] 1 Jan 2021", 20)
    assert "arXiv" not in read(paper).pages[0].text


def test_text_that_nobody_can_see_is_left_out(paper: PrintedPaper) -> None:
    paper.lines(LEFT, 700, LEFT_LINES)
    paper.line(-400, 400, "Off the page.")
    paper.line(LEFT, 300, "Too small to be read.", 0.5)
    paper.canvas.drawString(LEFT, 200, "Drawn invisibly.", mode=3)
    text = read(paper).pages[0].text
    assert text.endswith("and the or-")


def test_a_watermark_across_the_page_is_left_out(paper: PrintedPaper) -> None:
    paper.lines(LEFT, 700, LEFT_LINES)
    paper.canvas.rotate(45)
    paper.line(400, 100, "DRAFT COPY", 60)
    assert "DRAFT" not in read(paper).pages[0].text


def test_only_the_first_pages_are_read_when_there_are_too_many(paper: PrintedPaper) -> None:
    for _ in range(3):
        paper.lines(LEFT, 700, LEFT_LINES)
        paper.next_page()
    text = read_pdf(paper.save(), max_pages=2)
    assert (len(text.pages), text.page_count) == (2, 3)
    assert text.unread is not None
    assert text.detail == "1 of 3 pages are beyond the size that is read."


def test_a_long_list_in_smaller_type_does_not_make_the_text_a_heading(paper: PrintedPaper) -> None:
    paper.columns(700, LEFT_LINES[:2], ["A short paragraph of its own."])
    paper.next_page()
    for _ in range(2):
        for x in (LEFT, RIGHT):
            paper.lines(x, 780, LEFT_LINES * 10, 8)
        paper.next_page()
    assert blocks(read(paper).pages[0], BlockKind.HEADING) == []


def test_labels_and_titles_are_clean(paper: PrintedPaper) -> None:
    paper.canvas.addPageLabel(0, prefix="S\x07\n", style="ARABIC", start=4)
    paper.lines(LEFT, 700, LEFT_LINES)
    paper.canvas.bookmarkPage("start")
    paper.canvas.addOutlineEntry("What was\r\n\x00 done", "start")
    text = read(paper)
    assert text.pages[0].label == "S 4"
    assert text.outline[0].title == "What was done"


def test_a_section_name_set_like_the_text_stands_alone(paper: PrintedPaper) -> None:
    paper.lines(LEFT, 700, ["1. Introduction", *LEFT_LINES[:5], "Methods", *RIGHT_LINES[:3]])
    (page,) = read(paper).pages
    assert blocks(page, BlockKind.TEXT)[::2] == ["1. Introduction", "Methods"]


def test_japanese_columns_are_read_without_spaces(paper: PrintedPaper) -> None:
    registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    text = "睡眠は学習した内容を長く保つと言われてきた。本稿では高齢者を対象に試験を行った。" * 6
    lines = [text[start : start + 22] for start in range(0, len(text), 22)]
    paper.lines(LEFT, 700, lines[:6], font="HeiseiMin-W3")
    paper.lines(RIGHT, 700, lines[6:], font="HeiseiMin-W3")
    assert read(paper).pages[0].text == text
