"""The synthesizer: streamed, cited from the evidence alone, honest about what is missing."""

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest
from pydantic_ai.exceptions import ModelHTTPError

from services.synth.mind import Answer, Commission, Delta, Thought
from services.synth.model.errors import ModelReplyUnusable, ModelUnavailable
from services.synth.phrasebook import phrases_for
from tests.unit.synth_model.builders import LIGHT, NAPS, commission
from tests.unit.synth_model.speaking import Piece, Script, script, thinking

NAP = 'Naps lower lapses [1 "lowered lapses by 2.9"].'


async def written(script: Script, task: Commission) -> tuple[str, Answer, str]:
    events = [event async for event in script.mind().synthesize(task)]
    answer = events[-1]
    assert isinstance(answer, Answer)
    deltas = "".join(event.text for event in events if isinstance(event, Delta))
    return deltas, answer, "".join(e.text for e in events if isinstance(e, Thought))


async def test_the_deltas_joined_are_the_answer() -> None:
    deltas, answer, _ = await written(script(list(NAP)), commission(NAPS))
    assert deltas == answer.markdown == "Naps lower lapses [1].\n"
    assert answer.answered
    assert answer.citations[0].quote == "lowered lapses by 2.9"


async def test_gaps_stand_below_whatever_the_model_wrote() -> None:
    _, answer, _ = await written(script([NAP]), commission(NAPS, gaps=("older *nurses*",)))
    assert answer.markdown.endswith("**Not in this library**\n\n- older \\*nurses\\*\n")
    assert answer.gaps == ("older *nurses*",)


@pytest.mark.parametrize("refusal", ["NO ANSWER", " **NO ANSWER**\nreally", "NO ANSWER."])
async def test_a_refusal_is_told_in_the_products_own_words(refusal: str) -> None:
    deltas, answer, _ = await written(script(list(refusal)), commission(LIGHT))
    assert deltas == answer.markdown
    assert answer.markdown.startswith("This library does not answer the question.")
    assert "NO ANSWER" not in answer.markdown.upper()
    assert not answer.answered


async def test_an_answer_that_begins_like_a_refusal_is_shown_whole() -> None:
    _, answer, _ = await written(script(["NO", " ANSWER", "S differ [1]."]), commission(NAPS))
    assert answer.markdown == "NO ANSWERS differ [1].\n"


async def test_a_text_without_citations_is_marked_and_counts_as_no_answer() -> None:
    _, answer, _ = await written(script(["Naps cure all [7]."]), commission(NAPS))
    assert not answer.answered
    assert "could be tied to a passage" in answer.markdown


async def test_without_evidence_the_model_is_not_asked() -> None:
    said = script(["never"])
    _, answer, _ = await written(said, commission())
    assert (said.heard, answer.answered) == ([], False)


async def test_thoughts_are_no_part_of_the_answer() -> None:
    said: list[Piece] = [thinking("Weighing "), thinking("both."), NAP]
    _, answer, thoughts = await written(script(said), commission(NAPS))
    assert thoughts.endswith("Weighing both.")
    assert "Weighing" not in answer.markdown


@pytest.mark.parametrize("reply", [[thinking("only thoughts")], [" \n"]])
async def test_a_reply_without_an_answer_is_an_error(reply: list[Piece]) -> None:
    with pytest.raises(ModelReplyUnusable, match="no answer"):
        await written(script(reply), commission(NAPS))


async def test_an_endless_answer_is_cut() -> None:
    _, answer, _ = await written(script(["word " * 100] * 400), commission(NAPS))
    assert len(answer.markdown) < 62_000


async def test_text_that_was_shown_is_not_written_twice_when_the_model_breaks_off() -> None:
    broken = ModelHTTPError(503, "test")
    said = script(["Naps lower ", broken], [NAP])
    with pytest.raises(ModelUnavailable):
        await written(said, commission(NAPS))
    assert len(said.heard) == 1


async def test_a_listener_that_goes_away_ends_the_call() -> None:
    gone = asyncio.Event()

    class Slow(Script):
        async def speak(self, transcript, info):  # type: ignore[no-untyped-def,override]
            try:
                yield "Naps "
                yield "lower "
                await asyncio.Event().wait()
            finally:
                gone.set()

    events = Slow(replies=()).mind().synthesize(commission(NAPS))
    async with aclosing(events):  # type: ignore[type-var]
        async for event in events:
            if isinstance(event, Delta):
                break
    await asyncio.wait_for(gone.wait(), 5)


async def test_each_passage_is_told_once_and_before_the_question() -> None:
    said = script([NAP])
    await written(said, commission(NAPS, LIGHT))
    (told,) = (str(part) for part in said.heard[0][0].parts)
    assert told.count("lowered lapses by 2.9") == told.count("delayed melatonin") == 1
    assert told.index("delayed melatonin") < told.index("Question: Do naps")


async def test_a_question_in_another_language_than_the_papers_is_told_so() -> None:
    task = replace(commission(NAPS), question="Senken Nickerchen die Aussetzer von Pflegekräften?")
    hint = phrases_for("de").other_language
    for reply in (NAP, "NO ANSWER"):
        _, answer, _ = await written(script([reply]), task)
        assert hint in answer.markdown
        crossing = replace(task, bridged_languages=frozenset({"de", "en"}))
        _, answer, _ = await written(script([reply]), crossing)
        assert hint not in answer.markdown


@pytest.mark.parametrize(
    "pieces",
    [
        ["word " * 40_000],
        ["x" * 200_000],
        ["[1 " * 60_000],
        ['[1 "lowered ' + "lapses " * 30_000],
        ["](" * 100_000],
    ],
    ids=["words", "one word", "marks", "quote", "links"],
)
async def test_two_hundred_kilobytes_are_cut_in_good_time(pieces: list[Piece]) -> None:
    said = script([NAP, " ", *pieces])
    async with asyncio.timeout(20):
        _, answer, _ = await written(said, commission(NAPS))
    assert answer.citations[0].quote == "lowered lapses by 2.9"
    assert len(answer.markdown) < 150_000


async def test_what_a_slow_model_said_is_shown_before_it_says_more() -> None:
    more = asyncio.Event()

    class Slow(Script):
        async def speak(self, transcript, info):  # type: ignore[no-untyped-def,override]
            yield "Naps lower lapses "
            await more.wait()
            yield '[1 "lowered lapses by 2.9"].'

    shown = ""
    async for event in Slow(replies=()).mind().synthesize(commission(NAPS)):
        if isinstance(event, Delta):
            shown += event.text
            # Without it the model would wait for ever.
            more.set()
    assert shown == "Naps lower lapses [1].\n"
