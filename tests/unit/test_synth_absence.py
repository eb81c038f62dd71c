"""Words that nothing in the library holds: synonyms, or things it does not deal with."""

import pytest

from services.synth.absence import Standing, most_telling, standing, without_term
from services.synth.terms import Term, terms_of


def term_in(question: str, surface: str, language: str = "en") -> Term:
    (term,) = [one for one in terms_of(question, language) if one.surface == surface]
    return term


def stands(
    question: str,
    surface: str,
    *,
    lift: float | None = 0.0,
    alone: float | None = 0.2,
    language: str = "en",
) -> Standing:
    return standing(
        term_in(question, surface, language), question, language, lift=lift, alone=alone
    )


ZOLPIDEM = "Does zolpidem increase sleep spindles in older adults?"


def test_a_word_without_which_the_library_comes_nearer_is_foreign() -> None:
    assert stands(ZOLPIDEM, "zolpidem", lift=0.05) is Standing.FOREIGN


def test_a_word_without_which_the_library_moves_away_is_another_word_for_something_known() -> None:
    question = "By how much did amber glasses lengthen the sleep of drivers?"
    assert stands(question, "glasses", lift=-0.04) is Standing.KNOWN


def test_a_word_that_is_near_by_itself_is_known() -> None:
    question = "Do elderly people benefit from daytime sleep?"
    assert stands(question, "daytime", lift=0.04, alone=0.53) is Standing.KNOWN


@pytest.mark.parametrize(
    ("question", "surface"),
    [
        ("How often were naps taken in Brazil?", "Brazil"),
        ("How often were naps taken in 1998?", "1998"),
        ("How many lapses are left after a nap of 240 minutes?", "240"),
    ],
)
def test_a_name_or_number_that_is_nowhere_is_foreign_also_without_similarities(
    question: str, surface: str
) -> None:
    assert stands(question, surface, lift=None, alone=None) is Standing.FOREIGN


@pytest.mark.parametrize(
    ("question", "surface", "language"),
    [
        ("How long does sleep inertia last in airline pilots?", "pilots", "en"),
        ("Is the delay smaller in patients with glaucoma?", "glaucoma", "en"),
        ("Wie lange dauert die Schlaftrunkenheit bei Piloten?", "Piloten", "de"),
        ("Combien de temps dure l'inertie chez les pilotes ?", "pilotes", "fr"),
    ],
)
def test_where_similarity_does_not_tell_the_people_or_illness_asked_about_decide(
    question: str, surface: str, language: str
) -> None:
    assert stands(question, surface, language=language) is Standing.FOREIGN


def test_what_acts_in_the_question_is_doubtful() -> None:
    assert stands("Does modafinil reduce lapses?", "modafinil") is Standing.DOUBTFUL
    assert stands("Does a siesta help nurses?", "siesta") is Standing.DOUBTFUL


def test_verbs_and_qualities_have_many_synonyms_and_are_known() -> None:
    question = "Does exciting reading keep people awake?"
    assert stands(question, "exciting") is Standing.KNOWN
    assert stands("How loud were the bursts of noise?", "loud") is Standing.KNOWN


def test_without_similarities_only_names_are_foreign() -> None:
    assert stands(ZOLPIDEM, "zolpidem", lift=None) is Standing.KNOWN


def test_the_question_without_a_word_keeps_the_others() -> None:
    assert without_term("Is it Parkinson's disease?", term_in("Parkinson", "Parkinson")) == (
        "Is it disease?"
    )
    rats = term_in("Do rats dream?", "rats")
    assert without_term("Do rats rattle?", rats) == "Do rattle?"


def test_few_words_are_looked_at_and_names_first() -> None:
    terms = terms_of("apple banana cherry damson Elderberry IL6", "en")
    chosen = [term.surface for term in most_telling(terms)]
    assert len(chosen) == 3
    assert {"Elderberry", "IL6"} <= set(chosen)
