"""The sentences of a text, and the runs of them that the stand-in looks at one by one."""

import numpy as np
import pytest

from services.rerank.embedding import MAX_SENTENCES, sentences_of, windows_of

SENTENCE = "Naps of half an hour restored vigilance in nurses on the night shift."
EAST = np.array([1.0, 0.0], dtype=np.float32)
NORTH = np.array([0.0, 1.0], dtype=np.float32)


def test_a_text_is_looked_at_sentence_by_sentence() -> None:
    assert sentences_of("One came. Two went.") == ["One came.", "Two went."]


def test_a_text_without_sentences_is_its_own_sentence() -> None:
    assert sentences_of("   ") == ["   "]


def test_the_number_of_sentences_is_bounded() -> None:
    assert len(sentences_of(" ".join([SENTENCE] * 1_000))) == MAX_SENTENCES


def test_windows_are_the_sentences_and_their_runs_of_two_and_three() -> None:
    assert len(windows_of([EAST] * 5)) == 5 + 4 + 3
    assert len(windows_of([EAST])) == 1


def test_a_window_is_a_unit_vector_between_its_sentences() -> None:
    *alone, both = windows_of([EAST, NORTH])
    assert [list(one) for one in alone] == [[1, 0], [0, 1]]
    assert both == pytest.approx([0.5**0.5, 0.5**0.5])


def test_sentences_that_cancel_out_make_no_window() -> None:
    assert len(windows_of([EAST, -EAST])) == 2
