"""Instructions in library text change no tool call, ceiling, link or citation."""

import re
from collections.abc import AsyncIterator

import pytest
from prometheus_client import CollectorRegistry
from pydantic_ai import messages
from pydantic_ai.models.function import AgentInfo, FunctionModel

from services.synth.citations import markers_in
from services.synth.composition import compose
from services.synth.mind import (
    Answer,
    Commission,
    Evidence,
    FoundPassage,
    Investigation,
    InvestigationTurn,
    ToolCall,
    ToolResult,
)
from services.synth.model.mind import LanguageModelMind
from services.synth.model.speech import Speaker
from services.synth.model_metrics import ModelMetrics
from services.synth.phrasebook import phrases_for
from tests.fixtures.injections import INJECTIONS
from tests.unit.synth_model.builders import CONCLUDE, NAPS, SEARCH, passage

QUESTION = "Do naps lower lapses in nurses?"
FENCE = re.compile(r"<<DATA (\w+)\n(.*?)\nDATA \1>>", re.DOTALL)
# Anything that a renderer of Markdown would follow, fetch or run.
ACTIVE = re.compile(
    r"(?<!\\)\]\(|(?<!\\)<\w|(?<!\\)<!|(?<!\\)\]:\s*\S+://|[a-z]://|\b(?:javascript|mailto):\w",
    re.IGNORECASE,
)
every_injection = pytest.mark.parametrize("text", INJECTIONS.values(), ids=INJECTIONS.keys())


def heard_by(*said: str) -> tuple[LanguageModelMind, list[str]]:
    """A mind whose model says this, and all that the model was told outside of fences."""
    outside: list[str] = []

    async def speak(transcript: list[messages.ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        outside.append("\n".join(FENCE.sub("<fenced>", text) for text in _texts(transcript)))
        for piece in said:
            yield piece

    speaker = Speaker(
        FunctionModel(stream_function=speak), "function:test", ModelMetrics(CollectorRegistry())
    )
    return LanguageModelMind(speaker, calls_in_text=True), outside


def _texts(transcript: list[messages.ModelMessage]) -> list[str]:
    return [
        str(part.content)
        for message in transcript
        for part in message.parts
        if isinstance(part, messages.UserPromptPart | messages.ToolReturnPart)
    ]


def told(text: str, *, as_title: bool) -> Commission:
    title = text if as_title else "A paper"
    bodies = (NAPS, NAPS if as_title else text)
    return Commission(
        question=QUESTION,
        evidence=tuple(
            Evidence(passage=passage(number, body, title=title), score=1.0)
            for number, body in enumerate(bodies, 1)
        ),
    )


def searched(text: str) -> Investigation:
    """A pass whose only search brought the text, as a passage and as a title."""
    call = ToolCall(call_id="0-0-0", tool="search_corpus", arguments='{"query": "naps"}')
    found = [passage(1, text), passage(2, NAPS, title=text)]
    result = ToolResult(
        call_id="0-0-0", ok=True, passages=tuple(FoundPassage(passage=one) for one in found)
    )
    return Investigation(
        question=QUESTION,
        transcript=(InvestigationTurn(calls=(call,), results=(result,)),),
        tools=(SEARCH, CONCLUDE),
        calls_left=9,
        words_left=7_000,
    )


async def answer_of(mind: LanguageModelMind, commission: Commission) -> Answer:
    *_, last = [event async for event in mind.synthesize(commission)]
    assert isinstance(last, Answer)
    return last


@every_injection
@pytest.mark.parametrize("as_title", [False, True])
async def test_all_that_the_writer_is_told_of_a_document_stands_in_a_fence(
    text: str, as_title: bool
) -> None:
    mind, outside = heard_by("Naps help [1].")
    await answer_of(mind, told(text, as_title=as_title))
    await answer_of(mind, told("An honest sentence about naps.", as_title=as_title))
    assert outside[0] == outside[1]


@every_injection
async def test_all_that_the_search_agent_is_told_of_a_document_stands_in_a_fence(
    text: str,
) -> None:
    mind, outside = heard_by("Nothing more.")
    for one in (text, "An honest sentence about naps."):
        async for _ in mind.investigate(searched(one)):
            pass
    assert outside[0] == outside[1]


@every_injection
async def test_a_model_that_repeats_the_text_shows_nothing_active_and_cites_only_evidence(
    text: str,
) -> None:
    mind, _ = heard_by("Naps help [1]. ", *text, " and [1].")
    commission = told(text, as_title=False)
    answer = await answer_of(mind, commission)
    assert ACTIVE.search(answer.markdown) is None, answer.markdown
    offered = {one.passage.passage_id: one.passage.text for one in commission.evidence}
    assert set(markers_in(answer.markdown)) == {one.number for one in answer.citations}
    for one in answer.citations:
        assert one.quote in offered[one.passage_id]


@every_injection
def test_the_offline_mind_quotes_it_at_most_and_shows_nothing_active(text: str) -> None:
    answer = compose(told(text, as_title=False), phrases_for("en"))
    assert ACTIVE.search(answer.markdown) is None, answer.markdown
    for one in answer.citations:
        assert one.quote in NAPS or one.quote in text


def test_there_are_at_least_forty_documents() -> None:
    assert len(INJECTIONS) >= 40
