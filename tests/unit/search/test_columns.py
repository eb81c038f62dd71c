"""The order in which a page is read."""

from collections.abc import Iterable

from services.search.text.columns import reading_order, usual_gutter
from services.search.text.fragments import Fragment

SIZE = 10.0
LEFT, RIGHT, WIDTH = 60.0, 310.0, 230.0


def piece(text: str, x0: float, y: float, width: float = WIDTH, size: float = SIZE) -> Fragment:
    return Fragment(text=text, x0=x0, x1=x0 + width, y=y, size=size)


def column(name: str, x0: float, top: float, rows: int, width: float = WIDTH) -> list[Fragment]:
    return [piece(f"{name}{row}", x0, top - 12 * row, width) for row in range(rows)]


def read(fragments: Iterable[Fragment]) -> list[str]:
    return [line.text for part in reading_order(tuple(fragments)) for line in part.lines]


def names(name: str, rows: int) -> list[str]:
    return [f"{name}{row}" for row in range(rows)]


def test_one_column_is_read_from_top_to_bottom() -> None:
    lines = column("a", LEFT, 700, 5, 480)
    assert read(reversed(lines)) == names("a", 5)


def test_the_left_column_is_read_before_the_right_even_if_the_file_alternates() -> None:
    pairs = zip(column("l", LEFT, 700, 6), column("r", RIGHT, 700, 6), strict=True)
    assert read(piece for pair in pairs for piece in pair) == [*names("l", 6), *names("r", 6)]


def test_text_over_the_full_width_divides_the_columns() -> None:
    page = [
        piece("title", 100, 780, 400, 18),
        *column("a", LEFT, 700, 4),
        *column("b", RIGHT, 700, 4),
        piece("caption", LEFT, 600, 480),
        *column("c", LEFT, 570, 4),
        *column("d", RIGHT, 570, 4),
    ]
    expected = [
        "title",
        *names("a", 4),
        *names("b", 4),
        "caption",
        *names("c", 4),
        *names("d", 4),
    ]
    assert read(page) == expected


def test_the_short_last_line_of_a_full_width_paragraph_stays_with_it() -> None:
    page = [
        *column("s", LEFT, 780, 3, 480),
        piece("end", LEFT, 744, 100),
        *column("a", LEFT, 700, 4),
        *column("b", RIGHT, 700, 4),
    ]
    assert read(page) == [*names("s", 3), "end", *names("a", 4), *names("b", 4)]


def test_three_columns_are_read_one_after_the_other() -> None:
    page = [
        fragment
        for name, x0 in (("a", 50.0), ("b", 220.0), ("c", 390.0))
        for fragment in column(name, x0, 700, 5, 150)
    ]
    assert read(reversed(page)) == [*names("a", 5), *names("b", 5), *names("c", 5)]


def test_right_to_left_columns_begin_on_the_right() -> None:
    page = [*column("ا", LEFT, 700, 4), *column("ب", RIGHT, 700, 4)]
    assert read(page) == [*names("ب", 4), *names("ا", 4)]


def test_rows_of_a_table_over_both_columns_are_read_across() -> None:
    rows = [
        piece(f"{row}{cell}", LEFT + 110 * index, 760 - 12 * row, 40)
        for row in range(3)
        for index, cell in enumerate("wxyz")
    ]
    page = [*rows, *column("a", LEFT, 700, 4), *column("b", RIGHT, 700, 4)]
    assert read(page)[:3] == ["0w 0x 0y 0z", "1w 1x 1y 1z", "2w 2x 2y 2z"]


def test_smaller_type_at_the_foot_of_both_columns_comes_after_them() -> None:
    def small(name: str, x0: float) -> list[Fragment]:
        return [piece(f"{name}{row}", x0, 600 - 10 * row, WIDTH, 8) for row in range(3)]

    page = [
        *column("a", LEFT, 700, 5),
        *small("m", LEFT),
        *column("b", RIGHT, 700, 5),
        *small("n", RIGHT),
    ]
    assert read(page) == [*names("a", 5), *names("b", 5), *names("m", 3), *names("n", 3)]


def test_cells_of_a_small_table_in_one_column_are_no_columns() -> None:
    page = [
        *column("a", LEFT, 700, 4, 480),
        *(piece(f"k{row}", LEFT, 600 - 12 * row, 40) for row in range(4)),
        *(piece(f"v{row}", LEFT + 200, 600 - 12 * row, 40) for row in range(4)),
    ]
    assert read(page)[4:] == [f"k{row} v{row}" for row in range(4)]


def test_a_large_initial_belongs_to_the_first_of_its_lines() -> None:
    page = [
        piece("T", LEFT, 676, 24, 36),
        piece("he clock", LEFT + 28, 700, 200),
        piece("is set", LEFT + 28, 688, 200),
        piece("by light", LEFT + 28, 676, 200),
        piece("each day", LEFT, 664, 230),
    ]
    assert read(page)[0] == "The clock"


def test_a_last_page_with_few_lines_uses_the_gutter_of_the_others() -> None:
    full = [*column("a", LEFT, 700, 9), *column("b", RIGHT, 700, 9)]
    last = (*column("c", LEFT, 700, 3), *column("d", RIGHT, 700, 1))
    lines = [
        line.text for part in reading_order(last, usual_gutter([full, full])) for line in part.lines
    ]
    assert lines == [*names("c", 3), *names("d", 1)]


def test_pages_in_one_column_have_no_usual_gutter() -> None:
    one = column("a", LEFT, 700, 9, 480)
    two = [*column("a", LEFT, 700, 9), *column("b", RIGHT, 700, 9)]
    assert usual_gutter([one, one, two]) is None
    assert usual_gutter([]) is None
