"""The dialogue coordinator: answers from the session or asks for research."""

import pytest

from services.synth.mind import Conversation, DirectAnswer, ItemRef, PastTurn, ResearchRequest
from tests.unit.synth_model.speaking import Script, calling, script, thinking

ITEM = ItemRef(library="user", key="ABCD2345")
TURN = PastTurn(prompt="Do naps help?", answer="Yes [1].", cited_titles=("Nap length",))


async def outcome_of(
    script: Script, prompt: str, *, history: tuple[PastTurn, ...] = (), in_text: bool = False
) -> DirectAnswer | ResearchRequest:
    conversation = Conversation(prompt=prompt, history=history, active_items=(ITEM,))
    *_, last = [event async for event in script.mind(in_text=in_text).converse(conversation)]
    assert isinstance(last, DirectAnswer | ResearchRequest)
    return last


async def test_research_gets_a_question_that_stands_alone_and_the_active_items() -> None:
    said = script([calling(("start_research", '{"question": "Do naps help pilots?"}'))])
    outcome = await outcome_of(said, "And pilots?", history=(TURN,))
    assert isinstance(outcome, ResearchRequest)
    assert (outcome.question, outcome.active_items) == ("Do naps help pilots?", (ITEM,))


@pytest.mark.parametrize(
    "arguments", ["{", "[]", '{"question": "  "}', '{"question": 7}', '{"other": "x"}']
)
async def test_a_spoilt_call_searches_for_the_prompt_itself(arguments: str) -> None:
    outcome = await outcome_of(script([calling(("start_research", arguments))]), "Do naps help?")
    assert isinstance(outcome, ResearchRequest)
    assert outcome.question == "Do naps help?"


async def test_a_model_that_says_nothing_starts_research() -> None:
    outcome = await outcome_of(script([calling(("other", "{}"))]), "Do naps help?")
    assert isinstance(outcome, ResearchRequest)


async def test_a_direct_answer_shows_no_citation_and_no_link() -> None:
    said = script(["You are welcome [1]. ", "See [this](https://evil.example)."])
    outcome = await outcome_of(said, "Thanks")
    assert isinstance(outcome, DirectAnswer)
    assert outcome.markdown == "You are welcome . See this.\n"


async def test_without_tool_calls_research_is_asked_for_in_text() -> None:
    said = script(['{"calls": [{"tool": "start_research", "arguments": {"question": "Naps?"}}]}'])
    outcome = await outcome_of(said, "naps", in_text=True)
    assert isinstance(outcome, ResearchRequest)
    assert outcome.question == "Naps?"


async def test_the_history_that_is_told_is_bounded() -> None:
    long = PastTurn(prompt="p" * 9_000, answer="a" * 90_000)
    said = script(["Hello."])
    await outcome_of(said, "Hi", history=(long,) * 50)
    assert sum(len(str(part)) for part in said.heard[0][0].parts) < 20_000


async def test_thoughts_alone_start_research_for_the_prompt() -> None:
    outcome = await outcome_of(script([thinking("What could be meant?")]), "Do naps help?")
    assert isinstance(outcome, ResearchRequest)
    assert outcome.question == "Do naps help?"
