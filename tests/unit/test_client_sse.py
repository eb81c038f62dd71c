import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.sse import EventParser, ServerEvent

STREAM = (
    "\ufeff: hello\n\n"
    'id: 1\nevent: run_started\ndata: {"prompt": "Wo liegt Ü? 🧪"}\n\n'
    ": ping\n\n"
    'id: 2.1.0\r\nevent: answer_delta\r\ndata: {"text": "a\\u2028b"}\r\n\r\n'
    'event: done\rdata: {"state":\rdata: "COMPLETED"}\r\r'
).encode()
EVENTS = [
    ServerEvent(id="1", name="run_started", data={"prompt": "Wo liegt Ü? 🧪"}),
    ServerEvent(id="2.1.0", name="answer_delta", data={"text": "a\u2028b"}),
    ServerEvent(id="", name="done", data={"state": "COMPLETED"}),
]


def parsed(*pieces: bytes) -> list[ServerEvent]:
    parser = EventParser()
    return [event for piece in pieces for event in parser.feed(piece)]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_events_are_the_same_however_the_bytes_are_cut(cuts: list[int]) -> None:
    borders = [0, *sorted(cuts), len(STREAM)]
    assert parsed(*(STREAM[a:b] for a, b in itertools.pairwise(borders))) == EVENTS


def test_byte_by_byte_is_no_different() -> None:
    assert parsed(*(bytes([byte]) for byte in STREAM)) == EVENTS


def test_comments_and_empty_events_give_nothing() -> None:
    assert parsed(b": ping\n\n\n\nevent: x\n\nid: 3\n\n") == []


def test_an_event_without_a_name_is_a_message_and_unknown_fields_are_left_out() -> None:
    assert parsed(b'retry: 5\nfuture: x\ndata:{"a":1}\n\n') == [
        ServerEvent(id="", name="message", data={"a": 1})
    ]


def test_an_unfinished_event_is_not_given() -> None:
    assert parsed(b'data: {"a": 1}\n') == []


@pytest.mark.parametrize("data", [b"[1]", b"{", b"null"])
def test_data_that_is_no_object_is_an_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parsed(b"data: " + data + b"\n\n")


def test_a_line_of_json_holds_everything_and_nothing_that_a_terminal_obeys() -> None:
    event = ServerEvent(id="1", name="x", data={"text": "é \x1b[31m \x9b \u2028 \n"})
    line = event.as_line()
    assert json.loads(line) == {"id": "1", "event": "x", "data": event.data}
    assert "é" in line
    assert all(letter.isprintable() for letter in line)
