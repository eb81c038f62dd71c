"""Messages in JSON are completed as protobuf itself would complete them."""

from collections.abc import Mapping
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict, ParseDict

from gateway.completion import Malformed, completed
from zocrates.events.v1 import event_pb2 as ev

HEAD = {"session_id": "s", "run_id": "r", "sequence": "7", "time": "2026-11-30T10:00:00.120000Z"}
PAYLOADS: Mapping[str, Mapping[str, Any]] = {
    "run_started": {"prompt": "Why?", "options": {"max_extensions": 2}, "warnings": ["one"]},
    "stage": {"stage": "STAGE_SEARCH", "pass": 1},
    "tool_call": {"step_id": "a", "arguments": '{"query": "q"}', "call_number": 1},
    "tool_result": {
        "step_id": "a",
        "ok": True,
        "passages": [{"passage_id": "p", "item": {"library": "user"}, "later": 1}, {}],
        "notice": "",
    },
    "request_input": {
        "interrupt_id": "i",
        "kind": "CHECKPOINT_KIND_OF_LATER",
        "expires_at": "2026-11-30T10:00:00+02:00",
        "budget": {"gaps": ["g"], "used": {"calls": 3}},
    },
    "checkpoint_answered": {"answered_at": "2026-11-30T10:00:00.000000Z"},
    "answer": {
        "markdown": "Text.",
        "citations": [{"number": 1, "score": 0.1234567890123, "support": "SUPPORT_LEVEL_WEAK"}],
        "usage": {"input_tokens": "12", "seconds": 1.5},
    },
    "of_later": {"any": 1},
}


@pytest.mark.parametrize("name", PAYLOADS)
def test_json_is_completed_as_protobuf_completes_it(name: str) -> None:
    told = {**HEAD, name: PAYLOADS[name]}
    expected = MessageToDict(
        ParseDict(told, ev.Event(), ignore_unknown_fields=True),
        preserving_proto_field_name=True,
        always_print_fields_with_no_presence=True,
    )
    assert completed(told, ev.Event) == expected


@pytest.mark.parametrize(
    "broken",
    [
        [],
        {"time": "yesterday"},
        {"stage": "search"},
        {"tool_result": {"passages": {}}},
        {"tool_result": {"passages": ["p"]}},
    ],
)
def test_what_has_not_the_shape_of_the_message_is_malformed(broken: object) -> None:
    with pytest.raises(Malformed):
        completed(broken, ev.Event)
