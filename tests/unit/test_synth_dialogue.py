"""What is small talk, and what a follow-up takes along."""

import re

import pytest

from services.synth.dialogue import reply
from services.synth.mind import Conversation, DirectAnswer, ItemRef, PastTurn, ResearchRequest
from services.synth.phrasebook import phrases_for

PAST = PastTurn(
    prompt="Does acoustic stimulation improve overnight memory in young adults?",
    answer="…",
    cited_titles=("Phase-locked sound bursts during slow-wave sleep",),
)


def research(prompt: str, *history: PastTurn) -> str:
    outcome = reply(Conversation(prompt=prompt, history=history))
    assert isinstance(outcome, ResearchRequest), prompt
    return outcome.question


@pytest.mark.parametrize(
    ("prompt", "language"),
    [
        ("Hello!", "en"),
        ("hi there 👋", "en"),
        ("Good morning, Zocrates", "en"),
        ("Guten Tag!", "de"),
        ("Bonjour à tous", "fr"),
        ("¡Hola!", "es"),
        ("Ciao", "it"),
        ("Olá!", "pt"),
        ("Hoi", "nl"),
        ("Здравствуйте!", "ru"),
        ("你好！", "zh"),
        ("こんにちは。", "ja"),
        ("안녕하세요?", "ko"),
        ("مرحبا", "ar"),
        ("?!", "en"),
    ],
)
def test_a_greeting_is_answered_in_its_language(prompt: str, language: str) -> None:
    outcome = reply(Conversation(prompt=prompt))
    assert isinstance(outcome, DirectAnswer)
    assert outcome.markdown.strip() == phrases_for(language).greeting


@pytest.mark.parametrize("prompt", ["Thanks!", "Vielen Dank", "merci beaucoup", "谢谢", "ok great"])
def test_thanks_are_answered(prompt: str) -> None:
    assert isinstance(reply(Conversation(prompt=prompt)), DirectAnswer)


@pytest.mark.parametrize("prompt", ["What can you do?", "help", "Was kannst du?", "你能做什么？"])
def test_a_question_about_the_product_says_what_it_does(prompt: str) -> None:
    outcome = reply(Conversation(prompt=prompt))
    assert isinstance(outcome, DirectAnswer)
    assert "Zotero" in outcome.markdown


@pytest.mark.parametrize(
    "prompt",
    [
        "sleep",
        "Hello, does napping help nurses?",
        "How do greetings differ between cultures?",
        "What helps against jet lag?",
        "Thanks giving turkey tryptophan",
        "睡眠",
        "2019",
    ],
)
def test_everything_else_is_research(prompt: str) -> None:
    assert research(prompt) == prompt


@pytest.mark.parametrize(
    "prompt",
    [
        "And in older adults?",
        "What about its limitations?",
        "Why?",
        "Do they agree?",
        "und bei Frauen?",
    ],
)
def test_a_follow_up_takes_the_topic_along(prompt: str) -> None:
    question = research(prompt, PAST)
    assert question.startswith(prompt)
    assert {"acoustic", "stimulation", "memory"} <= set(re.findall(r"\w+", question))


def test_a_follow_up_that_stands_alone_is_left_as_it_is() -> None:
    prompt = "Does caffeine before a nap shorten sleep inertia in emergency physicians?"
    assert research(prompt, PAST) == prompt


def test_the_titles_cited_before_narrow_a_short_question() -> None:
    past = PastTurn(prompt="Spindles?", answer="…", cited_titles=("Fast spindles in the elderly",))
    assert "elderly" in research("And memory?", past)


def test_active_items_are_passed_on() -> None:
    items = (ItemRef(library="user", key="ABCD2345"),)
    outcome = reply(Conversation(prompt="sleep", active_items=items))
    assert isinstance(outcome, ResearchRequest)
    assert outcome.active_items == items
