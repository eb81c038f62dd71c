"""The plan stage: a plan is drafted and reviewed; nothing is searched until a person approves it.

The first plan is a recorded step. Everything that is said about it afterwards belongs to the
checkpoint, which no holder of the run has to do with.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Protocol

from services.orchestrator import checkpoint, events
from services.orchestrator.errors import Asked
from services.orchestrator.ledger import Ledger
from services.orchestrator.peers.synth import PlanReply
from services.orchestrator.plans import ConfirmedPlan, Round, first_plan, plan_to_json

KEY = "plan"


class Planner(Protocol):
    """The mind that plans."""

    async def draft_plan(
        self,
        question: str,
        items: Sequence[Mapping[str, Any]],
        *,
        conversation: Sequence[Round] = (),
        current_plan: str = "",
        definitive: bool = False,
    ) -> PlanReply:
        """The first plan, or the reply to what was said last."""


async def reviewed_plan(
    ledger: Ledger,
    planner: Planner,
    *,
    question: str,
    items: Sequence[Mapping[str, Any]],
    patience: timedelta | None,
) -> ConfirmedPlan:
    """The plan that a person approved. Raises Asked while none is."""
    known = ledger.checkpoint(checkpoint.PLAN_REVIEW)
    if known is not None and known.plan is not None:
        if known.decision is not None:
            return ConfirmedPlan(text=known.plan.current_plan, conversation=ledger.rounds)
        # The review was withdrawn and the run taken up again: it goes on where it was.
        deadline = await ledger.deadline(patience)
        await ledger.ask(
            checkpoint.plan_question(known.plan, version=known.version + 1, expires_at=deadline)
        )
        raise Asked
    async with ledger.working("plan", KEY):
        drafted = await planner.draft_plan(question, items)
    plan = first_plan(question, drafted.reply)
    deadline = await ledger.deadline(patience)
    await ledger.ask(
        checkpoint.plan_question(plan, version=1, expires_at=deadline),
        events=[
            *events.thought("planner", drafted.spoken.thought),
            events.plan_drafted(plan, version=1),
        ],
        key=KEY,
        output={**plan_to_json(plan), "model": plan.model},
        usage=drafted.spoken.added_to(ledger.usage),
    )
    raise Asked
