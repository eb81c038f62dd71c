"""A model's answer becomes citations of the evidence and nothing active."""

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.synth.citations import markers_in
from services.synth.model.answer_text import AnswerText
from tests.unit.synth_model.builders import LIGHT, NAPS, evidence

EVIDENCE = evidence(NAPS, LIGHT)


def shown(text: str, *, size: int = 10_000) -> tuple[str, AnswerText]:
    answer = AnswerText(EVIDENCE)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return "".join(answer.feed(piece) for piece in pieces) + answer.finish(), answer


def test_a_mark_becomes_a_number_with_its_quote_and_its_sentence() -> None:
    markdown, answer = shown(
        'Light delays melatonin [2 "delayed melatonin by 52 minutes"]. Naps help '
        '[1: "lowered lapses by 2.9"].'
    )
    assert markdown == "Light delays melatonin [1]. Naps help [2]."
    first, second = answer.citations
    assert (first.passage_id, first.quote) == ("p2", "delayed melatonin by 52 minutes")
    assert (second.passage_id, second.quote) == ("p1", "lowered lapses by 2.9")
    assert first.statement == "Light delays melatonin"
    assert second.statement == "Naps help"


@pytest.mark.parametrize(
    ("mark", "numbers"),
    [
        ("[1]", [1]),
        ("[2, 1]", [1, 2]),
        ("[1][2]", [1, 2]),
        ("[1 “lowered lapses by 2.9”]", [1]),
        ("[3]", []),
        ("[0]", []),
        ("[1 \"lowered lapses\"][99 'x y z']", [1]),
        ("\\[1\\]", [1]),
        ("[[1]]", []),
    ],
)
def test_only_passages_of_the_evidence_are_cited(mark: str, numbers: list[int]) -> None:
    markdown, answer = shown(f"Naps help {mark}.")
    assert markers_in(markdown) == numbers
    assert [one.number for one in answer.citations] == numbers


def test_an_invented_quote_is_replaced_by_the_nearest_sentence_of_the_passage() -> None:
    _, answer = shown('Naps lowered lapses in nurses [1 "cured insomnia for ever"].')
    assert answer.citations[0].quote == NAPS.split(". ")[0] + "."


def test_the_same_words_for_another_sentence_are_another_citation_to_be_checked() -> None:
    markdown, answer = shown("Naps help [1]. Naps cure everything [1].")
    assert markers_in(markdown) == [1, 2]
    assert [one.statement for one in answer.citations] == ["Naps help", "Naps cure everything"]


def test_a_mark_behind_the_full_stop_belongs_to_the_sentence_before() -> None:
    _, answer = shown("Naps help. [1] Light delays sleep. [2]")
    assert [one.statement for one in answer.citations] == ["Naps help.", "Light delays sleep."]


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("See ![x](https://evil.example/?q=1) here", "See x here"),
        ("See [this](https://evil.example) here", "See this here"),
        ("See [this](javascript:alert(1) here", "See this here"),
        ("<img src=x onerror=y>", "\\<img src=x onerror=y>"),
        ("<https://evil.example>", "\\<https\\://evil.example>"),
        ("go to https://evil.example now", "go to https\\://evil.example now"),
        ("www.evil.example", "www\\.evil.example"),
        ("write to a@evil.example", "write to a\\@evil.example"),
        ("[x]: https://evil.example", "\\[x\\]: https\\://evil.example"),
        ("[see [1]](https://evil.example)", "see \\[1\\]"),
        ("an interval [a, b) of", "an interval \\[a, b) of"),
        ("p < 0.05", "p \\< 0.05"),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 10_000])
def test_links_images_and_html_lose_what_makes_them_active(text: str, safe: str, size: int) -> None:
    assert shown(text, size=size)[0].strip() == safe


def test_a_bracket_that_never_closes_does_not_hold_the_text_for_ever() -> None:
    answer = AnswerText(EVIDENCE)
    early = answer.feed('Before [1 "never closed ' + "word " * 500)
    assert early.startswith("Before")
    assert (early + answer.finish()).count("word") == 500


@given(st.text(alphabet='ab [](1)2"!<:\\\n.', max_size=80), st.randoms(use_true_random=False))
def test_how_the_text_is_cut_into_pieces_changes_nothing(text: str, rng: random.Random) -> None:
    whole, _ = shown(text)
    answer = AnswerText(EVIDENCE)
    cut = ""
    at = 0
    while at < len(text):
        step = rng.randint(1, 9)
        cut += answer.feed(text[at : at + step])
        at += step
    assert cut + answer.finish() == whole


@example("\\\\[1]")
@given(st.text(alphabet='ab [](13)2"!<:\\\n.', max_size=80))
def test_every_number_shown_is_a_citation_and_the_reverse(text: str) -> None:
    markdown, answer = shown(text)
    assert set(markers_in(markdown)) == {one.number for one in answer.citations}
    assert "](" not in markdown.replace("\\](", "")
