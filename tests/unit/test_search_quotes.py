"""Finding quotes: exactly, else with the accidents of typesetting made equal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.search.errors import InvalidQuote
from services.search.quotes import Leaf, MatchKind, QuoteMatch, find_quote, fold


def found(quote: str, *pages: str) -> list[QuoteMatch]:
    return find_quote(quote, [Leaf(text=page, page_index=n) for n, page in enumerate(pages)])


def test_an_exact_match_is_told_with_its_place() -> None:
    (match,) = found("deep sleep", "one\ntwo", "In deep sleep, memories")
    assert match == QuoteMatch(leaf=1, kind=MatchKind.EXACT, start=3, end=13, text="deep sleep")


def test_all_exact_matches_come_in_reading_order() -> None:
    matches = found("sleep", "sleep and sleep", "sleep")
    assert [(match.leaf, match.start) for match in matches] == [(0, 0), (0, 10), (1, 0)]


@pytest.mark.parametrize(
    ("quote", "text", "verbatim"),
    [
        ("memory consolidation", "of memory\n  consolidation in", "memory\n  consolidation"),
        ("memory consolidation", "of memory\u00a0consolidation in", "memory\u00a0consolidation"),
        ("consolidation", "memory consoli-\ndation in", "consoli-\ndation"),
        ("consolidation", "memory consoli\u00addation in", "consoli\u00addation"),
        ("co-operation", "their cooperation was", "cooperation"),
        ("cooperation", "their co-\noperation was", "co-\noperation"),
        ("the efficient office", "see The eﬃcient oﬃce.", "The eﬃcient oﬃce"),
        ("\"naps\" and 'rest'", "“naps” and ‘rest’", "“naps” and ‘rest’"),
        ("1990-1995", "from 1990–1995 on", "1990–1995"),
        ("a pause - then", "a pause—then", "a pause—then"),
        ("Über café", "the u\u0308ber cafe\u0301 x", "u\u0308ber cafe\u0301"),
        ("STRASSE", "die Straße", "Straße"),
        ("ＡＢＣ １２３", "code ABC 123.", "ABC 123"),
        ("r=-0.5", "with r=−0.5 here", "r=−0.5"),
        ("COVID-19", "of COVID-\n19 cases", "COVID-\n19"),
        ("記憶の固定", "睡眠は記憶の\n固定化", "記憶の\n固定"),
        ("сон укрепляет", "Сон\nукрепляет память", "Сон\nукрепляет"),
    ],
)
def test_accidents_of_typesetting_do_not_hide_a_quote(quote: str, text: str, verbatim: str) -> None:
    matches = found(quote, text)
    assert [match.text for match in matches] == [verbatim]
    assert all(match.kind is MatchKind.NORMALISED for match in matches)
    assert all(text[match.start : match.end] == match.text for match in matches)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("r = 0.5", "r = -0.5"),
        ("r=0.5", "r=−0.5"),
        ("12", "1-2"),
        ("effective", "it was ineffective"),
        ("effect", "an effective drug"),
        ("not seen", "notseen"),
        ("5", "0.5x15"),
    ],
)
def test_what_changes_the_meaning_is_no_match(quote: str, text: str) -> None:
    assert found(quote, text) == []


def test_scripts_without_spaces_are_matched_inside_a_run() -> None:
    assert [match.start for match in found("記憶", "睡眠は記憶の固定化")] == [3]


def test_a_quote_that_runs_over_a_page_end_is_on_the_page_where_it_begins() -> None:
    (match,) = found("over the page", "it runs over", "the page end")
    assert (match.leaf, match.start, match.end) == (0, 8, 12)
    assert match.text == "over\nthe page"


@pytest.mark.parametrize("quote", ["", "  \n", "…—!", "x" * 5_001])
def test_a_quote_that_cannot_be_looked_for_is_refused(quote: str) -> None:
    with pytest.raises(InvalidQuote):
        found(quote, "text")


def near(quote: str, *pages: str, least: float = 0.6) -> list[QuoteMatch]:
    leaves = [Leaf(text=page, page_index=n) for n, page in enumerate(pages)]
    return find_quote(quote, leaves, least)


SENTENCE = "Participants who slept recalled 12 of 20 word pairs, against 9 after a day awake."


def test_without_being_asked_for_nothing_but_the_quote_is_found() -> None:
    assert found("Participants that slept recalled 12 of 20 word pairs", SENTENCE) == []


@pytest.mark.parametrize(
    ("quote", "verbatim"),
    [
        ("who slept recalled 12 of the 20 word pairs", "who slept recalled 12 of 20 word pairs"),
        ("who slept recalled 12 of 20 pairs", "who slept recalled 12 of 20 word pairs"),
        ("who slept recailed 12 of 20 vvord pairs", "who slept recalled 12 of 20 word pairs"),
        ("against 9 after one day awake", "against 9 after a day awake"),
    ],
)
def test_a_quote_with_a_word_too_few_too_many_or_misread_is_nearly_found(
    quote: str, verbatim: str
) -> None:
    (match,) = near(quote, "Some other page.", f"Before it. {SENTENCE} After it.")
    assert (match.kind, match.leaf, match.text) == (MatchKind.FUZZY, 1, verbatim)
    assert 0.8 < match.score < 1


@pytest.mark.parametrize(
    "quote",
    [
        "Participants who slept recalled 13 of 20 word pairs, against 9 after a day awake",
        "Participants who slept recalled 12 of word pairs, against 19 after a day awake",
        "Rats that ran through a maze remembered its turns",
    ],
)
def test_another_number_or_another_sentence_is_not_nearly_the_quote(quote: str) -> None:
    assert near(quote, SENTENCE) == []


def test_a_verbatim_match_is_preferred_and_has_the_full_score() -> None:
    matches = near("9 after a day awake", "9 after one day awake", SENTENCE)
    assert [(match.leaf, match.kind, match.score) for match in matches] == [(1, MatchKind.EXACT, 1)]


def test_a_near_quote_is_found_across_a_page_end_a_ligature_and_a_hyphen() -> None:
    (match,) = near(
        "the efficient consolidation of new word pairs in sleep",
        "It shows the eﬃcient consoli-",
        "dation of word pairs in sleep.",
    )
    assert (match.leaf, match.kind) == (0, MatchKind.FUZZY)
    assert match.text == "the eﬃcient consoli-\ndation of word pairs in sleep"
    assert (match.start, match.end) == (9, 29)


def test_scripts_without_spaces_are_nearly_found_by_their_characters() -> None:
    (match,) = near("睡眠は記憶を固定化する", "深い睡眠が記憶を固定化すると言う")
    assert match.text == "睡眠が記憶を固定化する"


@pytest.mark.parametrize("least", [0.0, 0.59, 1.01, float("nan")])
def test_a_score_that_would_let_anything_through_is_refused(least: float) -> None:
    with pytest.raises(InvalidQuote):
        near("deep sleep", "deep sleep", least=least)


def test_text_with_no_pages_gives_no_match() -> None:
    assert find_quote("sleep", []) == []


TEXTS = st.text(
    alphabet=st.sampled_from("ab Z9-\u2013\n\u00ad\u00a0ﬁ“\"'é\u0301e記.,\u200b"), max_size=60
)


@given(TEXTS)
def test_every_folded_character_has_its_origin_in_order(text: str) -> None:
    folded = fold(text)
    assert len(folded.origins) == len(folded.text) + 1
    assert list(folded.origins) == sorted(folded.origins)


@given(st.lists(TEXTS, min_size=1, max_size=3), st.data())
def test_a_stretch_of_whole_words_is_always_found_where_it_says(
    pages: list[str], data: st.DataObject
) -> None:
    words = [(n, word) for n, page in enumerate(pages) for word in page.split()]
    if not words:
        return
    _, quote = data.draw(st.sampled_from(words))
    if not any(character.isalnum() for character in quote):
        return
    for match in find_quote(quote, [Leaf(text=page) for page in pages]):
        page = pages[match.leaf]
        assert match.text.startswith(page[match.start : match.end])
        assert fold(match.text).text == fold(quote).text
