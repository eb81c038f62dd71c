"""The planner without a model: aspects as steps, revised by what the person says."""

import json

import pytest

from services.synth.composition import compose
from services.synth.mind import (
    Commission,
    Evidence,
    Investigation,
    Move,
    PlanAuthor,
    PlanIntent,
    PlanMessage,
    Planning,
    PlanRound,
)
from services.synth.offline import OfflineMind
from services.synth.phrasebook import phrases_for
from services.synth.plan_text import MAX_STEPS, listed, steps_of
from services.synth.planning import draft, planned_aspects
from tests.fakes.small_library import TOOLS, all_of, passage

QUESTION = "How does evening light affect melatonin and sleep in teenagers?"
MELATONIN = "How does evening light affect melatonin in teenagers?"
SLEEP = "How does evening light affect sleep in teenagers?"
READY, ASKS = PlanIntent.READY, PlanIntent.FEEDBACK


def after(*said: str, question: str = QUESTION, definitive: bool = False) -> PlanMessage:
    """The planner's message after the person has said these things, one after the other."""
    rounds: list[PlanRound] = []
    plan = ""
    for words in (None, *said):
        if words is not None:
            rounds.append(PlanRound(author=PlanAuthor.PERSON, message=words))
        message = draft(
            Planning(
                question=question,
                rounds=tuple(rounds),
                current_plan=plan,
                is_definitive=definitive and len(rounds) == 2 * len(said),
            )
        )
        plan = message.text if message.intent is READY else plan
        rounds.append(
            PlanRound(author=PlanAuthor.PLANNER, message=message.text, intent=message.intent)
        )
    return message


def test_the_first_plan_has_the_aspects_as_steps() -> None:
    message = after()
    assert (message.intent, steps_of(message.text)) == (READY, (MELATONIN, SLEEP))


@pytest.mark.parametrize("said", ["Naps", "Naps?", "sleep inertia", "睡眠"])
def test_fewer_than_three_words_are_asked_about(said: str) -> None:
    message = after(question=said)
    assert message.intent is ASKS
    assert said.rstrip("?") in message.text


def test_the_answer_to_the_question_back_is_planned_with_the_first_words() -> None:
    message = after("effects on memory in adults", question="Naps?")
    assert message.intent is READY
    (step,) = steps_of(message.text)
    assert {"Naps", "memory", "adults"} <= set(step.replace(":", " ").split())


@pytest.mark.parametrize("question", ["Naps", QUESTION])
def test_a_definitive_plan_is_ready_whatever_was_said(question: str) -> None:
    planning = Planning(question=question, is_definitive=True)
    assert draft(planning).intent is READY
    revised = after("Without animals", "remove everything about naps", definitive=True)
    assert (revised.intent, steps_of(revised.text)) == (READY, (MELATONIN, SLEEP))


@pytest.mark.parametrize(
    ("said", "steps"),
    [
        ("Add reading devices in bed", (MELATONIN, SLEEP, "Reading devices in bed")),
        ("Reading devices in bed, please", (MELATONIN, SLEEP, "Reading devices in bed")),
        ("What about children?", (MELATONIN, SLEEP, "What about children?")),
        ("remove step 1", (SLEEP,)),
        ("Please leave out melatonin.", (SLEEP,)),
        ("only step 2", (SLEEP,)),
        ("Focus on sleep", (SLEEP,)),
        ("Only naps of nurses", ("Naps of nurses",)),
        ("Drop 2 and add pupil size", (MELATONIN, "Pupil size")),
        ("replace 1 with pupil size", (SLEEP, "Pupil size")),
        ("Add pressure points", (MELATONIN, SLEEP, "Pressure points")),
        (f"Add {MELATONIN}", (MELATONIN, SLEEP)),
        ("Looks good, go ahead!", (MELATONIN, SLEEP)),
        ("", (MELATONIN, SLEEP)),
    ],
)
def test_what_is_said_adds_and_removes_steps(said: str, steps: tuple[str, ...]) -> None:
    message = after(said)
    assert (message.intent, steps_of(message.text)) == (READY, steps)


@pytest.mark.parametrize(
    ("question", "said", "kept"),
    [
        (
            "Wie wirkt abendliches Licht auf Melatonin und Schlaf bei Jugendlichen?",
            "Lass bitte den Schlaf weg und ergänze Lesegeräte im Bett.",
            ("Melatonin", "Lesegeräte im Bett"),
        ),
        ("Влияет ли свет на сон подростков?", "Добавьте экраны телефонов", ("сон", "Экраны")),
        ("夜間の光はメラトニンと睡眠に影響しますか", "睡眠を除いてください", ("メラトニン",)),
        ("咖啡因会影响老年人的睡眠吗？", "请增加褪黑素", ("咖啡因", "褪黑素")),
    ],
)
def test_revisions_are_understood_in_the_persons_language(
    question: str, said: str, kept: tuple[str, ...]
) -> None:
    message = after(said, question=question)
    steps = steps_of(message.text)
    assert message.intent is READY
    assert len(steps) == len(kept)
    assert all(words in step for words, step in zip(kept, steps, strict=True))


@pytest.mark.parametrize("said", ["without animals", "remove step 7", "remove steps 1 and 2"])
def test_what_cannot_be_left_out_is_asked_about_and_leaves_the_plan(said: str) -> None:
    message = after(said)
    assert message.intent is ASKS
    assert steps_of(after(said, "yes").text) == (MELATONIN, SLEEP)


def test_steps_that_find_no_room_are_told() -> None:
    wishes = [
        *("pupil size", "reading devices", "street lamps", "night shifts", "blue filters"),
        *("school start times", "jet lag of pilots", "cataract surgery"),
    ]
    message = after(*(f"Add {wish}" for wish in wishes))
    assert len(steps_of(message.text)) == MAX_STEPS
    assert "Cataract surgery" in message.text.splitlines()[-1]


def test_the_same_words_give_the_same_plan() -> None:
    said = ("Add pupil size and street lamps", "without melatonin")
    assert after(*said) == after(*said)


def test_a_step_survives_the_way_into_markdown_and_back() -> None:
    steps = ("p < 0.05 *and* [brackets]", "1. A number first", "https://example.org/_x_")
    assert steps_of(f"Text before.\n\n{listed(steps)}\n\nText after.") == steps


@pytest.mark.parametrize(
    ("plan", "steps"),
    [
        ("I will:\n- **Dose** of light\n- *Timing*\n  - nested", ("Dose of light", "Timing")),
        ("1) One\n2) Two\n2) Two", ("One", "Two")),
        ("Just prose.", ()),
        ("", ()),
    ],
)
def test_the_steps_of_any_list_are_read(plan: str, steps: tuple[str, ...]) -> None:
    assert steps_of(plan)[: len(steps) or 1] == steps


async def test_the_search_follows_the_confirmed_plan() -> None:
    plan = after("Drop 2 and add street lamps near bedrooms").text
    state = Investigation(
        question=QUESTION, tools=TOOLS, calls_left=10, words_left=7_500, confirmed_plan=plan
    )
    *_, move = await all_of(OfflineMind().investigate(state))
    assert isinstance(move, Move)
    queries = [json.loads(call.arguments)["query"] for call in move.calls]
    assert any("lamps" in query for query in queries)
    assert not any("sleep" in query for query in queries if query != QUESTION)


def test_a_step_that_names_too_little_borrows_the_topic_of_the_question() -> None:
    *_, step = planned_aspects(QUESTION, listed([MELATONIN, "In children"]))
    assert {"children", "melatonin", "light"} <= set(step.query.lower().split())


def test_without_a_list_the_question_has_its_own_aspects() -> None:
    for plan in ("", "I would look around."):
        assert [one.label for one in planned_aspects(QUESTION, plan)] == [MELATONIN, SLEEP]


def test_a_step_without_support_is_a_gap_of_the_answer() -> None:
    text = "Evening light delayed melatonin in teenagers by 52 minutes."
    answer = compose(
        Commission(
            question=QUESTION,
            evidence=(Evidence(passage=passage("LIGHT-0", text), score=1.0),),
            confirmed_plan=listed([MELATONIN, "Street lamps near bedrooms"]),
        ),
        phrases_for("en"),
    )
    assert answer.answered
    assert answer.gaps == ("Street lamps near bedrooms",)
