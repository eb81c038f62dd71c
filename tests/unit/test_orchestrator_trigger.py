"""When a pass ends, what its report says, and whether a checkpoint follows."""

from dataclasses import replace

import pytest

from services.orchestrator.ceilings import Ceilings
from services.orchestrator.options import Options
from services.orchestrator.tools import Conclude, RequestExtension
from services.orchestrator.trigger import (
    CallOutcome,
    CallRecord,
    Ending,
    Report,
    Trigger,
    Turn,
    checkpoint,
    ending,
    report,
    turn_limit,
    unanswered_queries,
)

THREE = Ceilings(calls=3, words=100, passages=5)


def turn(*outcomes: CallOutcome, query: str = "q") -> Turn:
    return Turn(calls=tuple(CallRecord(outcome=one, query=query) for one in outcomes))


NEW = turn(CallOutcome.NEW)
IDLE = turn(CallOutcome.BLOCKED, CallOutcome.UNKNOWN, CallOutcome.REPEATED)
CONCLUDED = Turn(
    calls=(CallRecord(outcome=CallOutcome.CONTROL),), conclusion=Conclude(summary="S", gaps=("g",))
)
ASKED = Turn(
    calls=(CallRecord(outcome=CallOutcome.CONTROL),),
    extension=RequestExtension(justification="j", covered_summary="C", missing_aspects=("m",)),
)
BOTH = Turn(calls=CONCLUDED.calls, conclusion=CONCLUDED.conclusion, extension=ASKED.extension)


@pytest.mark.parametrize(
    ("turns", "why"),
    [
        ([], None),
        ([NEW], None),
        ([NEW, CONCLUDED], Ending.CONCLUDED),
        ([NEW, ASKED], Ending.ASKED),
        ([NEW, BOTH], Ending.CONCLUDED),
        ([Turn(calls=())], Ending.SILENT),
        ([IDLE], None),
        ([IDLE, NEW, IDLE], None),
        ([NEW, IDLE, IDLE], Ending.IDLE),
        ([turn(CallOutcome.REFUSED), turn(CallOutcome.REFUSED)], None),
        ([turn(CallOutcome.EMPTY), turn(CallOutcome.FAILED)], None),
        ([turn(CallOutcome.BLOCKED, CallOutcome.NEW), IDLE], None),
        ([NEW] * 8, None),
        ([NEW] * 9, Ending.TURNS),
    ],
)
def test_a_pass_ends_for_one_of_five_reasons(turns: list[Turn], why: Ending | None) -> None:
    assert ending(turns, THREE) is why


def test_a_pass_has_twice_its_calls_and_three_turns() -> None:
    assert turn_limit(Ceilings(calls=10, words=1, passages=1)) == 23


def test_the_agents_own_conclusion_is_its_report() -> None:
    said = report([NEW, CONCLUDED], Ending.CONCLUDED, question="?", found_any=True)
    assert (said.summary, said.gaps, said.automatic, said.asked) == ("S", ("g",), False, False)


def test_a_conclusion_without_gaps_leaves_none_even_if_queries_failed() -> None:
    done = Turn(calls=(), conclusion=Conclude(summary="S", gaps=()))
    said = report([turn(CallOutcome.EMPTY), done], Ending.CONCLUDED, question="?", found_any=False)
    assert said.gaps == ()


def test_an_automatic_report_keeps_unanswered_queries_and_missing_aspects() -> None:
    turns = [turn(CallOutcome.EMPTY, query="open"), turn(CallOutcome.NEW, query="closed"), ASKED]
    said = report(turns, Ending.ASKED, question="?", found_any=True)
    assert said.gaps == ("m", "open")
    assert said.summary == "C"
    assert said.automatic
    assert said.asked
    assert "asked for an extension" in said.reason


def test_an_automatic_report_names_what_was_searched() -> None:
    turns = [turn(CallOutcome.NEW, query="a"), turn(CallOutcome.NEW, query="b"), Turn(calls=())]
    said = report(turns, Ending.SILENT, question="?", found_any=True)
    assert said.summary == "a; b"
    assert said.gaps == ()
    assert "without a conclusion" in said.reason


def test_a_pass_that_found_nothing_leaves_the_question_open() -> None:
    said = report([Turn(calls=())], Ending.SILENT, question="Why?", found_any=False)
    assert said.gaps == ("Why?",)


def test_a_query_is_answered_by_any_call_of_the_pass() -> None:
    turns = [
        turn(CallOutcome.FAILED, query="a"),
        turn(CallOutcome.BLOCKED, query="b"),
        turn(CallOutcome.NEW, query="a"),
        turn(CallOutcome.BLOCKED, query="b"),
        turn(CallOutcome.FAILED, query=""),
    ]
    assert unanswered_queries(turns) == ("b",)


def left_open(*gaps: str, asked: bool = False) -> Report:
    return Report(
        summary="", gaps=gaps, automatic=False, reason="", ending=Ending.CONCLUDED, asked=asked
    )


@pytest.mark.parametrize(
    ("last", "enabled", "used", "why"),
    [
        (left_open("g"), True, 0, Trigger.GAPS),
        (left_open("g", asked=True), True, 1, Trigger.AGENT),
        (left_open(asked=True), True, 0, None),
        (left_open("g"), False, 0, None),
        (left_open("g", asked=True), True, 2, None),
    ],
)
def test_a_checkpoint_needs_gaps_extensions_and_permission(
    last: Report, enabled: bool, used: int, why: Trigger | None
) -> None:
    options = Options(max_extensions=2, hitl_enabled=enabled)
    assert checkpoint(last, options, extensions_used=used) is why


def test_a_report_says_why_the_agent_asked() -> None:
    said = report([NEW, ASKED], Ending.ASKED, question="?", found_any=True)
    assert said.justification == "j"
    both = report([NEW, BOTH], Ending.CONCLUDED, question="?", found_any=True)
    assert (both.asked, both.justification) == (True, "j")


def test_earlier_gaps_stay_open_when_an_extension_says_nothing_of_them() -> None:
    before = replace(left_open("a", "b"), summary="Earlier.")
    turns = [turn(CallOutcome.NEW, query="a"), turn(CallOutcome.EMPTY, query="c"), Turn(calls=())]
    said = report(turns, Ending.SILENT, question="?", found_any=True, before=before)
    assert said.gaps == ("b", "c")
    assert said.summary == "Earlier.; a"


@pytest.mark.parametrize(("last", "gaps"), [(CONCLUDED, ("g",)), (ASKED, ("m",))])
def test_an_agent_that_speaks_decides_which_gaps_are_left(
    last: Turn, gaps: tuple[str, ...]
) -> None:
    before = left_open("a")
    why = Ending.CONCLUDED if last is CONCLUDED else Ending.ASKED
    assert report([NEW, last], why, question="?", found_any=True, before=before).gaps == gaps
