"""A checkpoint as a card of plain text: what was found, what is missing, what more costs; pure."""

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gateway import events
from gateway.plain_text import WIDTH, counted, indented, one_line
from gateway.plan_card import (
    LATER_CHOICE,
    TEXT_CHARACTERS,
    Choices,
    approval_choices,
    approval_lines,
    plan_choices,
    plan_lines,
)

BAR_WIDTH = 30
MOST_GAPS = 20
EXPIRY = "expiry"
Payload = events.BudgetCheckpoint | events.PlanCheckpoint | events.ApprovalCheckpoint

DECIDED = {
    "extend_budget": "Extension granted",
    "synthesize": "Synthesis chosen",
    "approve": "Approved",
    "reject": "Rejected",
}
# Used, still free, and what an extension would add.
USED, FREE, ADDED = "█", "░", "▒"


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """One limit: how much of it is used, and where it would stand after an extension."""

    name: str
    used: int
    limit: int
    next_limit: int

    @property
    def bar(self) -> str:
        """The three parts side by side, to the scale of the next limit."""
        whole = max(self.next_limit, self.limit, 1)
        filled = min(round(BAR_WIDTH * self.used / whole), BAR_WIDTH)
        until = max(round(BAR_WIDTH * self.limit / whole), filled)
        return USED * filled + FREE * (until - filled) + ADDED * (BAR_WIDTH - until)

    @property
    def numbers(self) -> str:
        """The same in numbers."""
        return f"{self.used:,} of {self.limit:,}, then {self.next_limit:,}"


def badge(payload: events.BudgetCheckpoint) -> str:
    """Which extension is asked for."""
    return f"Deep Research: Extension {payload.extension_number} of {payload.max_extensions}"


def meters(payload: events.BudgetCheckpoint) -> list[Meter]:
    """The limits that are known; an answer keeps only so many of the passages found."""
    used, limits, after = payload.used, payload.limits, payload.next_limits
    if used is None or limits is None or after is None:
        return []
    return [
        Meter(name="calls", used=used.calls, limit=limits.calls, next_limit=after.calls),
        Meter(name="words", used=used.words, limit=limits.words, next_limit=after.words),
        Meter(
            name="passages",
            used=min(used.passages_found, limits.passages),
            limit=limits.passages,
            next_limit=after.passages,
        ),
    ]


def added(payload: events.BudgetCheckpoint) -> str:
    """What an extension adds."""
    more = [(meter.name, meter.next_limit - meter.limit) for meter in meters(payload)]
    told = [f"+{counted(number, name.removesuffix('s'))}" for name, number in more if number > 0]
    return ", ".join(told) or "a further pass"


def choices(payload: Payload) -> Choices:
    """The keys that can be pressed, and what each does."""
    match payload:
        case events.PlanCheckpoint():
            return plan_choices(payload)
        case events.ApprovalCheckpoint():
            return approval_choices(payload)
    return [
        ("e", f"Grant Deep Research Extension ({added(payload)})"),
        ("s", "Synthesize Response with Existing Evidence"),
        LATER_CHOICE,
    ]


def card_lines(asked: events.RequestInput) -> Iterator[str]:
    """The whole card."""
    match asked.payload:
        case None:
            yield one_line(asked.message, TEXT_CHARACTERS)
        case events.PlanCheckpoint() as plan:
            yield from plan_lines(asked.message, plan)
        case events.ApprovalCheckpoint() as step:
            yield from approval_lines(asked.message, step)
        case budget:
            yield from _budget_card(asked.message, budget)


def _budget_card(message: str, payload: events.BudgetCheckpoint) -> Iterator[str]:
    yield badge(payload)
    yield from _wrapped(message)
    if payload.covered_summary:
        yield ""
        yield "Covered so far"
        yield from _wrapped(payload.covered_summary)
    if payload.gaps:
        yield ""
        yield "Not covered yet"
        yield from _listed(payload.gaps)
    if payload.justification:
        yield ""
        yield "Why more search would help"
        yield from _wrapped(payload.justification)
    yield from _budget_lines(payload)


def answered_line(answered: events.CheckpointAnswered) -> str:
    """What was decided, and by whom."""
    who = "as its time was over" if answered.answered_by == EXPIRY else f"by {answered.answered_by}"
    line = f"· {DECIDED.get(answered.action, 'Answered')} {one_line(who, 100)}"
    return f"{line}: {one_line(answered.guidance, 200)}" if answered.guidance else line


def _budget_lines(payload: events.BudgetCheckpoint) -> Iterator[str]:
    if not (bars := meters(payload)):
        return
    yield ""
    yield "Used, and with an extension"
    width = max(len(meter.name) for meter in bars)
    for meter in bars:
        yield f"  {meter.name:<{width}}  {meter.bar}  {meter.numbers}"
    if payload.used is not None:
        found = counted(payload.used.passages_found, "passage")
        yield f"  found: {found} in {counted(payload.used.documents, 'document')}"


def _listed(gaps: list[str]) -> Iterator[str]:
    for gap in gaps[:MOST_GAPS]:
        yield from textwrap.wrap(
            one_line(gap, 300), WIDTH, initial_indent="  - ", subsequent_indent="    "
        )
    if len(gaps) > MOST_GAPS:
        yield f"  … and {len(gaps) - MOST_GAPS} more"


def _wrapped(text: str) -> Iterable[str]:
    return indented(one_line(text, TEXT_CHARACTERS))
