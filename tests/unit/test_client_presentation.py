import io
import json
from dataclasses import replace
from typing import Any

import pytest

from gateway import events
from gateway.plain_text import clean, one_line
from gateway.presentation import byline, call_line, result_line, source_lines
from gateway.sse import ServerEvent
from gateway.terminal import screen_for
from gateway.watching import WatchedRun, after

SESSION, RUN = "a" * 32, "b" * 32


def happened(name: str, position: str = "1", **data: Any) -> ServerEvent:
    head = {
        "session_id": SESSION,
        "invocation_id": RUN,
        "sequence": 1,
        "time": "2026-01-01T00:00:00Z",
    }
    return ServerEvent(id=position, name=name, data={**head, **data})


def citation(**fields: Any) -> dict[str, Any]:
    return {
        "number": 1,
        "passage_id": "p" * 32,
        "library": "user",
        "item_key": "AAAAAAAA",
        "attachment_key": "BBBBBBBB",
        "title": "Sleep and memory",
        "creators": ["Meyer, A."],
        "year": "2019",
        "page_label": "S4",
        "page_index": 3,
        "quote": "Sleep helps.",
        "support": "verified",
        "score": 1.0,
        "judged_by": "quote",
        "open_uri": "zotero://open-pdf/library/items/BBBBBBBB?page=4",
        "select_uri": "zotero://select/library/items/AAAAAAAA",
        "statement": "Sleep helps.",
        "reading_state": "full",
        **fields,
    }


ANSWER = happened(
    "answer",
    "9",
    markdown="Meyer (2019) reports: “Sleep helps.” [1]",
    citations=[citation()],
    gaps=["effects of naps"],
    support={"verified": 1, "weak": 0, "unsupported": 0, "unchecked": 0},
    usage={
        "calls": 3,
        "words": 1200,
        "passages": 1,
        "input_tokens": 0,
        "output_tokens": 0,
        "seconds": 0.84,
    },
    answered=True,
    model="offline",
)
CALL = happened(
    "tool_call",
    step_id="s1",
    tool="search_corpus",
    arguments={"query": "sleep", "limit": 5},
    call_number=1,
    call_limit=10,
    **{"pass": 0},
)
RESULT = happened(
    "tool_result", step_id="s1", ok=True, passages=[], words=400, words_total=400, word_limit=7500
)
STARTED = happened(
    "run_started",
    prompt="Why?",
    options=None,
    ceilings={"calls": 10, "words": 7500, "passages": 15},
    warnings=["max_extensions was lowered to 2"],
)
DONE = happened("done", "", state="COMPLETED")


def watched(*told: ServerEvent) -> WatchedRun:
    run = WatchedRun()
    for event in told:
        run = after(run, event)
    return run


def test_a_run_is_known_by_its_events() -> None:
    run = watched(STARTED, CALL, RESULT, ANSWER, DONE)
    assert (run.session_id, run.invocation_id, run.state) == (SESSION, RUN, "COMPLETED")
    assert (run.call_number, run.call_limit) == (1, 10)
    assert (run.words, run.word_limit) == (400, 7500)
    assert run.answer is not None
    assert run.answer.answered


SNAPSHOT = happened(
    "snapshot",
    "12",
    prompt="Why?",
    created_at="2026-01-01T00:00:00Z",
    state="COMPLETED",
    stage="verify",
    last_event_id="9",
    started=None,
    steps=[{**CALL.data, "result": RESULT.data}],
    thoughts=[],
    checkpoints=[],
    answer=ANSWER.data,
)


def test_a_snapshot_tells_the_whole_run_at_the_position_of_its_frame() -> None:
    run = watched(happened("error", "3", code="X", message="No.", retryable=True), SNAPSHOT)
    assert run.failure is None
    assert (run.call_number, run.words, run.last_id) == (1, 400, "12")
    assert run.answer == watched(ANSWER).answer
    output, _ = shown(SNAPSHOT, DONE)
    assert output.count("Meyer (2019)") == 1


def test_events_and_fields_of_a_later_version_change_nothing() -> None:
    later = ServerEvent(id="2", name="hologram", data={})
    more = ServerEvent(id="9", name="answer", data={**ANSWER.data, "mood": "good"})
    assert replace(watched(STARTED, later), last_id="1") == watched(STARTED)
    assert watched(STARTED, more) == watched(STARTED, ANSWER)


def piece(text: str, offset: int) -> ServerEvent:
    return happened("answer_delta", text=text, attempt=1, offset=offset)


def test_pieces_of_an_answer_join_and_overlaps_replace() -> None:
    assert watched(piece("Sleep ", 0), piece("helps.", 6), piece("helps memory.", 6)).text == (
        "Sleep helps memory."
    )


def test_a_piece_after_a_hole_waits_and_a_reset_begins_anew() -> None:
    assert watched(piece("Sleep ", 0), piece("memory", 20)).text == "Sleep "
    assert watched(piece("Sleep ", 0), happened("answer_reset", attempt=2)).text == ""


def test_a_source_tells_what_where_and_how_well_supported() -> None:
    assert source_lines(events.Citation.model_validate(citation())) == [
        "[1] Sleep and memory — Meyer, A. (2019), p. S4  ✓ verified",
        "    “Sleep helps.”",
        "    zotero://open-pdf/library/items/BBBBBBBB?page=4",
    ]


@pytest.mark.parametrize(
    ("creators", "year", "line"),
    [
        ([], "", "without author (no date)"),
        (["A", "B"], "2020", "A, B (2020)"),
        (["A", "B", "C", "D"], "2020", "A et al. (2020)"),
    ],
)
def test_creators_are_named_briefly(creators: list[str], year: str, line: str) -> None:
    assert byline(creators, year) == line


def test_untrusted_text_cannot_drive_the_terminal() -> None:
    hostile = "a\x1b]8;;http://x\x07b\x9b2J\u202ec\r\nd"
    assert not set(clean(hostile)) & set("\x1b\x07\x9b\u202e\r")
    shown = events.Citation.model_validate(citation(title=hostile, quote=hostile))
    assert all(line.isprintable() for line in source_lines(shown))
    assert one_line("x" * 50, 10) == "x" * 9 + "…"


def test_steps_read_as_what_was_done_and_found() -> None:
    run = watched(CALL, RESULT)
    assert call_line(run.calls["s1"]) == "Search: sleep"
    result = events.ToolResult.model_validate(RESULT.data, extra="ignore")
    assert result_line(result) == " → 0 passages, 400 new words"


def shown(*told: ServerEvent, as_json: bool = False) -> tuple[str, str]:
    output, progress, run = io.StringIO(), io.StringIO(), WatchedRun()
    screen = screen_for(output, progress, as_json=as_json)
    for event in told:
        run = after(run, event)
        screen.show(run, event)
    screen.close()
    return output.getvalue(), progress.getvalue()


def test_a_pipe_gets_the_answer_and_its_sources_without_a_trace_of_colour() -> None:
    output, progress = shown(STARTED, CALL, RESULT, piece("Meyer", 0), ANSWER, DONE)
    assert output.splitlines()[0] == "Meyer (2019) reports: “Sleep helps.” [1]"
    assert output.count("Meyer (2019)") == 1
    assert "Sources" in output
    assert "  - effects of naps" in output
    assert "3 calls · 1,200 words · 1 passage · 0.8 s · written by offline" in output
    assert progress.splitlines() == [
        "! max_extensions was lowered to 2",
        "✓ Search: sleep → 0 passages, 400 new words",
    ]
    assert "\x1b" not in output + progress


def test_json_is_one_event_a_line() -> None:
    output, progress = shown(STARTED, CALL, ANSWER, DONE, as_json=True)
    lines = [json.loads(line) for line in output.splitlines()]
    assert [line["event"] for line in lines] == ["run_started", "tool_call", "answer", "done"]
    assert lines[2]["data"]["citations"][0]["page_label"] == "S4"
    assert progress == ""


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_the_steps_and_then_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    output, run = Terminal(), WatchedRun()
    screen = screen_for(output, io.StringIO(), as_json=False)
    for event in (STARTED, CALL, RESULT, piece("Meyer", 0), ANSWER, DONE):
        run = after(run, event)
        screen.show(run, event)
    screen.close()
    text = output.getvalue()
    assert "Search: sleep" in text
    assert "✓ verified" in text
    assert text.rindex("Sources") > text.rindex("Meyer (2019)")
