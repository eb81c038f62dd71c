"""Languages of questions, their content words, and what the product says in them."""

import re
from dataclasses import fields, replace

import pytest

from services.synth.composition import compose
from services.synth.languages import is_across_languages, language_of, spoken_language
from services.synth.mind import Commission, Evidence
from services.synth.phrasebook import phrases_for
from services.synth.phrases import Phrases
from services.synth.phrases_eastern import EASTERN
from services.synth.phrases_western import WESTERN
from services.synth.stop_words import STOP_WORDS
from services.synth.terms import terms_of, vocabulary_of
from tests.fakes.small_library import passage

QUESTIONS = {
    "en": "How does napping affect the alertness of nurses?",
    "de": "Wie wirkt sich ein Mittagsschlaf auf die Wachheit von Pflegekräften aus?",
    "fr": "Quel est l'effet de la sieste sur la vigilance des infirmières ?",
    "es": "¿Cómo influye la siesta en la atención de las enfermeras?",
    "it": "Come influisce il sonnellino sulla vigilanza degli infermieri?",
    "pt": "Qual é o efeito da sesta na atenção das enfermeiras?",
    "nl": "Wat is het effect van een dutje op de alertheid van verpleegkundigen?",
    "ru": "Как дневной сон влияет на внимание медсестёр?",
    "zh": "午睡对护士的警觉性有什么影响？",
    "ja": "昼寝は看護師の覚醒度にどのような影響を与えますか？",
    "ko": "낮잠은 간호사의 각성도에 어떤 영향을 미치나요?",
    "ar": "ما تأثير القيلولة على يقظة الممرضات؟",
}


@pytest.mark.parametrize(("language", "question"), QUESTIONS.items())
def test_the_language_of_a_question_is_recognised(language: str, question: str) -> None:
    assert language_of(question) == language


@pytest.mark.parametrize("text", ["", "xyzzy", "42", "PrP IL-6", "🙂"])
def test_a_text_that_speaks_for_no_language_counts_as_english(text: str) -> None:
    assert language_of(text) == "en"


def test_foreign_names_do_not_change_the_language() -> None:
    assert language_of("What did Иванов and 田中 report about sleep in shift workers?") == "en"


@pytest.mark.parametrize("text", ["", "xyzzy", "42", "PrP IL-6", "CRISPR Cas9"])
def test_a_text_of_names_speaks_no_language(text: str) -> None:
    assert spoken_language(text) is None
    assert not is_across_languages(text, ["Das ist ein Satz über die Pflege."])


PAPERS = {
    "en": "A nap of thirty minutes lowered the lapses of nurses who were on the night shift.",
    "de": "Ein Nickerchen von dreißig Minuten verringerte die Aussetzer der Pflegekräfte.",
    "ru": "Короткий дневной сон снизил число ошибок у медсестёр в ночную смену.",
    "ja": "三十分の昼寝は夜勤の看護師の見落としを減らした。",
}


@pytest.mark.parametrize("asked", PAPERS)
@pytest.mark.parametrize("written", PAPERS)
def test_question_and_papers_in_different_languages_are_told_apart(
    asked: str, written: str
) -> None:
    texts = [PAPERS[written]]
    assert is_across_languages(QUESTIONS[asked], texts) is (asked != written)
    # A model that brings both together leaves nothing to tell.
    assert not is_across_languages(QUESTIONS[asked], texts, {"en", asked, written})
    if "en" not in (asked, written) and asked != written:
        assert is_across_languages(QUESTIONS[asked], texts, {"en", asked})


@pytest.mark.parametrize("asked", ["de", "ru", "ja"])
def test_an_answer_from_english_papers_says_so_unless_the_search_crosses_languages(
    asked: str,
) -> None:
    commission = Commission(
        question=QUESTIONS[asked],
        evidence=(Evidence(passage=passage("NAPS-0", PAPERS["en"]), score=1.0),),
    )
    phrases = phrases_for(asked)
    assert phrases.other_language in compose(commission, phrases).markdown
    crossing = replace(commission, bridged_languages=frozenset({"en", asked}))
    assert phrases.other_language not in compose(crossing, phrases).markdown


@pytest.mark.parametrize("language", STOP_WORDS)
def test_every_language_has_every_phrase_with_its_places_to_fill_in(language: str) -> None:
    model = WESTERN["en"]
    phrases = phrases_for(language)
    assert (phrases is model) == (language == "en")
    for field in fields(Phrases):
        said, wanted = getattr(phrases, field.name), getattr(model, field.name)
        assert said.strip(), field.name
        places = [set(re.findall(r"\{\w+\}", text)) for text in (said, wanted)]
        if field.name == "more_authors":
            assert places[0] == {"{first}"}
        else:
            assert places[0] == places[1], field.name


def test_a_language_without_phrases_is_answered_in_english() -> None:
    assert phrases_for("xx") is WESTERN["en"]
    assert not set(WESTERN) & set(EASTERN)


@pytest.mark.parametrize(
    ("language", "asked", "written"),
    [
        ("en", "memories", "memory"),
        ("en", "napping", "naps"),
        ("en", "consolidation", "consolidated"),
        ("en", "adolescence", "adolescents"),
        ("de", "Gedächtnisses", "Gedächtnis"),
        ("de", "Pflegekräften", "Pflegekräfte"),
        ("fr", "infirmières", "infirmière"),
        ("es", "enfermeras", "enfermera"),
        ("ru", "памяти", "память"),
        ("ar", "الذاكرة", "ذاكرة"),
        ("ko", "간호사의", "간호사는"),
        ("zh", "护士的警觉性", "夜班护士警觉性较低"),
        ("ja", "看護師の覚醒度", "看護師では覚醒度が"),
    ],
)
def test_forms_of_one_word_meet(language: str, asked: str, written: str) -> None:
    vocabulary = vocabulary_of(written, language)
    terms = terms_of(asked, language)
    assert terms
    assert all(term.stem in vocabulary for term in terms)


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("hypoglycemia", "hyperglycemia"),
        ("interval", "intervention"),
        ("organ", "organization"),
        ("2019", "2018"),
        ("IL-6", "IL-8"),
    ],
)
def test_other_words_do_not_meet(asked: str, written: str) -> None:
    vocabulary = vocabulary_of(written, "en")
    assert not all(term.stem in vocabulary for term in terms_of(asked, "en"))


@pytest.mark.parametrize(("language", "question"), QUESTIONS.items())
def test_a_question_keeps_its_topic_and_loses_its_small_words(language: str, question: str) -> None:
    terms = terms_of(question, language)
    assert 2 <= len([term for term in terms if term.weight >= 1]) <= 8
