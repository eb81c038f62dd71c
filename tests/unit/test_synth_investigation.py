"""The offline search agent: a whole pass, and its behaviour at the edges."""

import json
from dataclasses import replace

import pytest

from services.synth.mind import (
    FoundPassage,
    Investigation,
    InvestigationTurn,
    Move,
    ToolCall,
    ToolResult,
)
from services.synth.offline import OfflineMind
from services.synth.trail import query_key
from tests.fakes.small_library import TOOLS, SmallLibrary, all_of, passage

LIBRARY = SmallLibrary(
    (
        passage(
            "NAPS-0",
            "Fifty-four nurses napped for thirty minutes on night shifts. "
            "Vigilance lapses fell by 2.9 after the nap.",
            title="Nap length in night-shift nurses",
        ),
        passage(
            "NAPS-1",
            "Sleep inertia after waking lasted fifteen minutes in these nurses.",
            title="Nap length in night-shift nurses",
        ),
        passage(
            "LENS-0",
            "The natural lens of older people transmits 44% less blue light than a young lens.",
            title="The ageing eye and evening light",
        ),
        passage(
            "SOUND-0",
            "Acoustic stimulation during slow-wave sleep left memory for word pairs unchanged.",
            title="Sound at home",
        ),
    )
)
MIND = OfflineMind()


async def move_for(investigation: Investigation) -> Move:
    *_, move = await all_of(MIND.investigate(investigation))
    assert isinstance(move, Move)
    return move


def start(question: str = "Do naps restore vigilance in nurses?") -> Investigation:
    return Investigation(question=question, tools=TOOLS, calls_left=10, words_left=7_500)


@pytest.mark.parametrize(
    "question",
    [
        "Do naps restore vigilance in nurses?",
        "How much blue light does the lens of older people let through?",
        "Does acoustic stimulation in sleep improve memory for word pairs?",
    ],
)
async def test_a_question_that_the_library_answers_ends_without_gaps(question: str) -> None:
    done = await LIBRARY.investigate(MIND, question)
    assert done.report is not None
    assert done.report["gaps"] == []
    assert question.rstrip("?") in done.report["summary"]


@pytest.mark.parametrize(
    "question",
    [
        "Does modafinil restore vigilance in airline pilots?",
        "What is the drag of a delta wing at supersonic speed?",
        "Does melatonin treat insomnia in children with autism?",
    ],
)
async def test_a_question_beside_the_library_ends_with_itself_as_the_gap(question: str) -> None:
    done = await LIBRARY.investigate(MIND, question)
    assert done.report is not None
    assert done.report["gaps"] == [question]


async def test_only_the_missing_member_of_a_comparison_is_a_gap() -> None:
    done = await LIBRARY.investigate(MIND, "Do naps or modafinil restore vigilance in nurses?")
    assert done.report is not None
    (gap,) = done.report["gaps"]
    assert gap == "Do modafinil restore vigilance in nurses?"


async def test_the_first_turn_searches_the_question_and_each_aspect_side_by_side() -> None:
    move = await move_for(start("How do naps compare with caffeine for vigilance in nurses?"))
    queries = [json.loads(call.arguments)["query"] for call in move.calls]
    assert len(queries) == 3
    assert {call.tool for call in move.calls} == {"search_corpus"}
    assert len({call.call_id for call in move.calls}) == 3


async def test_no_query_is_asked_twice_and_thin_support_is_read_around() -> None:
    question = "What did the nurses on night shifts report about commuting accidents?"
    done = await LIBRARY.investigate(MIND, question)
    queries = [
        query_key(json.loads(call.arguments)["query"])
        for call in done.calls
        if call.tool == "search_corpus"
    ]
    assert len(queries) == len(set(queries)) > 1
    assert [call for call in done.calls if call.tool == "read_document"]


async def test_the_same_state_gives_the_same_move() -> None:
    assert await move_for(start()) == await move_for(start())


async def test_no_more_calls_are_asked_for_than_are_left() -> None:
    question = "What are the effects of light, caffeine and naps on vigilance?"
    move = await move_for(replace(start(question), calls_left=2))
    assert len(move.calls) == 2


async def test_with_nothing_left_an_extension_is_asked_for_and_names_what_is_missing() -> None:
    (call,) = (await move_for(replace(start(), calls_left=0))).calls
    assert call.tool == "request_search_extension"
    arguments = json.loads(call.arguments)
    assert arguments["missing_aspects"] == ["Do naps restore vigilance in nurses?"]
    assert arguments["justification"]


async def test_without_tools_the_agent_stops() -> None:
    assert (await move_for(replace(start(), tools=()))).calls == ()


@pytest.mark.parametrize(
    "result",
    [
        ToolResult(call_id="0-0-0", ok=False, error="The index is away."),
        ToolResult(call_id="0-0-0", ok=True, notice="This was the last call but one."),
        ToolResult(call_id="0-0-0", ok=False, notice="The ceiling is reached; conclude."),
    ],
)
async def test_an_error_notice_or_block_ends_the_pass(result: ToolResult) -> None:
    call = ToolCall(
        call_id="0-0-0", tool="search_corpus", arguments=json.dumps({"query": "anything"})
    )
    turn = InvestigationTurn(calls=(call,), results=(result,))
    (last,) = (await move_for(replace(start(), transcript=(turn,)))).calls
    assert last.tool == "conclude_search"
    assert json.loads(last.arguments)["gaps"] == ["Do naps restore vigilance in nurses?"]


async def test_a_transcript_with_broken_arguments_is_survived() -> None:
    call = ToolCall(call_id="0-0-0", tool="search_corpus", arguments="{broken")
    seen = FoundPassage(passage=LIBRARY.passages[0], similarity=0.7)
    result = ToolResult(call_id="0-0-0", ok=True, passages=(seen,))
    turn = InvestigationTurn(calls=(call,), results=(result,))
    (last,) = (
        await move_for(replace(start("Vigilance lapses after the nap"), transcript=(turn,)))
    ).calls
    assert json.loads(last.arguments)["gaps"] == []


def hits(*similarities: float) -> tuple[FoundPassage, ...]:
    return tuple(
        FoundPassage(passage=one, similarity=value)
        for one, value in zip(LIBRARY.passages, similarities, strict=False)
    )


def asked(*queries: tuple[str, float]) -> InvestigationTurn:
    """A turn of searches, each with the best similarity that it reached."""
    calls = tuple(
        ToolCall(
            call_id=f"0-0-{number}", tool="search_corpus", arguments=json.dumps({"query": query})
        )
        for number, (query, _) in enumerate(queries)
    )
    results = tuple(
        ToolResult(call_id=call.call_id, ok=True, passages=hits(similarity))
        for call, (_, similarity) in zip(calls, queries, strict=True)
    )
    return InvestigationTurn(calls=calls, results=results)


PILOTS = "Do naps restore vigilance in airline nurses with zolpidem?"


async def test_a_word_that_nothing_holds_is_asked_for_alone_and_left_out() -> None:
    move = await move_for(replace(start(PILOTS), transcript=(asked((PILOTS, 0.6)),)))
    queries = [json.loads(call.arguments).get("query") for call in move.calls]
    assert "zolpidem" in queries
    assert "Do naps restore vigilance in airline nurses with ?" in queries


async def test_a_foreign_thing_is_named_in_the_gap() -> None:
    without = "Do naps restore vigilance in airline nurses with ?"
    turns = (asked((PILOTS, 0.6)), asked((without, 0.7), ("zolpidem", 0.2)), asked(("x", 0.1)))
    (last,) = (await move_for(replace(start(PILOTS), transcript=turns))).calls
    (gap,) = json.loads(last.arguments)["gaps"]
    assert gap.startswith(f"{PILOTS} (nothing on ")
    assert "zolpidem" in gap
