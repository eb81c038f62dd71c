"""What the researcher asks and decides, and the one answer that can be right. Pure."""

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass

EXTEND, SYNTHESIZE = "extend_budget", "synthesize"
PASSES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the researcher answers at a checkpoint."""

    interrupt_id: str
    action: str
    guidance: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A question and the answers to its two checkpoints."""

    number: int
    question: str
    decisions: Sequence[Decision]

    @property
    def key(self) -> str:
        """The idempotency key of the question."""
        return f"chaos-ask-{self.number}"


def plan(seed: int, number: int) -> Plan:
    """The same plan for the same seed; every run stops twice, and goes on as often as it may."""
    chance = random.Random(f"{seed} {number}")
    decisions = [_decision(number, 1, EXTEND)]
    decisions.append(_decision(number, 2, chance.choice((EXTEND, SYNTHESIZE))))
    return Plan(number=number, question=f"Question {number} of {seed}", decisions=decisions)


def _decision(number: int, extension: int, action: str) -> Decision:
    guidance = f"hint {extension} for {number}" if action == EXTEND else ""
    return Decision(interrupt_id=f"interrupt_ext_{extension}", action=action, guidance=guidance)


def queries(question: str, pass_number: int, guidance: str) -> list[str]:
    """What the agent searches for in a pass; an extension follows its guidance."""
    if pass_number == 0:
        return [f"{question}: first aspect", f"{question}: second aspect"]
    return [f"{question}: {guidance}"]


def gaps(question: str, pass_number: int) -> list[str]:
    """What a pass leaves open; the last one leaves nothing."""
    return [f"{question}: open after {pass_number}"] if pass_number < PASSES - 1 else []


def passage_id(query: str) -> str:
    """Of the passage that the query finds."""
    return hashlib.md5(query.encode(), usedforsecurity=False).hexdigest()


def finding(query: str) -> str:
    """The sentence of that passage which the answer quotes."""
    return f"The library says of {query!r} that it is so."


def answer(found: Sequence[str]) -> str:
    """The answer from these queries' passages, whatever their order."""
    ordered = sorted(found, key=passage_id)
    return "\n\n".join(
        f"Ada Meyer and Bo Chen (2019) report: “{finding(query)}” [{place}]"
        for place, query in enumerate(ordered, start=1)
    )


def right_answer(asked: Plan) -> str:
    """What the run must say: every granted pass searched for what its decision asked."""
    found = queries(asked.question, 0, "")
    for number, decision in enumerate(asked.decisions, start=1):
        if decision.action == EXTEND:
            found += queries(asked.question, number, decision.guidance)
    return answer(found)
