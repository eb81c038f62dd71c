"""Which containers of a run's trace are due when, and how they stand in each other."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from services.orchestrator.events import StoredEvent
from services.orchestrator.run import Stage
from services.orchestrator.span_tree import Container, due, key_of

START = datetime(2026, 1, 1, tzinfo=UTC)


def story(*told: tuple[str, dict[str, Any]]) -> list[StoredEvent]:
    """Events a second apart."""
    return [
        StoredEvent(
            session_id="s",
            run_id="r",
            sequence=place,
            time=START + timedelta(seconds=place),
            type=kind,
            payload=payload,
        )
        for place, (kind, payload) in enumerate(told, start=1)
    ]


def stage(name: str, number: int = 0) -> tuple[str, dict[str, Any]]:
    return "stage", {"stage": f"STAGE_{name}", "pass": number}


def asks(interrupt_id: str, version: int = 1) -> tuple[str, dict[str, Any]]:
    return "request_input", {"interrupt_id": interrupt_id, "version": version, "budget": {}}


BEGUN = (("run_started", {"prompt": "Naps?"}), stage("CONVERSE"), stage("SEARCH"))
ANSWERED = ("checkpoint_answered", {"interrupt_id": "interrupt_ext_1", "action": "EXTEND"})
WRITTEN = (stage("RERANK"), stage("SYNTHESIZE"), stage("VERIFY"), ("answer", {"markdown": "Yes."}))


def seconds(one: Container) -> tuple[float, float]:
    return (one.start - START).total_seconds(), (one.end - START).total_seconds()


def parents(found: Sequence[Container]) -> dict[str, str]:
    return {one.key: one.parent for one in found}


def test_a_run_straight_through_is_due_as_one_with_its_answer() -> None:
    events = story(*BEGUN, *WRITTEN)
    assert all(not due("s", events, one.sequence) for one in events[:-1])
    found = due("s", events, events[-1].sequence)
    assert parents(found) == {
        "coordinator_agent": "",
        "search_library": "coordinator_agent",
        "search_library_pipeline_node": "search_library",
        "search_initial": "search_library_pipeline_node",
        "synthesizer_agent": "search_library_pipeline_node",
    }
    times = {one.key: seconds(one) for one in found}
    assert times["coordinator_agent"] == (1, 7)
    assert times["search_initial"] == (3, 4)
    assert times["synthesizer_agent"] == (5, 6)
    assert not any(one.error for one in found)


def test_a_pause_is_due_when_it_is_over_and_only_once() -> None:
    events = story(*BEGUN, asks("interrupt_ext_1"), ANSWERED, stage("SEARCH", 1), *WRITTEN)
    paused = due("s", events, 5)
    assert parents(paused) == {
        "search_initial": "search_library_pipeline_node",
        "interrupt_ext_1/1": "search_library_pipeline_node",
        "interrupt_ext_1/1/adk_request_input": "interrupt_ext_1/1",
    }
    (wait,) = (one for one in paused if one.name == "checkpoint_0")
    assert seconds(wait) == (4, 5)
    assert wait.error == ""
    ended = due("s", events, events[-1].sequence)
    assert not {one.key for one in ended} & {one.key for one in paused}
    assert "search_extension_1" in parents(ended)


@pytest.mark.parametrize(
    ("end", "error"),
    [
        (("error", {"code": "MODEL_AWAY"}), "MODEL_AWAY"),
        (("run_state", {"change": "RUN_STATE_CHANGE_CANCELLED"}), ""),
    ],
)
def test_an_end_while_it_waits_closes_everything_and_the_wait_is_no_error(
    end: tuple[str, dict[str, Any]], error: str
) -> None:
    events = story(*BEGUN, asks("interrupt_ext_1"), end)
    found = due("s", events, 5)
    assert {one.error for one in found if one.name == "coordinator_agent"} == {error}
    waits = [one for one in found if one.name in ("checkpoint_0", "adk_request_input")]
    assert len(waits) == 2
    assert not any(one.error for one in waits)


def test_each_version_of_a_plan_waits_for_itself_within_its_review() -> None:
    begun = (("run_started", {"prompt": "Naps?"}), stage("CONVERSE"), stage("PLAN"))
    approved = ("checkpoint_answered", {"interrupt_id": "interrupt_plan", "action": "APPROVE"})
    events = story(*begun, asks("interrupt_plan"), asks("interrupt_plan", 2), approved)
    names = [(one.name, one.parent) for one in due("s", events, 6)]
    assert names.count(("checkpoint_plan", "plan_review")) == 2


def test_an_answer_without_research_is_the_coordinators_alone() -> None:
    events = story(*BEGUN[:2], ("answer", {"markdown": "Hello!"}))
    assert [one.key for one in due("s", events, 3)] == ["coordinator_agent"]


def test_a_retried_run_holds_the_rest_under_the_same_keys() -> None:
    failed = ("error", {"code": "MODEL_AWAY"})
    events = story(*BEGUN, failed, stage("SEARCH"), *WRITTEN)
    found = due("s", events, events[-1].sequence)
    assert {"coordinator_agent", "search_library", "search_initial"} <= set(parents(found))
    assert seconds(found[0])[0] == 1


def test_every_stage_belongs_somewhere() -> None:
    assert {key_of(one, 0) for one in Stage} == {
        *("coordinator_agent", "plan_review", "search_initial", "synthesizer_agent"),
        "search_library_pipeline_node",
    }
    assert key_of(Stage.SEARCH, 2) == "search_extension_2"
