"""What the task wire calls a state, and which of its requests are counted."""

import pytest

from gateway.routes.tasks import STATES
from gateway.tasks.convert import STATUS_OF_STATE, prefixed, status_of
from gateway.throttle import is_limited
from zocrates.orchestrator.v1 import chat_pb2 as chat


@pytest.mark.parametrize(
    ("status", "states"),
    [
        ("QUEUED", {"QUEUED"}),
        ("RUNNING", {"RUNNING", "AWAITING_INPUT"}),
        ("PAUSED", {"PAUSED"}),
        ("COMPLETED", {"COMPLETED", "EXPIRED"}),
        ("FAILED", {"FAILED"}),
        ("CANCELLED", {"CANCELLED", "REWOUND"}),
    ],
)
def test_each_status_means_these_states(status: str, states: set[str]) -> None:
    assert {state for state, told in STATUS_OF_STATE.items() if told == status} == states


def test_every_state_has_a_status() -> None:
    for state in chat.RunState.values():
        assert prefixed(state) == f"TASK_STATUS_{status_of(state)}"


@pytest.mark.parametrize("status", sorted(set(STATES) - {"TIMEOUT", "CANCELED"}))
def test_a_list_by_status_has_just_the_tasks_that_show_it(status: str) -> None:
    shown = [state for state in chat.RunState.values() if status_of(state) == status]
    assert sorted(STATES[status]) == sorted(shown)


@pytest.mark.parametrize(
    "request_line",
    [
        "POST /api/v1/tasks",
        "POST /api/v1/tasks/stream",
        "GET /api/v1/tasks",
        "GET /api/v1/tasks/x/events",
        "GET /api/v1/tasks/x/control-state",
        "POST /api/v1/tasks/x/cancel",
        "POST /api/v1/tasks/x/pause",
        "POST /api/v1/tasks/x/resume",
        "POST /api/v1/tasks/x/review",
        "POST /api/v1/approvals/decision",
        "GET /api/v1/sessions",
        "PATCH /api/v1/sessions/x",
        "DELETE /api/v1/sessions/x",
    ],
)
def test_these_requests_are_counted(request_line: str) -> None:
    assert is_limited(*request_line.split())


@pytest.mark.parametrize(
    "request_line",
    [
        "GET /api/v1/tasks/x",
        "GET /api/v1/tasks/x/review",
        "GET /api/v1/stream/sse",
        "GET /api/v1/sessions/x",
        "GET /api/v1/sessions/x/history",
        "GET /api/v1/sessions/x/events",
        "POST /chat",
        "GET /sessions",
        "GET /health",
    ],
)
def test_what_clients_poll_and_the_other_wire_are_not(request_line: str) -> None:
    assert not is_limited(*request_line.split())
