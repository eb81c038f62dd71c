"""The windows of a text that the stand-in looks at one by one."""

from services.chassis.words import count_words
from services.rerank.embedding import MAX_WINDOWS, WINDOW_WORDS, windows_of

SENTENCE = "Naps of half an hour restored vigilance in nurses on the night shift."


def test_short_sentences_share_a_window() -> None:
    assert windows_of("One came. Two went. Three stayed.") == ["One came. Two went. Three stayed."]


def test_windows_hold_whole_sentences_and_all_of_them_in_order() -> None:
    text = " ".join([SENTENCE] * 20)
    windows = windows_of(text)
    assert " ".join(windows) == text
    assert all(window.endswith(".") for window in windows)
    assert all(count_words(window) <= WINDOW_WORDS for window in windows)


def test_a_sentence_longer_than_a_window_is_one_of_its_own() -> None:
    long = "Word " * 100 + "end."
    assert windows_of(f"{SENTENCE} {long} {SENTENCE}") == [SENTENCE, long, SENTENCE]


def test_a_text_without_sentences_is_its_own_window() -> None:
    assert windows_of("   ") == ["   "]


def test_the_number_of_windows_is_bounded() -> None:
    assert len(windows_of(" ".join([SENTENCE] * 1_000))) == MAX_WINDOWS
