"""Languages of questions, their content words, and what the product says in them."""

import re
from dataclasses import fields

import pytest

from services.synth.languages import language_of
from services.synth.phrasebook import phrases_for
from services.synth.phrases import Phrases
from services.synth.phrases_eastern import EASTERN
from services.synth.phrases_western import WESTERN
from services.synth.stop_words import STOP_WORDS
from services.synth.terms import terms_of, vocabulary_of

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
