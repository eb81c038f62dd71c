"""How questions are taken apart."""

import pytest

from services.synth.aspects import MAX_ASPECTS, MAX_QUERY_CHARS, aspects_of


def own_words(question: str) -> list[list[str]]:
    return [[term.surface for term in aspect.own] for aspect in aspects_of(question)]


@pytest.mark.parametrize(
    "question",
    [
        "Does napping improve memory?",
        "What is the relationship between sleep and memory in older adults?",
        "0-dimensional biomaterials lack inductive properties.",
        "Sleep and memory",
        "Wie hängen Schlaf und Gedächtnis zusammen?",
        "睡眠与记忆的关系",
        "?!",
    ],
)
def test_a_question_of_one_piece_stays_whole(question: str) -> None:
    (aspect,) = aspects_of(question)
    assert aspect.query == question
    assert aspect.own == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "How does caffeine compare with naps for alertness in truck drivers?",
            [["caffeine"], ["naps"]],
        ),
        (
            "Do naps or night sleep improve memory in older adults?",
            [["naps"], ["night", "sleep"]],
        ),
        (
            "What is the difference between slow wave sleep and REM sleep for memory?",
            [["slow", "wave", "sleep"], ["REM", "sleep"]],
        ),
        (
            "What are the effects of light, caffeine and naps on alertness?",
            [["light"], ["caffeine"], ["naps"]],
        ),
        (
            "How long does sleep inertia last in nurses and in process operators?",
            [["nurses"], ["process", "operators"]],
        ),
        ("Как кофеин и сон влияют на внимание медсестёр?", [["кофеин"], ["сон"]]),
        ("Welche Wirkung haben Koffein und Licht auf die Wachheit?", [["Koffein"], ["Licht"]]),
        ("咖啡因和小睡对护士的警觉性有什么影响？", [["咖啡", "啡因"], ["小睡"]]),
        ("昼寝とカフェインは看護師の覚醒度に影響しますか？", [["昼寝"], ["カフェイン"]]),
    ],
)
def test_members_of_a_comparison_or_list_become_aspects(
    question: str, expected: list[list[str]]
) -> None:
    assert own_words(question) == expected


def test_each_member_keeps_the_shared_topic() -> None:
    for aspect in aspects_of("How does caffeine compare with naps for alertness in drivers?"):
        assert {"alertness", "drivers"} <= {term.surface for term in aspect.terms}


def test_several_questions_are_several_aspects() -> None:
    first, second = aspects_of("What is slow-wave sleep? Which devices measure skin temperature?")
    assert "devices" not in first.query
    assert "slow" not in second.query


def test_a_second_question_inside_a_sentence_is_cut_off() -> None:
    labels = [one.label for one in aspects_of("How do naps affect mood, and what do they cost?")]
    assert labels == ["How do naps affect mood?", "What do they cost?"]


def test_a_question_that_points_back_borrows_the_topic() -> None:
    _, second = aspects_of("What is known about morning light therapy? Does it help nurses?")
    assert {"light", "therapy", "nurses"} <= {term.surface for term in second.terms}


def test_a_long_text_gives_few_aspects_and_short_queries() -> None:
    text = "Sleep spindles matter for memory consolidation in many ways. " * 300
    aspects = aspects_of(text + "Does acoustic stimulation raise spindle density in the elderly?")
    assert 1 <= len(aspects) <= MAX_ASPECTS
    assert all(len(aspect.query) <= MAX_QUERY_CHARS for aspect in aspects)
    assert any("acoustic" in aspect.query for aspect in aspects)


def test_one_endless_sentence_gives_a_short_query() -> None:
    (aspect,) = aspects_of("sleep " * 3_000)
    assert 0 < len(aspect.query) <= MAX_QUERY_CHARS
