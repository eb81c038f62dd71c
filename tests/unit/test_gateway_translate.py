"""From recorded events to frames: names, bodies, positions, and text that stays on one line."""

import json
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from gateway import convert, translate
from gateway.cursor import Cursor, Delta
from gateway.events import Event
from gateway.message import HEAD, message_of
from gateway.openapi import EVENT_DATA
from tests.fakes.gateway_peers import question
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.events.v1 import event_pb2 as ev

CITATION = ev.Citation(
    number=1,
    passage_id="ab",
    page_index=-1,
    support=ev.SUPPORT_LEVEL_VERIFIED,
    reading_state=corpus.READING_STATE_ABSTRACT_ONLY,
)
PAYLOADS: dict[str, Any] = {
    "run_started": ev.RunStarted(
        prompt="Why?", options=ev.RunOptions(), ceilings=ev.Ceilings(calls=10), warnings=["Low."]
    ),
    "stage": ev.StageEntered(stage=ev.STAGE_VERIFY),
    "thought": ev.Thought(agent="search", text="Hm."),
    "tool_call": ev.ToolCalled(step_id="pass_0/turn_1/call_0", arguments='{"query": "x"}'),
    "tool_result": ev.ToolReturned(
        step_id="pass_0/turn_1/call_0",
        passages=[ev.FoundPassage(passage_id="ab", item=corpus.ItemRef(library="user"))],
    ),
    "report": ev.Reported(covered_summary="All.", gaps=["One"], automatic=True, reason="Idle."),
    "rerank": ev.Reranked(considered=3, kept=2, words_kept=400, model="m"),
    "answer_reset": ev.AnswerReset(attempt=2),
    "answer": ev.Answered(
        markdown="Because.",
        citations=[CITATION],
        support=ev.SupportCounts(verified=1),
        usage=ev.Usage(input_tokens=2**40),
    ),
    "error": ev.Failed(code="X", message="No.", retryable=True),
    "request_input": question(expires_at=Timestamp(seconds=9)),
    "checkpoint_answered": ev.CheckpointAnswered(
        interrupt_id="interrupt_ext_1",
        action=ev.DECISION_ACTION_SYNTHESIZE,
        guidance="Table 3",
        answered_by="ada",
        answered_at=Timestamp(seconds=2),
    ),
    "run_state": ev.RunStateChanged(change=ev.RUN_STATE_CHANGE_REWOUND, by="ada", reason="Old."),
    "plan": ev.PlanDrafted(
        round=1, version=1, intent=ev.PLAN_INTENT_READY, text="1. Naps", current_plan="1. Naps"
    ),
    "plan_feedback": ev.PlanCommented(round=2, version=2, message="Dose too.", by="ada"),
}
CHAT = translate.ChatDialect()
MADE_BY_THE_GATEWAY = {"answer_delta", "snapshot", "done"}


def event(name: str, sequence: int = 3) -> ev.Event:
    return ev.Event(
        session_id="s",
        run_id="r",
        sequence=sequence,
        time=Timestamp(seconds=1),
        **{name: PAYLOADS[name]},
    )


def read(frame: bytes) -> dict[str, str]:
    lines = frame.decode().split("\n")
    assert lines[-2:] == ["", ""]
    return dict(line.split(": ", 1) for line in lines[:-2])


def test_every_payload_of_the_proto_has_a_name_and_a_published_body() -> None:
    recorded = {field.name for field in ev.Event.DESCRIPTOR.oneofs_by_name["payload"].fields}
    assert set(translate.ROW_EVENTS) == recorded == set(PAYLOADS)
    assert set(EVENT_DATA) == recorded | MADE_BY_THE_GATEWAY


@pytest.mark.parametrize("name", PAYLOADS)
@pytest.mark.parametrize("is_bare", [False, True])
def test_a_body_is_what_the_description_says(name: str, is_bare: bool) -> None:
    told = event(name)
    if is_bare:
        getattr(told, name).Clear()
        getattr(told, name).SetInParent()
    row = convert.row(told)
    fields = read(row.frame)
    assert (fields["id"], fields["event"]) == ("3", name)
    data = json.loads(fields["data"])
    head = {key: data.pop(key) for key in ("session_id", "invocation_id", "sequence", "time")}
    TypeAdapter(Event).validate_python(head)
    # The published models refuse fields that they do not know, so this finds every difference.
    EVENT_DATA[name].model_validate(data)


def test_enumerations_are_told_in_small_letters_and_large_numbers_as_numbers() -> None:
    answer: Any = convert.row(event("answer")).body
    [citation] = answer["citations"]
    assert (citation["support"], citation["reading_state"]) == ("verified", "abstract_only")
    assert answer["usage"]["input_tokens"] == 2**40
    assert convert.row(event("stage")).body["stage"] == "verify"


def test_a_question_to_a_person_shows_its_payload_and_its_schema_as_objects() -> None:
    body: Any = convert.row(event("request_input")).body
    assert (body["kind"], body["payload"]["trigger"]) == ("budget", "agent")
    assert body["response_schema"] == {"type": "object", "required": ["action"]}
    assert "budget" not in body
    assert convert.checkpoint(question()) == {
        key: value
        for key, value in convert.row(event("request_input")).body.items()
        if key not in HEAD | {"expires_at"}
    }


@pytest.mark.parametrize(
    ("change", "state"),
    [("CANCELLED", "CANCELLED"), ("REWOUND", "REWOUND"), ("RETRIED", "RUNNING")],
)
def test_a_change_from_outside_leaves_its_state(change: str, state: str) -> None:
    told = event("run_state")
    told.run_state.change = ev.RunStateChange.Value(f"RUN_STATE_CHANGE_{change}")
    assert translate.state_after(convert.row(told), "AWAITING_INPUT") == state


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("request_input", "AWAITING_INPUT"),
        ("checkpoint_answered", "RUNNING"),
        ("answer", "COMPLETED"),
        ("error", "FAILED"),
        ("stage", "RUNNING"),
    ],
)
def test_a_row_leaves_its_run_in_a_state(name: str, state: str) -> None:
    assert translate.state_after(convert.row(event(name)), "QUEUED") == state


def test_a_row_of_a_later_version_leaves_the_state_alone() -> None:
    row = convert.row(ev.Event(session_id="s", run_id="r", sequence=9, time=Timestamp(seconds=1)))
    assert translate.state_after(row, "PAUSED") == "PAUSED"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ('{"query": "x", "limit": 3}', {"query": "x", "limit": 3}),
        ("", {"text": ""}),
        ("[1]", {"text": "[1]"}),
        ("{garbled", {"text": "{garbled"}),
    ],
)
def test_arguments_are_an_object_whatever_a_model_wrote(written: str, shown: object) -> None:
    called = event("tool_call")
    called.tool_call.arguments = written
    assert convert.row(called).body["arguments"] == shown


def test_a_value_of_a_later_version_is_unspecified() -> None:
    told = ev.Event.FromString(event("stage").SerializeToString() + bytes([0x5A, 2, 8, 99]))
    assert convert.row(told).body["stage"] == "unspecified"


def test_an_event_of_a_later_version_is_passed_without_a_frame() -> None:
    row = convert.row(ev.Event(session_id="s", run_id="r", sequence=9, time=Timestamp(seconds=1)))
    assert (row.sequence, row.frame) == (9, b"")


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b"[]", b'{"sequence": 1e30}', b'{"offset": "x"}']
)
def test_a_broken_message_is_unreadable(body: bytes) -> None:
    for reader in (convert.row_from_bus, convert.delta_from_bus):
        with pytest.raises(convert.Unreadable):
            reader(body)


@pytest.mark.parametrize(
    "odd", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1e", "\x85", "\u2028", "\u2029", "\t"]
)
def test_data_is_one_line_for_every_reader(odd: str) -> None:
    line = translate.one_line({"text": f"a{odd}b"})
    assert len(line.splitlines()) == 1
    assert json.loads(line) == {"text": f"a{odd}b"}


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\0b", "a\ufffdb"),
        ("\\u0000", "\\u0000"),
        ("\\\0", "\\\ufffd"),
        ("\\\\u0000\0", "\\\\u0000\ufffd"),
        ("\ud800", "\ufffd"),
        ("😀", "😀"),
    ],
)
def test_what_no_reader_takes_is_cleaned(text: str, cleaned: str) -> None:
    line = translate.one_line({"text": text})
    assert json.loads(line.encode()) == {"text": cleaned}


@given(st.text())
def test_any_text_arrives_as_it_was(text: str) -> None:
    line = translate.one_line({"text": text})
    assert json.loads(line.encode())["text"] == text.replace("\0", "\ufffd")
    assert len(line.splitlines()) == 1


def test_pieces_and_resets_have_positions_in_the_text() -> None:
    head = translate.head_of("s", "r", Cursor(7), "2026-01-01T00:00:00Z")
    piece = Delta(after_sequence=7, attempt=2, offset=5, text="x")
    assert read(CHAT.delta(piece, head))["id"] == "7.2.5"
    assert read(CHAT.reset(2, head))["id"] == "7.2.0"
    assert read(CHAT.done("FAILED", head))["id"] == "7"


def test_a_frame_about_the_stream_moves_no_position() -> None:
    head = translate.head_of("s", "r", Cursor(7), "2026-01-01T00:00:00Z")
    told = read(CHAT.interruption("PEER_DOWN", "Away.", head, retryable=True))
    assert "id" not in told
    assert json.loads(told["data"])["retryable"] is True
    assert b"id:" not in translate.PING


def test_a_message_is_put_together_from_its_rows() -> None:
    names = ["run_started", "stage", "thought", "tool_call", "tool_result", "report", "answer"]
    rows = [convert.row(event(name, n)) for n, name in enumerate(names, 1)]
    message: dict[str, Any] = message_of(rows)
    [step] = message["steps"]
    assert step["result"]["passages"][0]["passage_id"] == "ab"
    assert message["stage"] == "verify"
    assert message["answer"]["markdown"] == "Because."
    assert message["last_event_id"] == "7"
    assert "session_id" not in message["report"]


def test_a_message_tells_each_checkpoint_with_its_answer() -> None:
    other = event("request_input", 3)
    other.request_input.interrupt_id = "interrupt_ext_2"
    rows = [event("request_input", 1), event("checkpoint_answered", 2), other]
    message: dict[str, Any] = message_of(map(convert.row, rows))
    first, second = message["checkpoints"]
    assert first["answered"]["guidance"] == "Table 3"
    assert (second["interrupt_id"], second["answered"]) == ("interrupt_ext_2", None)


def test_a_retry_takes_the_failure_out_of_the_message() -> None:
    retried = event("run_state", 2)
    retried.run_state.change = ev.RUN_STATE_CHANGE_RETRIED
    rows = [convert.row(event("error", 1)), convert.row(retried)]
    assert message_of(rows[:1])["error"] is not None
    assert message_of(rows)["error"] is None


def test_a_message_keeps_the_latest_plan_with_the_conversation_that_led_to_it() -> None:
    rows = [convert.row(event(name, at)) for at, name in enumerate(("plan", "plan_feedback"), 1)]
    plan = message_of(rows)["plan"]
    assert isinstance(plan, dict)
    assert (plan["version"], plan["current_plan"], plan["intent"]) == (1, "1. Naps", "ready")
    said = [(one["author"], one["round"], one["message"]) for one in plan["rounds"]]
    assert said == [("planner", 1, "1. Naps"), ("person", 2, "Dose too.")]


@pytest.mark.parametrize(
    ("error", "state"), [("REVIEW_EXPIRED", "EXPIRED"), ("PEER_TIMEOUT", "FAILED")]
)
def test_a_review_whose_time_was_over_is_no_failure(error: str, state: str) -> None:
    row = convert.row(ev.Event(sequence=1, time=Timestamp(seconds=1), error=ev.Failed(code=error)))
    assert translate.state_after(row, "AWAITING_INPUT") == state
