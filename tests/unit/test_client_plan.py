"""A plan and a request for consent at a terminal: the card, the decision, what is told of it."""

from collections.abc import Iterator
from typing import Any

import pytest

from gateway import events, wire
from gateway.asking import Manner, _how_to_decide
from gateway.checkpoint_card import answered_line, card_lines
from gateway.deciding import Decision, decide
from gateway.sse import ServerEvent
from gateway.terminal import step_lines
from gateway.watching import WatchedRun, after

PLAN = {
    "query": "Do naps help?",
    "round": 2,
    "max_rounds": 10,
    "intent": "ready",
    "text": "1. Naps and memory\n2. Dose",
    "current_plan": "1. Naps and memory\n2. Dose",
}
STEP = {
    "approval_id": "interrupt_approval_1",
    "subject": "tool",
    "tool": "read_document",
    "reason": "It reads whole documents.",
}


def request(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {
        "interrupt_id": "interrupt_plan",
        "kind": kind,
        "version": 2,
        "message": "Please review.",
        "response_schema": {"type": "object"},
        "payload": payload,
    }


def plan(**fields: Any) -> events.RequestInput:
    return events.RequestInput.model_validate(request("plan_review", PLAN | fields))


def step(**fields: Any) -> events.RequestInput:
    return events.RequestInput.model_validate(request("approval", STEP | fields))


def happened(name: str, **data: Any) -> ServerEvent:
    return ServerEvent(id="1", name=name, data={"session_id": "s", **data})


def test_the_card_shows_the_plan_line_by_line() -> None:
    assert list(card_lines(plan())) == [
        "Research plan, round 2 of 10",
        "  Please review.",
        "",
        "The plan",
        "  1. Naps and memory",
        "  2. Dose",
    ]


def test_a_question_back_is_shown_with_the_plan_that_holds_meanwhile() -> None:
    lines = list(card_lines(plan(intent="feedback", text="Which age?")))
    assert lines[3:] == [
        "The planner asks",
        "  Which age?",
        "",
        "The plan so far, which an approval confirms",
        "  1. Naps and memory",
        "  2. Dose",
    ]


def test_the_card_of_a_step_tells_what_it_is_and_why() -> None:
    assert list(card_lines(step())) == [
        "Consent is needed",
        "  Please review.",
        "",
        "Why",
        "  It reads whole documents.",
        "",
        "Tool",
        "  read_document",
    ]


def test_nothing_of_a_plan_reaches_the_terminal_as_a_command() -> None:
    assert all(line.isprintable() for line in card_lines(plan(text="\x1b[2J1. \u202eNaps")))


def typing(*lines: str) -> Iterator[str]:
    yield from lines


@pytest.mark.parametrize(
    ("asked", "typed", "decision"),
    [
        (plan(), ["a"], Decision(action="approve")),
        (plan(), ["f", "Dose too"], Decision(action="feedback", message="Dose too")),
        (plan(), ["s", "e", "r", "approve"], Decision(action="approve")),
        (plan(), ["f", "é" * 6_000, "Less"], Decision(action="feedback", message="Less")),
        (plan(), ["f", "  ", "a"], Decision(action="approve")),
        (plan(), ["l"], None),
        (plan(current_plan=""), ["a", "l"], None),
        (plan(round=10), ["f", "a"], Decision(action="approve")),
        (step(), ["r"], Decision(action="reject")),
        (step(subject="research"), ["f", "a"], Decision(action="approve")),
    ],
)
def test_what_is_offered_can_be_decided_and_nothing_else(
    asked: events.RequestInput, typed: list[str], decision: Decision | None
) -> None:
    answers = typing(*typed)
    assert asked.payload is not None
    assert decide(asked.payload, lambda prompt: next(answers), lambda line: None) == decision
    assert list(answers) == []


def test_feedback_leaves_the_run_waiting_for_the_next_version() -> None:
    run = WatchedRun(session_id="s", checkpoint=plan())
    run = after(run, happened("plan_feedback", round=3, version=3, message="More.", by="ada"))
    run = after(run, happened("request_input", **request("plan_review", PLAN | {"round": 3})))
    assert isinstance(run.checkpoint, events.RequestInput)
    assert isinstance(run.checkpoint.payload, events.PlanCheckpoint)
    assert run.checkpoint.payload.round == 3


def test_the_steps_of_a_review_are_told_in_a_line_each() -> None:
    run = WatchedRun()
    drafted = {**PLAN, "version": 2, "model": "m"}
    told = step_lines(run, happened("plan", **{k: drafted[k] for k in events.Plan.model_fields}))
    assert told == ["· Plan drafted, round 2"]
    said = happened("plan_feedback", round=2, version=2, message="Dose\ntoo", by="ada")
    assert step_lines(run, said) == ["· Feedback by ada: Dose too"]
    approved = events.CheckpointAnswered(
        interrupt_id="interrupt_plan", action="approve", answered_by="ada"
    )
    assert answered_line(approved) == "· Approved by ada"


@pytest.mark.parametrize(
    ("asked", "ways"), [(plan(), ["--approve", "--feedback"]), (step(), ["--approve", "--reject"])]
)
def test_whoever_cannot_be_asked_gets_the_commands_that_fit(
    asked: events.RequestInput, ways: list[str]
) -> None:
    told = _how_to_decide(WatchedRun(session_id="s", checkpoint=asked), Manner())
    assert [way for way in ways if f"resume s {way}" in told] == ways


def test_only_chosen_options_are_sent() -> None:
    options = wire.TurnOptions(review_plan=True, strategy="deep")
    assert options.model_dump(exclude_defaults=True) == {"review_plan": True, "strategy": "deep"}
