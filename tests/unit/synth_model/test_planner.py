"""The planner with a model: plans, questions back, and what small models make of both."""

import pytest
from pydantic_ai import messages

from services.synth.mind import (
    ItemRef,
    PlanAuthor,
    PlanIntent,
    PlanMessage,
    Planning,
    PlanRound,
    Thought,
)
from services.synth.model.errors import ModelReplyUnusable
from services.synth.plan_text import steps_of
from tests.unit.synth_model.speaking import Script, script, thinking

QUESTION = "How does evening light affect melatonin and sleep in teenagers?"
PLAN = "You want to know what light does.\n\n1. Melatonin\n2. Sleep"
READY, ASKS = PlanIntent.READY, PlanIntent.FEEDBACK


def planning(*said: str, plan: str = "", definitive: bool = False) -> Planning:
    rounds = tuple(PlanRound(author=PlanAuthor.PERSON, message=words) for words in said)
    return Planning(question=QUESTION, rounds=rounds, current_plan=plan, is_definitive=definitive)


async def message_of(said: Script, state: Planning | None = None) -> PlanMessage:
    *_, last = [event async for event in said.mind().draft_plan(state or planning())]
    assert isinstance(last, PlanMessage)
    return last


def told(said: Script) -> str:
    ((request,),) = said.heard
    assert isinstance(request, messages.ModelRequest)
    (part,) = request.parts
    return str(part.content)


@pytest.mark.parametrize(
    ("reply", "intent", "text"),
    [
        (f"PLAN\n{PLAN}", READY, PLAN),
        (f"**Plan:**\n\n{PLAN}", READY, PLAN),
        ("PLAN\nFirst light, then sleep.", READY, "First light, then sleep."),
        (PLAN, READY, PLAN),
        ("QUESTION\nWhich age?", ASKS, "Which age?"),
        ("Questions:\n1. Which age?\n2. Which light?", ASKS, "1. Which age?\n2. Which light?"),
        ("1. Which age?\n2. Which light?", ASKS, "1. Which age?\n2. Which light?"),
        ("Which age do you mean?", ASKS, "Which age do you mean?"),
    ],
)
async def test_the_first_line_tells_what_a_reply_is_and_without_it_its_form(
    reply: str, intent: PlanIntent, text: str
) -> None:
    message = await message_of(script([reply]))
    assert (message.intent, message.text) == (intent, f"{text}\n")


async def test_a_definitive_plan_is_ready_even_if_the_model_asks_back() -> None:
    said = script(["QUESTION\nWhich age?"])
    message = await message_of(said, planning(definitive=True))
    assert message.intent is READY
    assert len(steps_of(message.text)) == 2
    assert "No question may be asked" in told(said)


@pytest.mark.parametrize("reply", ["", " \n", "PLAN\n\n", "[1]"])
async def test_a_reply_without_a_plan_is_an_error_that_invites_a_retry(reply: str) -> None:
    with pytest.raises(ModelReplyUnusable, match="retry"):
        await message_of(script([thinking("Hm."), reply]))


async def test_thoughts_stay_apart_from_the_plan() -> None:
    said = script([thinking("Light first."), f"PLAN\n{PLAN}"])
    *thoughts, last = [event async for event in said.mind().draft_plan(planning())]
    assert "".join(one.text for one in thoughts if isinstance(one, Thought)) == "Light first."
    assert isinstance(last, PlanMessage)
    assert last.text == f"{PLAN}\n"


async def test_the_plan_shows_nothing_active() -> None:
    reply = "PLAN\n1. See [this](https://evil.example/x)\n2. <img src=x> ![p](http://a.example/b)"
    text = (await message_of(script([reply]))).text
    assert "evil.example" not in text
    assert "a.example" not in text
    assert "\\<img" in text


async def test_what_the_person_said_is_fenced_as_theirs() -> None:
    said = script([f"PLAN\n{PLAN}"])
    state = planning("Add street lamps", plan=PLAN)
    await message_of(said, state)
    text = told(said)
    assert text.count("<<RESEARCHER ") == 2
    assert f"\n{PLAN}\nRESEARCHER " in text
    assert "\nResearcher: Add street lamps\nRESEARCHER " in text


async def test_the_open_items_are_told() -> None:
    said = script([f"PLAN\n{PLAN}"])
    items = (ItemRef(library="user", key="ABCD2345"),)
    await message_of(said, Planning(question=QUESTION, active_items=items))
    assert "user/ABCD2345" in told(said)


async def test_a_long_review_is_told_in_bounds() -> None:
    said = script([f"PLAN\n{PLAN}"])
    await message_of(said, planning(*(["words " * 5_000] * 100), plan="1. x\n" * 20_000))
    assert len(told(said)) < 60_000
