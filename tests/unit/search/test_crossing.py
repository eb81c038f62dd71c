"""Between which languages an embedding model finds meaning."""

from collections.abc import Callable

import numpy as np
import pytest

from services.search.crossing import SENTENCES, Crossing, bridged, probes
from services.search.encoder import Vectors
from services.search.encoder_lanes import encoder_lanes
from services.synth.languages import language_of

DIMENSIONS = 64


def rows(place: Callable[[str, int], int], share: float = 1.0) -> Vectors:
    """Unit vectors of the probes; `place` gives the axis of a sentence, by language and number."""
    vectors = np.zeros((len(probes()), DIMENSIONS), dtype=np.float32)
    for row, (language, number) in enumerate((one, n) for one in SENTENCES for n in range(4)):
        vectors[row, place(language, number)] = share
        vectors[row, 48 + list(SENTENCES).index(language)] += np.sqrt(1 - share**2)
    return vectors


def test_a_model_that_lays_translations_together_bridges_all_languages() -> None:
    assert bridged(rows(lambda _, number: number)) == tuple(SENTENCES)


def test_a_model_of_one_language_bridges_none() -> None:
    names = list(SENTENCES)
    assert bridged(rows(lambda language, n: 4 * names.index(language) % 48 + n)) == ()


def test_translations_that_are_only_a_little_nearer_do_not_count() -> None:
    assert bridged(rows(lambda _, number: number, share=0.6)) == ()


def test_a_model_that_lays_everything_together_bridges_nothing() -> None:
    # All cosines are 1, and no sentence is nearest to its own original.
    assert bridged(rows(lambda *_: 0)) == ()


def test_only_the_languages_that_it_knows_are_named() -> None:
    knows = ("en", "de", "ja")
    names = list(SENTENCES)
    vectors = rows(lambda language, n: n if language in knows else 4 + names.index(language))
    assert bridged(vectors) == knows


class CountingEncoder:
    """Lays translations together, and counts how many texts it was given."""

    encoder_id = "counting"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self.texts = 0

    def encode(self, texts: list[str]) -> Vectors:
        self.texts += len(texts)
        known = {s: n for sentences in SENTENCES.values() for n, s in enumerate(sentences)}
        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row, known[text]] = 1
        return vectors


async def test_it_is_measured_once() -> None:
    encoder = CountingEncoder()
    async with encoder_lanes(encoder, threads=1) as lanes:
        crossing = Crossing(lanes)
        assert await crossing.languages() == await crossing.languages() == tuple(SENTENCES)
    assert encoder.texts == len(probes())


async def test_without_an_encoder_nothing_is_bridged() -> None:
    crossing = Crossing(None)
    assert (crossing.encoder_id, await crossing.languages()) == ("", ())


@pytest.mark.parametrize("language", SENTENCES)
def test_the_sentences_are_in_their_language_and_all_different(language: str) -> None:
    assert len(set(probes())) == len(probes())
    assert language_of(" ".join(SENTENCES[language])) == language
