"""How a document is divided into sections."""

from collections.abc import Sequence

from services.search.text.document_text import (
    Block,
    BlockKind,
    OutlineEntry,
    Page,
    PagedText,
)
from services.search.text.sections import divide

BODY = "The quick brown fox jumps over the lazy dog, and the dog does not mind it at all."
TEXT, HEADING, NOTE = BlockKind.TEXT, BlockKind.HEADING, BlockKind.NOTE
Paragraph = tuple[BlockKind, str] | tuple[BlockKind, str, float]


def page(index: int, *paragraphs: Paragraph) -> Page:
    blocks: list[Block] = []
    start = 0
    for kind, text, *size in paragraphs:
        block = Block(
            start=start,
            end=start + len(text),
            kind=kind,
            size=size[0] if size else 1.0,
            bold=kind is HEADING,
        )
        blocks.append(block)
        start = block.end + 2
    texts = [paragraph[1] for paragraph in paragraphs]
    return Page(index=index, label=str(index + 1), text="\n\n".join(texts), blocks=tuple(blocks))


def paged(*pages: Page, outline: Sequence[OutlineEntry] = ()) -> PagedText:
    return PagedText(pages=pages, outline=tuple(outline), page_count=len(pages))


def titles(text: PagedText) -> list[tuple[int, str]]:
    return [(stretch.level, stretch.title) for stretch in divide(text)]


def test_numbered_headings_give_sections_and_levels() -> None:
    text = paged(
        page(0, (HEADING, "A Title", 1.8), (TEXT, "By Somebody"), (HEADING, "1 Introduction", 1.2)),
        page(1, (TEXT, BODY), (HEADING, "2 Methods", 1.2), (HEADING, "2.1 Task"), (TEXT, BODY)),
        page(2, (HEADING, "3 Results", 1.2), (TEXT, BODY)),
    )
    assert titles(text) == [
        (1, "Front matter"),
        (1, "1 Introduction"),
        (1, "2 Methods"),
        (2, "2.1 Task"),
        (1, "3 Results"),
    ]


def test_headings_without_numbers_are_levelled_by_their_size() -> None:
    text = paged(
        page(0, (HEADING, "The Title", 1.8), (TEXT, BODY)),
        page(0, (HEADING, "Introduction", 1.3), (TEXT, BODY), (HEADING, "Method", 1.3)),
        page(1, (HEADING, "Who took part", 1.1), (TEXT, BODY)),
        page(2, (HEADING, "Results", 1.3), (TEXT, BODY)),
    )
    assert titles(text)[1:] == [
        (1, "Introduction"),
        (1, "Method"),
        (2, "Who took part"),
        (1, "Results"),
    ]


def test_headings_set_like_the_text_are_known_by_name() -> None:
    text = paged(page(0, (TEXT, "Introduction"), (TEXT, BODY), (TEXT, "Results"), (TEXT, BODY)))
    assert titles(text) == [(1, "Introduction"), (1, "Results")]


def test_items_of_a_list_are_no_headings() -> None:
    items = [(TEXT, "1. Open the box"), (TEXT, "2. Close the box"), (TEXT, "3. Shake it well")]
    text = paged(page(0, (TEXT, BODY), *items, (TEXT, BODY)))
    assert titles(text) == [(1, "Full text")]


def test_bold_lines_that_repeat_are_no_headings() -> None:
    rows = [(HEADING, "Query date"), (TEXT, BODY)] * 4
    assert titles(paged(page(0, *rows))) == [(1, "Full text")]


def test_an_abstract_that_runs_into_its_paragraph_is_a_section_of_its_own() -> None:
    text = paged(
        page(
            0,
            (HEADING, "A title of a paper", 1.8),
            (HEADING, "An Author", 1.1),
            (TEXT, f"Abstract. {BODY}"),
            (HEADING, "1. Introduction", 1.2),
            (TEXT, BODY),
        )
    )
    front, abstract, introduction = divide(text)
    assert [part.text for part in front.parts] == ["A title of a paper", "An Author"]
    assert (abstract.title, abstract.parts[0].text) == ("Abstract", f"Abstract. {BODY}")
    assert introduction.title == "1. Introduction"


def test_the_reference_list_is_left_out_and_what_follows_it_is_not() -> None:
    text = paged(
        page(0, (HEADING, "Introduction"), (TEXT, BODY), (HEADING, "References")),
        page(1, (TEXT, "Smith, J. (2001). A book."), (HEADING, "Appendix"), (TEXT, BODY)),
    )
    assert titles(text) == [(1, "Introduction"), (1, "Appendix")]
    assert all("Smith" not in part.text for stretch in divide(text) for part in stretch.parts)


def test_a_reference_list_without_a_heading_is_left_out() -> None:
    entries = [(NOTE, f"[{n}] Smith J. A paper. Journal 12 ({2000 + n}).") for n in range(1, 8)]
    text = paged(page(0, *[(TEXT, BODY)] * 9), page(1, (TEXT, BODY), *entries))
    assert [len(stretch.parts) for stretch in divide(text)] == [10]


def test_the_outline_comes_before_the_headings() -> None:
    text = paged(
        page(0, (HEADING, "1 Introduction"), (TEXT, BODY), (HEADING, "Not in the outline")),
        page(1, (TEXT, BODY), (HEADING, "2 Methods"), (TEXT, "Task. We asked them."), (TEXT, BODY)),
        page(2, (HEADING, "References"), (TEXT, "Smith, J. (2001)")),
        outline=[
            OutlineEntry(title="Introduction", level=1, page_index=0),
            OutlineEntry(title="Methods", level=1, page_index=1),
            OutlineEntry(title="Task", level=2, page_index=1),
        ],
    )
    assert titles(text) == [(1, "1 Introduction"), (1, "2 Methods"), (2, "Task")]
    assert divide(text)[2].parts[0].text == "Task. We asked them."


def test_an_outline_title_matches_a_heading_that_differs_by_a_sign() -> None:
    text = paged(
        page(0, (HEADING, "1 Start"), (TEXT, BODY), (HEADING, "2 The Lemaître–Tolman model")),
        page(1, (TEXT, BODY)),
        outline=[
            OutlineEntry(title="Start", level=1, page_index=0),
            OutlineEntry(title="The Lema{^i}tre--Tolman model", level=1, page_index=0),
        ],
    )
    assert titles(text)[1] == (1, "2 The Lemaître–Tolman model")


def test_an_outline_that_does_not_fit_the_text_is_not_used() -> None:
    text = paged(
        page(0, (HEADING, "Introduction"), (TEXT, BODY)),
        page(1, (HEADING, "Results"), (TEXT, BODY)),
        outline=[OutlineEntry(title=f"scan{n:04}", level=1, page_index=n) for n in range(2)],
    )
    assert titles(text) == [(1, "Introduction"), (1, "Results")]


def test_sections_below_the_title_are_lifted() -> None:
    text = paged(
        page(0, (HEADING, "The Title", 1.8), (HEADING, "Start"), (TEXT, BODY), (HEADING, "End")),
        outline=[
            OutlineEntry(title="The Title", level=1, page_index=0),
            OutlineEntry(title="Start", level=2, page_index=0),
            OutlineEntry(title="End", level=2, page_index=0),
        ],
    )
    assert titles(text) == [(1, "Front matter"), (1, "Start"), (1, "End")]


def test_a_text_without_headings_is_one_section() -> None:
    assert titles(paged(page(0, (TEXT, BODY)), page(1, (TEXT, BODY)))) == [(1, "Full text")]


def test_pages_whose_layout_is_not_known_are_divided_by_blank_lines() -> None:
    plain = Page(index=0, label="1", text=f"Introduction\n\n{BODY}\n\nResults\n\n{BODY}")
    assert titles(paged(plain)) == [(1, "Introduction"), (1, "Results")]


def test_an_empty_text_has_no_sections() -> None:
    assert divide(paged()) == ()
    assert divide(paged(page(0))) == ()


def test_captions_after_the_reference_list_are_kept() -> None:
    text = paged(
        page(0, (HEADING, "Introduction"), (TEXT, BODY), (HEADING, "References")),
        page(1, (TEXT, "Smith, J. (2001). A book."), (BlockKind.CAPTION, "Figure 1. The device.")),
    )
    assert titles(text) == [(1, "Introduction"), (1, "Figures and tables")]
    assert [part.text for part in divide(text)[1].parts] == ["Figure 1. The device."]
