"""The repair of an answer: what the model may change, and what it cannot."""

import pytest
from pydantic_ai import messages

from services.synth.citations import markers_in
from services.synth.mind import Citation, Repair, Repaired
from tests.unit.synth_model.builders import LIGHT, NAPS, evidence
from tests.unit.synth_model.speaking import Script, script

MARKDOWN = "Naps lower lapses [1].\n\nNaps cure insomnia [2]. Light cures it too [3].\n"


def order(markdown: str = MARKDOWN, unsupported: tuple[int, ...] = (2, 3)) -> Repair:
    passages = {1: "p1", 2: "p1", 3: "p2"}
    return Repair(
        question="Do naps lower lapses in nurses?",
        markdown=markdown,
        citations=tuple(
            Citation(number=n, passage_id=passages[n], quote="Naps", statement="s")
            for n in markers_in(markdown)
        ),
        unsupported=frozenset(unsupported),
        evidence=evidence(NAPS, LIGHT),
    )


async def repaired(said: Script, what: Repair | None = None) -> Repaired:
    *_, last = [event async for event in said.mind().repair(what or order())]
    assert isinstance(last, Repaired)
    return last


async def test_sentences_are_rewritten_with_a_quote_or_dropped() -> None:
    said = script(['1: Naps lower lapses by 2.9 [1 "lowered lapses by 2.9"]\n2: DROP'])
    result = await repaired(said)
    assert result.markdown == ("Naps lower lapses [1].\n\nNaps lower lapses by 2.9 [2]\n")
    assert (result.rewritten, result.dropped) == (1, 1)
    assert [(one.number, one.passage_id) for one in result.citations] == [(1, "p1"), (2, "p1")]
    assert result.citations[1].quote == "lowered lapses by 2.9"
    assert result.citations[1].statement == "Naps lower lapses by 2.9"


@pytest.mark.parametrize(
    "reply",
    [
        "I cannot do that.",
        "",
        "{}",
        "9: DROP",
        "0: DROP",
        "1: Naps are good without any proof.",
        "1: See [9] for that.",
    ],
)
async def test_a_reply_that_cannot_be_used_leaves_the_answer_as_it_was(reply: str) -> None:
    result = await repaired(script([reply or " "]))
    assert (result.markdown, result.citations) == (MARKDOWN, order().citations)
    assert (result.rewritten, result.dropped) == (0, 0)


async def test_an_answer_is_not_dropped_as_a_whole() -> None:
    everything = order("Naps cure [2]. Light cures [3].\n")
    result = await repaired(script(["1: DROP\n2: DROP"]), everything)
    assert result.markdown == everything.markdown


async def test_only_the_broken_sentences_and_their_passages_are_told() -> None:
    said = script(["1: DROP"])
    await repaired(said, order(unsupported=(2,)))
    ((request,),) = said.heard
    assert isinstance(request, messages.ModelRequest)
    text = str(request.parts[0])
    assert "Naps cure insomnia." in text
    assert "Light cures" not in text
    assert "Bright evening light" not in text


async def test_without_a_broken_sentence_no_model_is_asked() -> None:
    said = script(["1: DROP"])
    assert (await repaired(said, order(unsupported=()))).markdown == MARKDOWN
    assert said.heard == []


async def test_a_rewritten_sentence_shows_nothing_active() -> None:
    said = script(['1: See [here](https://evil.example) <b>now</b> [1 "lowered lapses by 2.9"]'])
    text = (await repaired(said)).markdown
    assert "evil.example" not in text
    assert "\\<b>" in text


async def test_only_a_first_word_on_a_sentence_counts() -> None:
    said = script(['1: DROP\n1: Naps [1 "lowered lapses by 2.9"]'])
    assert (await repaired(said)).dropped == 1
