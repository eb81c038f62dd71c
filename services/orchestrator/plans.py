"""A plan, its rounds, and what may be done to it: the review before the search begins. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

# The first plan is round 1; with the last one the planner may ask nothing any more.
MAX_ROUNDS = 10
MAX_MESSAGE_BYTES = 10_240
TIMED_OUT = "research plan review timed out"
EXPIRED_CODE = "REVIEW_EXPIRED"


class Author(StrEnum):
    """Who said something about a plan."""

    PLANNER = "PLANNER"
    PERSON = "PERSON"


class Intent(StrEnum):
    """What a message of the planner is: a plan, or questions back."""

    READY = "READY"
    FEEDBACK = "FEEDBACK"


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One message of the conversation about a plan."""

    author: Author
    message: str
    # Of a message of the planner.
    intent: Intent | None = None
    time: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the planner said."""

    message: str
    intent: Intent
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A plan under review: the planner's last message, and what an approval would confirm."""

    query: str
    round: int
    intent: Intent
    text: str
    current_plan: str
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmedPlan:
    """A plan that a person approved, and what was said about it."""

    text: str
    conversation: Sequence[Round]


def first_plan(query: str, reply: Reply) -> Plan:
    """The plan that the review begins with."""
    empty = Plan(query=query, round=0, intent=Intent.FEEDBACK, text="", current_plan="")
    return revised(empty, reply)


def revised(plan: Plan, reply: Reply) -> Plan:
    """The plan after the planner's reply; questions back leave what can be approved as it was."""
    number = plan.round + 1
    intent = Intent.READY if is_definitive(plan) else reply.intent
    return replace(
        plan,
        round=number,
        intent=intent,
        text=reply.message,
        current_plan=reply.message if intent is Intent.READY else plan.current_plan,
        model=reply.model,
    )


def is_definitive(plan: Plan) -> bool:
    """Whether the next round is the last one."""
    return plan.round + 1 >= MAX_ROUNDS


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """The plan as the wire's PlanCheckpoint."""
    return {
        "query": plan.query,
        "round": plan.round,
        "max_rounds": MAX_ROUNDS,
        "intent": f"PLAN_INTENT_{plan.intent}",
        "text": plan.text,
        "current_plan": plan.current_plan,
    }


def plan_from_json(data: Mapping[str, Any]) -> Plan:
    """The plan that `plan_to_json` wrote."""
    return Plan(
        query=data["query"],
        round=data["round"],
        intent=Intent(data["intent"].removeprefix("PLAN_INTENT_")),
        text=data["text"],
        current_plan=data["current_plan"],
    )


def planner_round(plan: Plan) -> Round:
    """The planner's message as a part of the conversation."""
    return Round(author=Author.PLANNER, message=plan.text, intent=plan.intent)
