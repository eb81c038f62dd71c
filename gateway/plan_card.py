"""A plan to review, or a step that needs consent, as a card of plain text; pure."""

from collections.abc import Iterator

from gateway import events
from gateway.plain_text import indented, one_line, paragraphs

TEXT_CHARACTERS = 1_200
# A plan is read whole, but a terminal must not be flooded either.
PLAN_CHARACTERS = 20_000

Choices = list[tuple[str, str]]

LATER_CHOICE = ("l", "Decide later")


def plan_lines(message: str, payload: events.PlanCheckpoint) -> Iterator[str]:
    """The plan, or what the planner asks before it can make one."""
    yield f"Research plan, round {payload.round} of {payload.max_rounds}"
    yield from indented(one_line(message, TEXT_CHARACTERS))
    yield ""
    yield "The planner asks" if payload.intent == "feedback" else "The plan"
    yield from paragraphs(payload.text[:PLAN_CHARACTERS])
    if payload.current_plan and payload.current_plan != payload.text:
        yield ""
        yield "The plan so far, which an approval confirms"
        yield from paragraphs(payload.current_plan[:PLAN_CHARACTERS])


def plan_choices(payload: events.PlanCheckpoint) -> Choices:
    """What can be done with the plan: the last round's is approved or left."""
    offered: Choices = []
    if payload.current_plan:
        offered.append(("a", "Approve the plan and start the research"))
    if payload.round < payload.max_rounds:
        offered.append(("f", "Send feedback to the planner"))
    return [*offered, LATER_CHOICE]


def approval_lines(message: str, payload: events.ApprovalCheckpoint) -> Iterator[str]:
    """What consent is asked for, and why."""
    yield "Consent is needed"
    yield from indented(one_line(message, TEXT_CHARACTERS))
    if payload.reason and payload.reason != message:
        yield ""
        yield "Why"
        yield from indented(one_line(payload.reason, TEXT_CHARACTERS))
    if payload.tool:
        yield ""
        yield "Tool"
        yield f"  {one_line(payload.tool, 80)}"


def approval_choices(payload: events.ApprovalCheckpoint) -> Choices:
    """To consent, or not."""
    refused = "Do without this tool" if payload.subject == "tool" else "Do not start the research"
    return [("a", "Approve"), ("r", refused), LATER_CHOICE]
