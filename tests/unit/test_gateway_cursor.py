"""Positions of a run, and which live messages continue what a client has."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.cursor import Cursor, Delta, InvalidPosition, Position, Row, joined, parse_position


def piece(offset: int, text: str, *, attempt: int = 1, after: int = 0) -> Delta:
    return Delta(after_sequence=after, attempt=attempt, offset=offset, text=text)


def row(sequence: int, name: str, **body: object) -> Row:
    return Row(sequence=sequence, name=name, body=body, frame=b"")


def texts(cursor: Cursor, *deltas: Delta) -> list[str | None]:
    return [admitted.text if (admitted := cursor.admit(delta)) else None for delta in deltas]


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("0", Position(sequence=0, in_text=False)),
        ("7", Position(sequence=7, in_text=False)),
        ("7.1.0", Position(sequence=7, in_text=True)),
        ("7.12.345", Position(sequence=7, in_text=True)),
        ("999999999999999999", Position(sequence=10**18 - 1, in_text=False)),
    ],
)
def test_a_position_is_a_row_or_a_place_in_the_text_after_it(text: str, position: Position) -> None:
    assert parse_position(text) == position


@pytest.mark.parametrize(
    "text",
    ["", " 7", "7 ", "-1", "+1", "07", "7.", "7.1", "7.1.2.3", "7.a.0", "1e3", "1_0", "１", "7\n"],
)
def test_anything_else_is_no_position(text: str) -> None:
    with pytest.raises(InvalidPosition):
        parse_position(text)


def test_pieces_pass_in_order_and_once() -> None:
    cursor = Cursor(3)
    assert texts(cursor, piece(0, "ab"), piece(0, "ab"), piece(2, "c")) == ["ab", None, "c"]


def test_a_piece_that_overlaps_is_cut() -> None:
    assert texts(Cursor(3), piece(0, "ab"), piece(1, "bcd")) == ["ab", "cd"]


def test_after_a_gap_nothing_passes_until_a_reset() -> None:
    cursor = Cursor(3)
    assert texts(cursor, piece(0, "ab"), piece(5, "x"), piece(2, "c")) == ["ab", None, None]
    cursor.pass_row(row(4, "answer_reset", attempt=2))
    assert texts(cursor, piece(0, "new", attempt=2)) == ["new"]


def test_an_older_attempt_is_dropped() -> None:
    cursor = Cursor(3)
    cursor.pass_row(row(4, "answer_reset", attempt=2))
    assert texts(cursor, piece(0, "old"), piece(0, "new", attempt=2)) == [None, "new"]


def test_offsets_count_code_points() -> None:
    assert texts(Cursor(0), piece(0, "𝒳é"), piece(2, "z")) == ["𝒳é", "z"]


def test_an_admitted_piece_stands_after_the_last_row_that_the_client_has() -> None:
    cursor = Cursor(3)
    cursor.pass_row(row(4, "stage", stage="verify"))
    admitted = cursor.admit(piece(0, "a", after=3))
    assert admitted is not None
    assert admitted.after_sequence == 4


def test_text_ahead_of_its_rows_waits_for_them() -> None:
    cursor = Cursor(3)
    assert cursor.is_ahead(piece(0, "a", after=4))
    cursor.pass_row(row(4, "stage", stage="synthesize"))
    assert not cursor.is_ahead(piece(0, "a", after=4))


@pytest.mark.parametrize(
    ("rows", "is_writing"),
    [
        ([row(1, "stage", stage="search")], False),
        ([row(1, "stage", stage="synthesize")], True),
        ([row(1, "stage", stage="verify")], True),
        ([row(1, "stage", stage="verify"), row(2, "answer")], False),
        ([row(1, "stage", stage="synthesize"), row(2, "thought")], True),
    ],
)
def test_the_rows_tell_whether_an_answer_is_being_written(
    rows: list[Row], is_writing: bool
) -> None:
    cursor = Cursor(0)
    for one in rows:
        cursor.pass_row(one)
    assert cursor.is_writing is is_writing


def test_the_text_so_far_is_the_newest_attempts_up_to_the_first_gap() -> None:
    retained = [
        piece(0, "old"),
        piece(0, "ne", attempt=2, after=5),
        piece(0, "ne", attempt=2, after=5),
        piece(2, "w", attempt=2, after=6),
        piece(9, "lost", attempt=2, after=7),
    ]
    whole = joined(retained)
    assert whole is not None
    assert (whole.text, whole.attempt, whole.offset, whole.after_sequence) == ("new", 2, 0, 7)
    assert joined([]) is None
    assert joined([piece(4, "no beginning")]) is None


@given(st.text(max_size=60), st.lists(st.integers(0, 60), max_size=8), st.randoms())
def test_whatever_comes_twice_or_late_the_client_has_a_beginning_of_the_text(
    text: str, cuts: list[int], random: object
) -> None:
    bounds = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [piece(start, text[start:end]) for start, end in pairwise(bounds)]
    shuffled = pieces * 2
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis's own Random
    cursor = Cursor(0)
    seen = "".join(part for part in texts(cursor, *shuffled) if part)
    assert text.startswith(seen)
    assert "".join(part for part in texts(Cursor(0), *pieces) if part) == text
