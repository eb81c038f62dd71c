"""Running heads, running feet and page numbers are no text; what only looks like them is."""

from dataclasses import replace

from services.search.text.fragments import Fragment, Frame, PageContent
from services.search.text.furniture import without_furniture

FRAME = Frame(x0=0, y0=0, x1=595, y1=842)


def page(*pieces: tuple[str, float]) -> PageContent:
    """A page with texts at heights."""
    fragments = tuple(
        Fragment(text=text, x0=60, x1=60 + 5 * len(text), y=y, size=10) for text, y in pieces
    )
    return PageContent(frame=FRAME, fragments=fragments, characters=100, unmapped=0)


BODY = [(f"line {chr(97 + row)} of the text", 700.0 - 12 * row) for row in range(20)]


def kept(*pages: PageContent, labels: tuple[str, ...] | None = None) -> list[list[str]]:
    """What is left of each page beside its body."""
    names = labels or tuple(str(index + 1) for index in range(len(pages)))
    body = {text for text, _ in BODY}
    return [
        [piece.text for piece in content.fragments if piece.text not in body]
        for content in without_furniture(pages, names)
    ]


def test_a_head_that_repeats_at_its_place_is_dropped_whatever_its_numbers() -> None:
    pages = [page((f"Journal of Sleep 12 (2020) {n}", 800.0 + n), *BODY) for n in range(3)]
    assert kept(*pages) == [[], [], []]


def test_heads_of_left_and_right_pages_are_dropped_alike() -> None:
    heads = ["Left head", "Right head"] * 3
    assert kept(*[page((head, 800.0), *BODY) for head in heads]) == [[]] * 6


def test_a_foot_of_the_first_page_only_is_kept() -> None:
    first = page(*BODY, ("© 2020 The authors", 40.0))
    assert kept(first, page(*BODY), page(*BODY))[0] == ["© 2020 The authors"]


def test_a_repeated_line_inside_the_text_is_kept() -> None:
    pages = [page(*BODY[:5], ("Query:", 400.0), *BODY[8:]) for _ in range(4)]
    assert kept(*pages) == [["Query:"]] * 4


def test_page_numbers_that_count_with_the_pages_are_dropped() -> None:
    pages = [page(*BODY, (str(211 + n), 30.0)) for n in range(2)]
    assert kept(*pages) == [[], []]


def test_a_number_that_is_the_label_of_its_page_is_dropped() -> None:
    pages = [page(*BODY, ("iv", 30.0))]
    assert kept(*pages, labels=("iv",)) == [[]]


def test_a_number_that_does_not_count_with_the_pages_is_kept() -> None:
    pages = [page(*BODY, ("1969", 30.0)), page(*BODY, ("1842", 30.0))]
    assert kept(*pages) == [["1969"], ["1842"]]


def test_numbers_beside_the_lines_of_a_manuscript_are_dropped() -> None:
    numbers = [
        Fragment(text=str(row + 96), x0=40, x1=50, y=y, size=10) for row, (_, y) in enumerate(BODY)
    ]
    body = page(*BODY)
    numbered = replace(body, fragments=(*numbers, *body.fragments))
    assert without_furniture([numbered], ["1"]) == (body,)


def test_numbers_in_a_column_of_a_table_are_kept() -> None:
    cells = tuple(
        Fragment(text=text, x0=40, x1=50, y=700 - 12 * row, size=10)
        for row, text in enumerate(["12", "9", "31", "4", "55", "6", "7"])
    )
    table = replace(page(*BODY), fragments=cells)
    assert without_furniture([table], ["1"]) == (table,)
