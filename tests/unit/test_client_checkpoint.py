"""A checkpoint at a terminal: the card, the decision, and what is told of it afterwards."""

import io
from collections.abc import Iterator
from typing import Any

import pytest

from gateway import events, wire
from gateway.checkpoint_card import (
    BAR_WIDTH,
    Meter,
    added,
    answered_line,
    card_lines,
    choices,
)
from gateway.deciding import Decision, decide
from gateway.sse import ServerEvent
from gateway.terminal import show_checkpoint
from gateway.watching import WatchedRun, after, run_of

PAYLOAD = {
    "extension_number": 1,
    "max_extensions": 2,
    "trigger": "agent",
    "covered_summary": "Naps help memory.",
    "gaps": ["Older adults", "Dose"],
    "used": {"calls": 10, "words": 6200, "passages_found": 31, "documents": 7},
    "limits": {"calls": 10, "words": 7500, "passages": 15},
    "next_limits": {"calls": 15, "words": 11250, "passages": 20},
    "justification": "Two aspects have no source yet.",
}
REQUEST = {
    "interrupt_id": "interrupt_ext_1",
    "kind": "budget",
    "version": 3,
    "message": "The search left gaps.",
    "response_schema": {"type": "object"},
    "payload": PAYLOAD,
}


def asked(**fields: Any) -> events.RequestInput:
    return events.RequestInput.model_validate(REQUEST | {"payload": PAYLOAD | fields})


def happened(name: str, position: str = "1", **data: Any) -> ServerEvent:
    return ServerEvent(id=position, name=name, data={"session_id": "s", **data})


def answered(action: str = "extend_budget", **fields: Any) -> dict[str, Any]:
    return {
        "interrupt_id": "interrupt_ext_1",
        "action": action,
        "answered_by": "ada",
        "answered_at": "2026-01-01T00:00:00Z",
        **fields,
    }


def test_a_card_tells_what_was_found_what_is_missing_and_what_more_costs() -> None:
    assert list(card_lines(asked())) == [
        "Deep Research: Extension 1 of 2",
        "  The search left gaps.",
        "",
        "Covered so far",
        "  Naps help memory.",
        "",
        "Not covered yet",
        "  - Older adults",
        "  - Dose",
        "",
        "Why more search would help",
        "  Two aspects have no source yet.",
        "",
        "Used, and with an extension",
        "  calls     ████████████████████▒▒▒▒▒▒▒▒▒▒  10 of 10, then 15",
        "  words     █████████████████░░░▒▒▒▒▒▒▒▒▒▒  6,200 of 7,500, then 11,250",
        "  passages  ██████████████████████▒▒▒▒▒▒▒▒  15 of 15, then 20",
        "  found: 31 passages in 7 documents",
    ]


def test_what_is_not_told_is_left_out() -> None:
    bare = asked(covered_summary="", gaps=[], justification=None, used=None)
    assert list(card_lines(bare)) == [
        "Deep Research: Extension 1 of 2",
        "  The search left gaps.",
    ]
    unknown = events.RequestInput.model_validate(REQUEST | {"payload": None})
    assert list(card_lines(unknown)) == ["The search left gaps."]


@pytest.mark.parametrize(
    ("used", "limit", "next_limit"), [(0, 0, 0), (0, 10, 15), (99, 10, 15), (5, 10, 10), (1, 1, 9)]
)
def test_a_bar_is_always_as_wide(used: int, limit: int, next_limit: int) -> None:
    meter = Meter(name="calls", used=used, limit=limit, next_limit=next_limit)
    assert len(meter.bar) == BAR_WIDTH


def test_hostile_text_stays_text_on_the_card() -> None:
    hostile = asked(gaps=["a\x1b]8;;http://x\x07\u202eb"], covered_summary="c\r\nd\x9b2J")
    assert all(line.isprintable() for line in card_lines(hostile))
    answer = events.CheckpointAnswered.model_validate(answered(guidance="x\x1b[2J"))
    assert answered_line(answer).isprintable()


def test_an_extension_names_what_it_adds() -> None:
    payload = asked().payload
    assert payload is not None
    assert added(payload) == "+5 calls, +3,750 words, +5 passages"
    assert [text for _, text in choices(payload)][1] == "Synthesize Response with Existing Evidence"


def typed(*lines: str) -> Iterator[str]:
    yield from lines
    raise EOFError


@pytest.mark.parametrize(
    ("lines", "decision"),
    [
        (["e", "  Table 3 "], Decision(action="extend_budget", guidance="Table 3")),
        (["E", ""], Decision(action="extend_budget")),
        (["s"], Decision(action="synthesize")),
        (["", "what?", "Synthesize"], Decision(action="synthesize")),
        (["e", "x" * 2001, "shorter"], Decision(action="extend_budget", guidance="shorter")),
        (["e", "caf\udce9"], Decision(action="extend_budget", guidance="caf?")),
        (["exit", "stop", "extend", ""], Decision(action="extend_budget")),
        (["l"], None),
        (["Later"], None),
        ([], None),
    ],
)
def test_a_decision_is_what_was_typed(lines: list[str], decision: Decision | None) -> None:
    payload = asked().payload
    assert payload is not None
    answers = typed(*lines)
    told: list[str] = []

    def ask(prompt: str) -> str:
        try:
            return next(answers)
        except RuntimeError as ended:
            raise EOFError from ended

    assert decide(payload, ask, told.append) == decision
    assert any("Grant Deep Research Extension" in line for line in told)


def test_a_watched_run_waits_and_goes_on_with_larger_limits() -> None:
    run = after(WatchedRun(), happened("request_input", "7", **REQUEST))
    assert run.checkpoint is not None
    assert (run.checkpoint.version, run.last_id) == (3, "7")
    extended = after(run, happened("checkpoint_answered", "8", **answered()))
    assert extended.checkpoint is None
    assert (extended.call_limit, extended.word_limit) == (15, 11250)
    chosen = after(run, happened("checkpoint_answered", "8", **answered("synthesize")))
    assert (chosen.checkpoint, chosen.call_limit) == (None, 0)


def test_a_retried_run_has_not_failed() -> None:
    failed = happened("error", "4", code="X", message="No.", retryable=True)
    run = after(after(WatchedRun(), failed), happened("run_state", "5", change="retried", by="a"))
    assert run.failure is None


def test_a_run_that_was_read_is_watched_from_where_it_stands() -> None:
    message = wire.Message.model_validate(
        {
            "invocation_id": "i",
            "prompt": "Why?",
            "created_at": "2026-01-01T00:00:00Z",
            "state": "AWAITING_INPUT",
            "stage": "search",
            "last_event_id": "12",
            "started": {
                "prompt": "Why?",
                "warnings": [],
                "ceilings": {"calls": 10, "words": 7500, "passages": 15},
            },
            "steps": [],
            "thoughts": [],
            "checkpoints": [
                REQUEST | {"answered": answered()},
                REQUEST | {"interrupt_id": "interrupt_ext_2", "answered": None},
            ],
            "pending_hitl": REQUEST | {"interrupt_id": "interrupt_ext_2", "invocation_id": "i"},
        }
    )
    run = run_of("s", message)
    assert run.checkpoint is not None
    assert run.checkpoint.interrupt_id == "interrupt_ext_2"
    assert (run.call_limit, run.last_id, run.state) == (15, "12", "AWAITING_INPUT")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_card_is_framed_on_a_terminal_and_plain_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    framed, plain = Terminal(), io.StringIO()
    show_checkpoint(asked(), framed)
    show_checkpoint(asked(), plain)
    assert "\x1b" in framed.getvalue()
    assert "╭" in framed.getvalue()
    assert "Extension 1 of 2" in framed.getvalue()
    assert "\x1b" not in plain.getvalue()
    assert "  - Older adults" in plain.getvalue()
