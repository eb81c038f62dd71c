"""When a pass ends, what its report says, and whether a checkpoint follows. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from services.orchestrator.ceilings import Ceilings
from services.orchestrator.options import Options
from services.orchestrator.tools import Conclude, RequestExtension

IDLE_TURNS = 2


class Ending(StrEnum):
    """Why a pass ended."""

    CONCLUDED = "concluded"
    ASKED = "asked"
    SILENT = "silent"
    IDLE = "idle"
    TURNS = "turns"
    TOKENS = "tokens"


class Trigger(StrEnum):
    """Why a checkpoint is set."""

    AGENT = "agent"
    GAPS = "gaps"


class CallOutcome(StrEnum):
    """What became of a call, as far as the end of a pass and its report depend on it.

    REFUSED is a call whose arguments could not be used, FAILED one that search answered with an
    error, CONTROL one that is not a retrieval.
    """

    NEW = "new"
    EMPTY = "empty"
    FAILED = "failed"
    REPEATED = "repeated"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"
    REFUSED = "refused"
    CONTROL = "control"


# Calls that bring a pass no further: two turns of nothing else end it.
IDLE_OUTCOMES = frozenset({CallOutcome.BLOCKED, CallOutcome.UNKNOWN, CallOutcome.REPEATED})
UNANSWERED = frozenset({CallOutcome.EMPTY, CallOutcome.FAILED, CallOutcome.BLOCKED})


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One finished call of a pass."""

    outcome: CallOutcome
    # The query of a search, empty for any other call.
    query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One finished turn of a pass: its calls, and the last request to stop among them."""

    calls: tuple[CallRecord, ...]
    conclusion: Conclude | None = None
    extension: RequestExtension | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing new was tried."""
        return all(call.outcome in IDLE_OUTCOMES for call in self.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a pass found and what it left open."""

    summary: str
    gaps: tuple[str, ...]
    automatic: bool
    reason: str
    ending: Ending
    # Whether the agent asked for an extension in this pass, and why.
    asked: bool
    justification: str = ""


def turn_limit(ceilings: Ceilings) -> int:
    """The most turns that a pass may take."""
    return 2 * ceilings.calls + 3


def ending(turns: Sequence[Turn], ceilings: Ceilings) -> Ending | None:
    """Why the pass is over after these turns; None while it goes on."""
    if not turns:
        return None
    last = turns[-1]
    if last.conclusion is not None:
        return Ending.CONCLUDED
    if last.extension is not None:
        return Ending.ASKED
    if not last.calls:
        return Ending.SILENT
    if len(turns) >= IDLE_TURNS and all(turn.is_idle for turn in turns[-IDLE_TURNS:]):
        return Ending.IDLE
    if len(turns) >= turn_limit(ceilings):
        return Ending.TURNS
    return None


REASONS = {
    Ending.ASKED: "The search agent asked for an extension.",
    Ending.SILENT: "The search agent stopped without a conclusion.",
    Ending.IDLE: "The search agent made only blocked, unknown or repeated calls twice in a row.",
    Ending.TURNS: "The search agent reached the limit of turns.",
    Ending.TOKENS: "The search used up the tokens that it may; the rest is kept for the answer.",
}


def report(
    turns: Sequence[Turn],
    why: Ending,
    *,
    question: str,
    found_any: bool,
    before: Report | None = None,
) -> Report:
    """The agent's own report if it concluded, else one made from the record.

    `before` is the report of the pass that this one extends. Its gaps stay open unless the agent
    says otherwise or a search for just that text brought something.
    """
    extension = next((turn.extension for turn in reversed(turns) if turn.extension), None)
    conclusion = turns[-1].conclusion if turns else None
    justification = extension.justification if extension else ""
    if conclusion is not None:
        return Report(
            summary=conclusion.summary,
            gaps=_unique(conclusion.gaps),
            automatic=False,
            reason="",
            ending=why,
            asked=extension is not None,
            justification=justification,
        )
    missing = extension.missing_aspects if extension else _still_open(turns, before)
    gaps = _unique([*missing, *unanswered_queries(turns)])
    if not gaps and not found_any:
        gaps = (question,)
    return Report(
        summary=extension.covered_summary if extension else _covered(turns, before),
        gaps=gaps,
        automatic=True,
        reason=REASONS[why],
        ending=why,
        asked=extension is not None,
        justification=justification,
    )


def unanswered_queries(turns: Sequence[Turn]) -> tuple[str, ...]:
    """Queries that no call of the pass answered, in the order they were first asked."""
    answered = set(_answered_queries(turns))
    return _unique(
        call.query
        for turn in turns
        for call in turn.calls
        if call.query and call.outcome in UNANSWERED and call.query not in answered
    )


def _answered_queries(turns: Sequence[Turn]) -> Iterable[str]:
    return (
        call.query
        for turn in turns
        for call in turn.calls
        if call.query and call.outcome is CallOutcome.NEW
    )


def _still_open(turns: Sequence[Turn], before: Report | None) -> tuple[str, ...]:
    answered = set(_answered_queries(turns))
    return tuple(gap for gap in before.gaps if gap not in answered) if before else ()


def _covered(turns: Sequence[Turn], before: Report | None) -> str:
    earlier = [before.summary] if before and before.summary else []
    return "; ".join(_unique([*earlier, *_answered_queries(turns)]))


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def checkpoint(last: Report, options: Options, *, extensions_used: int) -> Trigger | None:
    """Why an extension is to be decided on after a pass; None: straight on to rerank."""
    may_extend = options.hitl_enabled or options.extends_itself
    if not may_extend or extensions_used >= options.max_extensions or not last.gaps:
        return None
    return Trigger.AGENT if last.asked else Trigger.GAPS
