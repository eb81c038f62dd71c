"""Which stretch of a passage a sentence rests on."""

import pytest

from services.synth.model.quoting import nearest_sentence, verbatim
from tests.unit.synth_model.builders import LIGHT, NAPS


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("lowered lapses by 2.9", "lowered lapses by 2.9"),
        ("Lowered  lapses\nby 2.9", "lowered lapses by 2.9"),
        ('sleep inertia "for a while"', "sleep inertia “for a while”"),
        ("night‑shift nurses", "night-shift nurses"),
        (NAPS, NAPS),
    ],
)
def test_white_space_case_and_typography_do_not_matter(quote: str, found: str) -> None:
    span = verbatim(quote, NAPS)
    assert span is not None
    assert NAPS[slice(*span)] == found


@pytest.mark.parametrize("quote", ["", "lapses", "raised lapses by 2.9", "lowered … by 2.9"])
def test_what_is_not_there_or_says_nothing_is_not_found(quote: str) -> None:
    assert verbatim(quote, NAPS) is None


def test_ligatures_and_full_width_letters_are_found_with_their_own_place() -> None:
    text = "Die Eﬃzienz stieg auf １２ Prozent."
    span = verbatim("Effizienz stieg auf 12 Prozent", text)
    assert span is not None
    assert text[slice(*span)] == "Eﬃzienz stieg auf １２ Prozent"


@pytest.mark.parametrize(
    ("statement", "start"),
    [
        ("Evening light delays melatonin by nearly an hour.", "Bright evening"),
        ("Age may change the effect.", "The effect"),
        ("", "Bright evening"),
    ],
)
def test_without_its_words_the_sentence_that_shares_most_is_quoted(
    statement: str, start: str
) -> None:
    assert LIGHT[slice(*nearest_sentence(statement, LIGHT))].startswith(start)


def test_a_passage_without_sentences_is_quoted_whole() -> None:
    assert nearest_sentence("anything", "   ") == (0, 3)
