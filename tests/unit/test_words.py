"""Words are counted and sentences found alike in every script."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.chassis.words import WORD, count_words, cut_at_sentence, sentences


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("— … ?! *", 0),
        ("Sleep spindles matter.", 3),
        ("a state-of-the-art method", 3),
        ("don't stop", 2),
        ("p = 0.05, n = 1,204", 4),
        ("naïve cafe\u0301", 2),
        ("睡眠と記憶", 5),
        ("メラトニン5 mg", 7),
        ("الذاكرة والنوم", 2),
        ("сон и память", 3),
        ("snake_case", 2),
        ("CO₂ α-synuclein", 2),
    ],
)
def test_a_word_has_a_letter_or_digit_and_a_cjk_character_is_one(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("One sentence", ["One sentence"]),
        ("It works. It lasts! Why?", ["It works.", "It lasts!", "Why?"]),
        (
            "Shown by Meyer et al. in 2019. Later refuted.",
            ["Shown by Meyer et al. in 2019.", "Later refuted."],
        ),
        ("See Fig. 3 for this. Then stop.", ["See Fig. 3 for this.", "Then stop."]),
        ("J. Doe agreed. So did K. Lee.", ["J. Doe agreed.", "So did K. Lee."]),
        ("The gain was 0.5 points. It held.", ["The gain was 0.5 points.", "It held."]),
        (
            "Some forms, e.g. naps, help. Others do not.",
            ["Some forms, e.g. naps, help.", "Others do not."],
        ),
        ("He said “enough.” They left.", ["He said “enough.”", "They left."]),
        ("睡眠は重要だ。記憶が固まる。", ["睡眠は重要だ。", "記憶が固まる。"]),
        ("A heading\n\nA paragraph.", ["A heading", "A paragraph."]),
        ("هل نام؟ نعم.", ["هل نام؟", "نعم."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == expected


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("One two. Three four. Five.", 4, "One two. Three four."),
        ("One two. Three four. Five.", 99, "One two. Three four. Five."),
        ("One two three four", 2, "One two"),
        ("One two three four", 0, ""),
        ("…", 3, "…"),
        ("", 3, ""),
    ],
)
def test_a_cut_falls_at_a_sentence_or_else_at_a_word(text: str, limit: int, kept: str) -> None:
    assert cut_at_sentence(text, limit) == kept


@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.text(alphabet="aZ9 '.,-’‐“–…é睡\u00a0²_\n", max_size=40))
def test_the_short_way_of_counting_gives_the_same_number(text: str) -> None:
    assert count_words(text) == len(WORD.findall(text))
