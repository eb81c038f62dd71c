"""What the search agent asked for and got back, turn by turn: its only memory. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from services.orchestrator.passages import Evidence, Passage
from services.orchestrator.trigger import CallOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call as the agent wrote it; its arguments may be malformed."""

    call_id: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of a document, as a tool returned it."""

    section_id: str
    title: str
    level: int
    first_page_label: str
    last_page_label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A passage as search gave it, before anything was charged."""

    passage: Passage
    similarity: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A passage in a result; its text is left out when an earlier call returned it."""

    evidence: Evidence
    similarity: float | None
    seen_before: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a call gave back, and what it cost."""

    call_id: str
    outcome: CallOutcome
    query: str = ""
    found: tuple[Found, ...] = ()
    sections: tuple[Section, ...] = ()
    words: int = 0
    # Whether the word ceiling cut the result: from here on no text is returned.
    cut: bool = False
    notice: str = ""
    error: str = ""

    @property
    def ok(self) -> bool:
        """Whether the call was made and answered."""
        return not self.error

    @property
    def fresh(self) -> tuple[Evidence, ...]:
        """The passages that this result brought first."""
        return tuple(one.evidence for one in self.found if not one.seen_before)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class TurnRecord:
    """One turn of a pass: all calls, admitted together, and the results in their order.

    A turn never changes, so what is made of it may be kept for as long as it lives.
    """

    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...] = ()


def result_to_json(result: ToolResult) -> dict[str, Any]:
    """A result as its step's output: passages by id, since evidence has their text."""
    return {
        "call_id": result.call_id,
        "outcome": result.outcome,
        "query": result.query,
        "found": [
            [one.evidence.passage.id, one.similarity, one.seen_before] for one in result.found
        ],
        "sections": [asdict(section) for section in result.sections],
        "words": result.words,
        "cut": result.cut,
        "notice": result.notice,
        "error": result.error,
    }


def result_from_json(data: Mapping[str, Any], evidence: Mapping[str, Evidence]) -> ToolResult:
    """The result that `result_to_json` wrote."""
    return ToolResult(
        call_id=data["call_id"],
        outcome=CallOutcome(data["outcome"]),
        query=data["query"],
        found=tuple(
            Found(evidence=evidence[passage_id], similarity=similarity, seen_before=seen)
            for passage_id, similarity, seen in data["found"]
        ),
        sections=tuple(Section(**section) for section in data["sections"]),
        words=data["words"],
        cut=data["cut"],
        notice=data["notice"],
        error=data["error"],
    )


def calls_to_json(calls: Sequence[ToolCall], numbers: Sequence[int]) -> list[dict[str, Any]]:
    """A turn's calls with the numbers that they were admitted under."""
    return [{**asdict(call), "number": number} for call, number in zip(calls, numbers, strict=True)]


def calls_from_json(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[ToolCall, int], ...]:
    """The calls and numbers that `calls_to_json` wrote."""
    return tuple(
        (
            ToolCall(call_id=row["call_id"], tool=row["tool"], arguments=row["arguments"]),
            row["number"],
        )
        for row in rows
    )
