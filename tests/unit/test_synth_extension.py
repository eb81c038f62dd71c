"""An extension pass of the offline search agent: the gaps, the person's words, nothing twice."""

import json
from dataclasses import replace

import pytest

from services.synth.aspects import aspects_of, whole
from services.synth.extension import QUERIES_PER_GAP, extended, rephrased
from services.synth.gaps import gaps_beside
from services.synth.mind import Investigation
from services.synth.offline import OfflineMind
from services.synth.phrasebook import phrases_for
from services.synth.trail import query_key
from tests.fakes.small_library import TOOLS, Pass, SmallLibrary, all_of, passage

KNOWN = (
    passage("NAPS-0", "Nurses napped on night shifts. Their vigilance was restored by naps."),
    passage("LENS-0", "The lens of older people transmits less blue light than a young lens."),
    passage("SOUND-0", "Acoustic stimulation in sleep left memory for word pairs unchanged."),
)
LIBRARY = SmallLibrary(KNOWN)
RICHER = SmallLibrary(
    (*KNOWN, passage("MEL-0", "Melatonin treated the insomnia of children with autism."))
)
QUESTION = "Does melatonin treat insomnia in children with autism?"
MIND = OfflineMind()
EN = phrases_for("en")


def queries_of(done: Pass) -> list[str]:
    return [
        json.loads(call.arguments)["query"] for call in done.calls if call.tool == "search_corpus"
    ]


async def test_an_extension_searches_the_gap_in_words_that_were_not_tried() -> None:
    first = await LIBRARY.investigate(MIND, QUESTION)
    second = await LIBRARY.investigate(MIND, QUESTION, before=first)
    tried, new = set(map(query_key, queries_of(first))), set(map(query_key, queries_of(second)))
    assert new
    assert not tried & new
    words = {"melatonin", "treat", "insomnia", "children", "autism"}
    assert all(set(query.casefold().split()) <= words for query in new)


async def test_guidance_gives_the_first_words_of_an_extension() -> None:
    first = await LIBRARY.investigate(MIND, QUESTION)
    second = await LIBRARY.investigate(
        MIND, QUESTION, before=first, guidance="Look for ramelteon in adolescents"
    )
    first_words = queries_of(second)[0].casefold().split()
    assert {"ramelteon", "adolescents", "melatonin"} <= set(first_words)


async def test_what_an_extension_finds_closes_the_gap() -> None:
    first = await LIBRARY.investigate(MIND, QUESTION)
    assert first.report is not None
    assert len(first.report["gaps"]) == 1
    second = await RICHER.investigate(MIND, QUESTION, before=first)
    assert second.report is not None
    assert second.report["gaps"] == []
    for gap in first.report["gaps"]:
        assert gap.rstrip("?") in second.report["summary"]


async def test_what_an_extension_does_not_find_stays_the_gap_and_only_that() -> None:
    first = await LIBRARY.investigate(MIND, QUESTION)
    second = await LIBRARY.investigate(MIND, QUESTION, before=first, guidance="older trials")
    assert first.report is not None
    assert second.report is not None
    assert second.report["gaps"] == first.report["gaps"]


async def test_call_ids_of_an_extension_are_its_own() -> None:
    first = await LIBRARY.investigate(MIND, QUESTION)
    second = await LIBRARY.investigate(MIND, QUESTION, before=first)
    assert not {one.call_id for one in first.calls} & {one.call_id for one in second.calls}


async def test_an_extension_without_room_concludes_with_the_gaps() -> None:
    first = await LIBRARY.investigate(MIND, QUESTION)
    assert first.report is not None
    state = Investigation(
        question=QUESTION,
        transcript=tuple(first.transcript),
        tools=TOOLS,
        calls_left=0,
        words_left=0,
        pass_number=1,
        remaining_gaps=tuple(first.report["gaps"]),
    )
    *_, move = await all_of(MIND.investigate(state))
    (call,) = move.calls  # type: ignore[union-attr]  # the last of the stream is the move
    assert call.tool == "conclude_search"
    assert json.loads(call.arguments)["gaps"] == first.report["gaps"]


def test_a_gap_that_is_no_aspect_of_the_question_becomes_one() -> None:
    state = Investigation(
        question=QUESTION,
        tools=TOOLS,
        calls_left=5,
        words_left=3_750,
        pass_number=1,
        remaining_gaps=("Dose and timing in pilots", QUESTION),
    )
    aspects, is_open = extended(aspects_of(QUESTION), state, "en", EN)
    assert len(aspects) == len(aspects_of(QUESTION)) + 1
    assert "Dose and timing in pilots" in is_open
    assert len(is_open) == 2
    everything, open_at_first = extended(
        aspects_of(QUESTION), replace(state, pass_number=0), "en", EN
    )
    assert open_at_first == {aspect.label for aspect in everything}


@pytest.mark.parametrize("guidance", ["", "pilots on long flights"])
def test_rephrasing_is_short_new_and_the_same_every_time(guidance: str) -> None:
    gap = whole("What dose of modafinil restores vigilance in nurses on night shifts?", "en")
    first = rephrased(gap, guidance, ())
    assert 0 < len(first) <= QUERIES_PER_GAP
    assert first == rephrased(gap, guidance, ())
    later = rephrased(gap, guidance, {query_key(query) for query in first})
    assert later
    assert not set(first) & set(later)


def test_a_thing_that_nothing_was_found_on_is_searched_by_its_own_name() -> None:
    state = Investigation(
        question=QUESTION,
        tools=TOOLS,
        calls_left=5,
        words_left=3_750,
        pass_number=1,
        remaining_gaps=("Nothing on ramelteon",),
    )
    aspects, is_open = extended(aspects_of(QUESTION), state, "en", EN)
    assert is_open == {"Ramelteon"}
    assert aspects[-1].query.casefold() == "ramelteon"


@pytest.mark.parametrize(
    ("thin", "doubtful", "gaps"),
    [
        ({}, [], []),
        ({"A": "A (nothing on b)"}, [], ["A (nothing on b)"]),
        ({}, ["modafinil"], ["Nothing on modafinil"]),
        ({"Modafinil": "Modafinil"}, ["modafinil"], ["Nothing on modafinil"]),
        ({"Doses": "Doses"}, ["modafinil"], ["Doses", "Nothing on modafinil"]),
    ],
)
def test_a_thing_searched_for_in_vain_is_named_once(
    thin: dict[str, str], doubtful: list[str], gaps: list[str]
) -> None:
    assert gaps_beside(thin, doubtful, EN) == gaps
