"""Terms: what of a text and a query is compared, by script and language."""

import pytest

from services.search.analysis import is_mostly_latin, query_terms, terms


def share(text: str, query: str) -> float:
    """How many of the query's terms the text holds."""
    wanted = query_terms(query)
    (held,) = terms(text)
    return sum(term in held for term in wanted) / len(wanted)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Consolidated memories were replayed.", "consolidation memory replay"),
        ("Nurses’ naps aren't short.", "nurse nap"),
        ("ﬁve naïve cafés", "five naive cafe"),
        ("IL-6 and TNF-α rise", "IL6"),
        ("IL6 rises", "il-6"),
        ("Schlafstörung und Gedächtnis bei der Arbeit", "schlafstorung"),
        ("睡眠は記憶の固定化を促進する。", "記憶の固定化"),
        ("睡眠は記憶の固定化を促進する。", "記憶"),
        ("脳の働き", "脳"),
        ("ガラス", "ｶﾞﾗｽ"),
        ("数据驱动的发现", "数据"),
        ("수면은 기억을 강화한다", "기억"),
        ("การนอนหลับช่วยความจำ", "ความจำ"),
        ("Сон укрепляет память у пожилых людей", "памяти пожилым"),
        ("Ещё один", "еще"),
        ("النَّوْم يثبّت الذاكرة", "النوم والذاكرة"),
        ("أهمية النوم", "اهميه"),
        ("שֵׁנָה וזיכרון", "שנה"),
        ("नींद से स्मृति मज़बूत होती है", "स्मृति"),
        ("Ο ύπνος ενισχύει τη μνήμη", "μνημη"),
    ],
)
def test_other_forms_of_a_word_are_found(text: str, query: str) -> None:
    assert share(text, query) >= 0.5


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("睡眠は記憶の固定化を促進する。", "化学"),
        ("Сон и память", "сонет"),
        ("النوم", "يوم"),
        ("a universal joint", "university"),
        ("p53", "p5"),
    ],
)
def test_other_words_are_not_found(text: str, query: str) -> None:
    assert share(text, query) < 0.5


def test_english_is_stemmed_in_english_texts_only() -> None:
    assert terms("The relations were general.") == [["the", "relat", "were", "general"]]
    (french,) = terms("Les relations dans le sommeil et la nuit")
    assert "relations" in french
    assert "relat" not in french


def test_a_title_is_judged_with_its_text() -> None:
    title, _ = terms("Relations sociales", "Les relations dans le sommeil et la nuit.")
    assert title == ["relations", "sociales"]


def test_a_query_finds_a_word_in_texts_of_either_language() -> None:
    assert {"relations", "relat"} <= set(query_terms("relations"))


def test_words_that_say_nothing_are_asked_for_only_when_there_are_no_others() -> None:
    assert set(query_terms("what is the role of the hippocampus")) == {"role", "hippocampus"}
    assert query_terms("The Who") == ["the", "who"]


def test_a_word_counts_as_often_as_it_is_asked_for_and_names_count_twice() -> None:
    assert query_terms("sleep and sleep").count("sleep") == 2
    assert query_terms("p53 sleep").count("p53") == 2


@pytest.mark.parametrize("query", ["", "😀", "\x00\x01", "--;", "…", "\u0301"])
def test_a_query_without_words_has_no_terms(query: str) -> None:
    assert query_terms(query) == []


@pytest.mark.parametrize(
    "text", ["sleep ü 記", "Сон", "a" * 50_000, "記憶" * 5_000, "\u0301" * 100]
)
def test_terms_never_hold_white_space(text: str) -> None:
    for term in [*terms(text)[0], *query_terms(text)]:
        assert term
        assert not any(character.isspace() for character in term)


@pytest.mark.parametrize(
    ("text", "latin"),
    [("sleep", True), ("Schlafstörung", True), ("42", True), ("記憶", False), ("сон и REM", False)],
)
def test_latin_is_told_from_other_scripts(text: str, latin: bool) -> None:
    assert is_mostly_latin(text) is latin
