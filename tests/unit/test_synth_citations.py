"""Numbers, quotes, and quoted text that stays text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.synth.citations import (
    NotVerbatim,
    Numbering,
    Quote,
    as_plain_markdown,
    markers_in,
    one_line,
    pieces_of,
    quote_from,
    require_verbatim,
)


def test_quotes_are_numbered_from_one_and_the_same_quote_keeps_its_number() -> None:
    numbering = Numbering()
    first, second = Quote("p", "one"), Quote("p", "two")
    assert [numbering.number(q) for q in (first, second, first)] == [1, 2, 1]


def test_a_quote_is_the_very_text_of_the_passage() -> None:
    quote = quote_from("p", "One.\nTwo  three. ", 5, 16)
    assert quote.text == "Two  three."
    require_verbatim(quote, "One.\nTwo  three. ")


def test_an_empty_or_changed_quote_is_refused() -> None:
    with pytest.raises(NotVerbatim, match="'p'"):
        quote_from("p", "One.  ", 4, 6)
    with pytest.raises(NotVerbatim, match="does not hold"):
        require_verbatim(Quote("p", "Two three."), "Two  three.")


@pytest.mark.parametrize(
    "text",
    [
        "[click](https://evil.example/?q=secret)",
        "![pixel](https://evil.example/p.png)",
        "<img src=x onerror=alert(1)>",
        "<https://evil.example>",
        "`rm -rf`",
        "*bold* and _this_ and ~~that~~",
        "# Heading",
        "a | b",
        "[1]",
        "[1]: https://evil.example",
        "&lt;script&gt;",
        "$x^2$",
    ],
)
def test_nothing_in_a_quoted_text_is_active(text: str) -> None:
    shown = as_plain_markdown(text)
    for at, letter in enumerate(shown):
        if letter in "[]<>`*_#|~!&$":
            assert shown[at - 1 : at] == "\\", shown
    assert markers_in(shown) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see https://evil.example", r"see https\://evil.example"),
        ("see www.evil.example", r"see www\.evil.example"),
        ("write to a@b.example", r"write to a\@b.example"),
        ("javascript:alert(1)", r"javascript\:alert(1)"),
        ("at 02:45 a ratio of 3:1", "at 02:45 a ratio of 3:1"),
        ("one\n# two\n\n- three", r"one \# two - three"),
        ("- an item", r"\- an item"),
        ("1984. A novel", r"1984\. A novel"),
        ("1984 was late", "1984 was late"),
    ],
)
def test_links_and_line_starts_are_taken_apart(text: str, shown: str) -> None:
    assert as_plain_markdown(text) == shown


def test_control_characters_do_not_reach_the_reader() -> None:
    assert one_line("a\x00b\u202ec\u0007 d") == "a b c d"


@given(st.text(), st.integers(2, 40))
def test_the_pieces_of_a_text_joined_are_the_text(text: str, length: int) -> None:
    pieces = pieces_of(text, length=length)
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= length for piece in pieces)
