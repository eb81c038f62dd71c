"""Every recorded event as the task wire tells it, and the frames that carry it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from gateway import convert
from gateway.cursor import Delta, Row
from gateway.tasks.events import CHANGES, TABLE, standard, stream_id_of, task_event
from gateway.tasks.frames import FRAME_NAMES, TaskDialect, greeting
from tests.unit.test_gateway_translate import PAYLOADS
from zocrates.events.v1 import event_pb2 as ev

DOCS = Path(__file__).resolve().parents[2] / "docs" / "http-api.md"
AT = Timestamp(seconds=1_736_937_000, nanos=123_000_000)
HEAD = {"session_id": "s", "invocation_id": "r", "sequence": 7, "time": "2026-01-01T00:00:00Z"}
PLAN = ev.PlanCheckpoint(query="Why?", round=1, max_rounds=10, intent=ev.PLAN_INTENT_READY)
STEP = ev.ApprovalCheckpoint(approval_id="interrupt_approval_1", tool="read_document")


def recorded(name: str, payload: Any = None, sequence: int = 7) -> Row:
    return convert.row(
        ev.Event(
            session_id="s",
            run_id="r",
            sequence=sequence,
            time=AT,
            **{name: PAYLOADS[name] if payload is None else payload},
        )
    )


def read(frame: bytes) -> tuple[str, str, Any]:
    """Id, name and data of the one frame that the bytes are."""
    position, name, data, *end = frame.decode().split("\n")
    assert end == ["", ""]
    text = data.removeprefix("data: ")
    body = text if text == "[DONE]" else json.loads(text)
    return position.removeprefix("id: "), name.removeprefix("event: "), body


def kinds() -> list[str]:
    return [field.name for field in ev.Event.DESCRIPTOR.oneofs_by_name["payload"].fields]


def test_the_table_has_every_kind_of_event_and_no_other() -> None:
    assert set(TABLE) == set(kinds())


@pytest.mark.parametrize("name", kinds())
def test_every_event_is_told_in_one_frame_at_most(name: str) -> None:
    row = recorded(name)
    frame = TaskDialect().row(row)
    event = task_event(row)
    assert (frame == b"") is (event is None)
    if event is not None:
        position, frame_name, body = read(frame)
        assert position == "1736937000123-7"
        assert frame_name == FRAME_NAMES.get(event.type, event.type)
        assert body["workflow_id"] == "r"


@pytest.mark.parametrize("change", list(ev.RunStateChange.keys())[1:])
def test_every_change_of_a_run_is_told(change: str) -> None:
    assert change.removeprefix("RUN_STATE_CHANGE_").lower() in CHANGES
    state = ev.RunStateChanged(change=ev.RunStateChange.Value(change), by="ada")
    assert TaskDialect().row(recorded("run_state", state))


def test_a_kind_of_a_later_version_is_passed() -> None:
    row = Row(sequence=8, name="", body={}, frame=b"")
    assert TaskDialect().row(row) == b""


@pytest.mark.parametrize(
    ("name", "payload", "told"),
    [
        (
            "plan",
            ev.PlanDrafted(round=1, version=1, intent=ev.PLAN_INTENT_FEEDBACK, text="Which?"),
            ("RESEARCH_PLAN_READY", "planner", {"round": 1, "version": 1, "intent": "feedback"}),
        ),
        (
            "plan",
            ev.PlanDrafted(round=2, version=2, intent=ev.PLAN_INTENT_READY, text="Plan."),
            (
                "RESEARCH_PLAN_UPDATED",
                "research-planner",
                {"round": 2, "version": 2, "intent": "ready"},
            ),
        ),
        (
            "plan_feedback",
            ev.PlanCommented(round=2, version=2, message="More.", by="ada"),
            ("REVIEW_USER_FEEDBACK", "user", {"round": 2, "version": 2}),
        ),
        (
            "checkpoint_answered",
            ev.CheckpointAnswered(
                interrupt_id="interrupt_plan", action=ev.DECISION_ACTION_APPROVE, answered_by="ada"
            ),
            ("RESEARCH_PLAN_APPROVED", "planner", {}),
        ),
    ],
)
def test_a_review_is_told_as_its_clients_know_it(
    name: str, payload: Any, told: tuple[str, str, dict[str, object]]
) -> None:
    event = task_event(recorded(name, payload))
    assert event is not None
    assert (event.type, event.agent_id, dict(event.payload)) == told


def test_the_question_about_a_plan_says_nothing_that_the_plan_has_not_said() -> None:
    asked = ev.RequestInput(
        interrupt_id="interrupt_plan", kind=ev.CHECKPOINT_KIND_PLAN_REVIEW, plan=PLAN
    )
    assert task_event(recorded("request_input", asked)) is None


def test_a_step_that_needs_consent_carries_the_id_to_decide_under() -> None:
    asked = ev.RequestInput(
        interrupt_id="interrupt_approval_1", kind=ev.CHECKPOINT_KIND_APPROVAL, approval=STEP
    )
    event = task_event(recorded("request_input", asked))
    assert event is not None
    assert event.type == "APPROVAL_REQUESTED"
    assert event.payload["approval_id"] == "interrupt_approval_1"
    decided = ev.CheckpointAnswered(
        interrupt_id="interrupt_approval_1", action=ev.DECISION_ACTION_REJECT, answered_by="ada"
    )
    event = task_event(recorded("checkpoint_answered", decided))
    assert event is not None
    assert event.type == "APPROVAL_DECISION"
    assert event.payload["approved"] is False


def test_a_budget_checkpoint_waits_and_names_what_resumes_it() -> None:
    event = task_event(recorded("request_input"))
    assert event is not None
    assert event.type == "WAITING"
    assert event.payload["interrupt_id"] == "interrupt_ext_1"
    assert event.payload["invocation_id"] == "r"


def test_the_answer_is_a_response_with_its_citations_as_metadata() -> None:
    _, name, body = read(TaskDialect().row(recorded("answer")))
    assert name == "thread.message.completed"
    assert "type" not in body
    assert body["response"] == "Because."
    assert body["metadata"]["citations"][0]["support"] == "verified"


def test_control_events_have_no_sequence_of_their_own() -> None:
    dialect = TaskDialect()
    dialect.row(recorded("stage"))
    paused = ev.RunStateChanged(change=ev.RUN_STATE_CHANGE_PAUSED, by="ada", reason="Lunch.")
    _, name, body = read(dialect.row(recorded("run_state", paused)))
    assert name == "workflow.paused"
    assert body == {
        "workflow_id": "r",
        "agent_id": "orchestrator",
        "message": "The task is paused: Lunch.",
        "checkpoint": "verify",
    }
    cancelled = ev.RunStateChanged(change=ev.RUN_STATE_CHANGE_CANCELLED, by="ada")
    _, name, body = read(dialect.row(recorded("run_state", cancelled, 8)))
    assert (name, body["was_paused"]) == ("workflow.cancelled", True)


def test_an_error_has_the_name_and_the_type_that_clients_expect() -> None:
    _, name, body = read(TaskDialect().row(recorded("error")))
    assert (name, body["type"]) == ("error", "ERROR_OCCURRED")


def test_pieces_of_the_answer_repeat_the_ids_of_the_last_row() -> None:
    dialect = TaskDialect()
    dialect.row(recorded("stage"))
    piece = Delta(after_sequence=7, attempt=1, offset=0, text="Be\u2028cause")
    position, name, body = read(dialect.delta(piece, HEAD))
    assert (position, name) == ("1736937000123-7", "thread.message.delta")
    assert body == {
        "delta": "Be\u2028cause",
        "workflow_id": "r",
        "agent_id": "synthesizer",
        "seq": 7,
        "stream_id": "1736937000123-7",
    }


def test_a_client_that_came_back_by_a_sequence_alone_gets_sequences() -> None:
    piece = Delta(after_sequence=7, attempt=1, offset=0, text="x")
    position, _, body = read(TaskDialect().delta(piece, HEAD))
    assert (position, body["seq"]) == ("7", 7)
    assert "stream_id" not in body
    position, _, _ = read(TaskDialect(stream_id="5-7").done("COMPLETED", HEAD))
    assert position == "5-7"


def test_only_the_wanted_types_are_sent_by_either_of_their_names() -> None:
    dialect = TaskDialect(types=frozenset({"LLM_PARTIAL", "RESEARCH_PLAN_READY", "made up"}))
    assert dialect.row(recorded("plan"))
    assert dialect.delta(Delta(after_sequence=7, attempt=1, offset=0, text="x"), HEAD)
    assert not dialect.row(recorded("answer"))
    assert not dialect.reset(1, HEAD)
    assert not dialect.done("COMPLETED", HEAD)
    for end in ("STREAM_END", "done"):
        assert read(TaskDialect(types=frozenset({end})).done("COMPLETED", HEAD))[2] == "[DONE]"


@pytest.mark.parametrize("name", ["answer", "error"])
def test_a_task_goes_on_until_a_row_says_that_it_ended(name: str) -> None:
    assert TaskDialect().state_after(recorded(name), "RUNNING") == "RUNNING"
    done = ev.RunStateChanged(change=ev.RUN_STATE_CHANGE_EXPIRED, by="system")
    assert TaskDialect().state_after(recorded("run_state", done), "RUNNING") == "EXPIRED"


def test_the_answer_of_a_task_whose_events_are_gone_is_still_told() -> None:
    message = {"answer": {"markdown": "Because.", "citations": []}}
    _, name, body = read(TaskDialect().snapshot(message, HEAD))
    assert (name, body["response"]) == ("thread.message.completed", "Because.")
    assert TaskDialect().snapshot({"answer": None}, HEAD) == b""


def test_a_stream_says_whose_events_it_has() -> None:
    assert greeting("r") == b": events of workflow r\n\n"


def test_an_event_has_the_same_ids_wherever_it_is_read() -> None:
    row = recorded("plan_feedback")
    event = task_event(row)
    assert event is not None
    body = standard(event, row)
    assert (body["seq"], body["stream_id"]) == (7, stream_id_of(row))
    assert body["timestamp"] == "2025-01-15T10:30:00.123Z"


def test_the_published_table_has_every_event_with_its_types() -> None:
    table = DOCS.read_text(encoding="utf-8").partition("| event | type |")[2]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", table.partition("\n\n")[0], re.MULTILINE)
    assert {name for name, _ in rows} == set(TABLE)
    for name, types in rows:
        told = task_event(recorded(name))
        assert told is None or f"`{told.type}`" in types, name
    changes = set(re.findall(r"[A-Z_]{4,}", dict(rows)["run_state"]))
    assert {kind for kind, _ in CHANGES.values()} <= changes
