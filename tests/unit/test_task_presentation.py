"""Tasks, reviews and their events as lines on a terminal."""

from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.sse import EventParser, ServerEvent
from gateway.task_presentation import (
    event_lines,
    list_lines,
    refused_line,
    review_lines,
    submitted_lines,
    task_lines,
)
from gateway.tasks import wire

AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
ROUNDS = [
    {"role": "assistant", "message": "1. Naps\n2. Dose", "timestamp": "2026-01-01T12:00:00Z"},
    {"role": "user", "message": "Age too.", "timestamp": "2026-01-01T12:01:00Z"},
    {"role": "assistant", "message": "Which age?", "timestamp": "2026-01-01T12:01:05Z"},
]


def task(**fields: Any) -> wire.Task:
    body = {
        "task_id": "t",
        "workflow_id": "t",
        "status": "TASK_STATUS_RUNNING",
        "created_at": AT,
        "updated_at": AT,
        "query": "Do naps help?",
        "session_id": "mine",
        "metadata": {},
    }
    return wire.Task.model_validate(body | fields)


def review(**fields: Any) -> wire.Review:
    body = {
        "status": "reviewing",
        "round": 2,
        "version": 2,
        "current_plan": "1. Naps\n2. Dose",
        "rounds": ROUNDS,
        "query": "Do naps help?",
        "intent": "feedback",
    }
    return wire.Review.model_validate(body | fields)


def test_a_new_task_tells_its_id_last_and_before_it_what_was_not_taken() -> None:
    warning = wire.Warned(
        code="REVIEW_TIMEOUT_CLAMPED", field="context.review_timeout", given="9", used="8"
    )
    submitted = wire.Submitted(
        task_id="t", workflow_id="t", message="", created_at=AT, warnings=[warning]
    )
    assert list(submitted_lines(submitted)) == [
        "! context.review_timeout 9: review timeout clamped; 8 is used",
        "t",
    ]


def test_a_waiting_task_tells_the_command_that_helps() -> None:
    waits = {
        "interrupt_id": "interrupt_plan",
        "kind": "plan_review",
        "version": 1,
        "message": "A plan.",
    }
    lines = list(task_lines(task(waiting_for=waits)))
    assert "Waits    A plan." in lines
    assert "         zocrates task review t" in lines


def test_a_task_shows_its_answer_or_its_error() -> None:
    assert list(task_lines(task(result="Yes.\n\nNaps help.")))[-3:] == ["Yes.", "", "Naps help."]
    assert list(task_lines(task(error="timed out")))[-1] == "Error    timed out"


def test_a_list_says_when_there_are_more() -> None:
    usage = {"total_tokens": 0, "cost_usd": 0.0, "prompt_tokens": 0, "completion_tokens": 0}
    one = {
        "task_id": "t",
        "query": "Do naps help?",
        "status": "TASK_STATUS_COMPLETED",
        "mode": "EXECUTION_MODE_STANDARD",
        "created_at": AT,
        "total_token_usage": usage,
    }
    lines = list(list_lines(wire.TaskList.model_validate({"tasks": [one], "total_count": 3})))
    assert lines[0].startswith("t  2026-01-01 ")
    assert lines[0].endswith("completed   Do naps help?")
    assert lines[1].startswith("These are 1 of 3")
    [nothing] = list_lines(wire.TaskList(tasks=[], total_count=0))
    assert nothing.startswith("No tasks")


def test_a_review_is_a_conversation_and_the_plan_that_holds() -> None:
    assert list(review_lines(review())) == [
        "Review   reviewing, round 2, version 2",
        "Query    Do naps help?",
        "",
        "Planner",
        "  1. Naps",
        "  2. Dose",
        "",
        "You",
        "  Age too.",
        "",
        "Planner",
        "  Which age?",
        "",
        "An approval confirms",
        "  1. Naps",
        "  2. Dose",
    ]
    assert "There is no plan to approve yet" in list(review_lines(review(current_plan="")))[-1]


@pytest.mark.parametrize(
    ("name", "data", "lines"),
    [
        (
            "RESEARCH_PLAN_READY",
            {"type": "RESEARCH_PLAN_READY", "agent_id": "planner", "message": "1.\n2."},
            ["RESEARCH_PLAN_READY [planner] 1. 2."],
        ),
        ("error", {"type": "ERROR_OCCURRED", "message": "No."}, ["ERROR_OCCURRED No."]),
        (
            "workflow.paused",
            {"agent_id": "orchestrator", "message": "Paused."},
            ["workflow.paused [orchestrator] Paused."],
        ),
        ("thread.message.delta", {"delta": "Ye"}, []),
        ("thread.message.completed", {"response": "Yes.\x1b[2J"}, ["", "Yes. [2J", ""]),
        ("done", {}, []),
    ],
)
def test_each_event_is_a_line_and_the_answer_is_whole(
    name: str, data: dict[str, Any], lines: list[str]
) -> None:
    assert list(event_lines(ServerEvent(id="1", name=name, data=data))) == lines


def test_the_end_mark_of_a_stream_is_no_broken_event() -> None:
    [end] = EventParser(end_mark="[DONE]").feed(b"id: 5-7\nevent: done\ndata: [DONE]\n\n")
    assert end == ServerEvent(id="5-7", name="done", data={})
    with pytest.raises(ValueError, match="Expecting value"):
        EventParser().feed(b"data: [DONE]\n\n")


@pytest.mark.parametrize(
    ("code", "text", "field", "line"),
    [
        (
            "UNKNOWN_RUN",
            "Task not found",
            "",
            "There is no task 't'; `zocrates task list` shows yours.",
        ),
        (
            "INVALID_REQUEST",
            "Invalid task ID format",
            "task_id",
            "There is no task 't'; `zocrates task list` shows yours.",
        ),
        (
            "WRONG_STATE",
            "task is already paused",
            "",
            "It is not the time for that (task is already paused); `zocrates task status t` says "
            "how the task is.",
        ),
        ("INVALID_REQUEST", "Invalid {limit}", "limit", "Invalid {limit}"),
    ],
)
def test_a_refusal_says_what_helps(code: str, text: str, field: str, line: str) -> None:
    assert refused_line("t", code, text, field) == line


def test_an_id_that_is_none_cannot_write_on_the_terminal() -> None:
    assert "\x1b" not in refused_line("\x1b[31m{x}", "UNKNOWN_RUN", "")
