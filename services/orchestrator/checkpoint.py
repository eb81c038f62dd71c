"""A stored question to a person: what it shows, what may be answered, what it keeps. Pure."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from services.orchestrator.ceilings import Ceilings, Harness
from services.orchestrator.options import Options
from services.orchestrator.passages import Evidence
from services.orchestrator.plans import Plan, plan_to_json
from services.orchestrator.run import Usage
from services.orchestrator.trigger import Report, Trigger

# Who answers a checkpoint whose time is over.
EXPIRY = "expiry"


class Kind(StrEnum):
    """Kinds of checkpoints."""

    BUDGET = "BUDGET"
    PLAN_REVIEW = "PLAN_REVIEW"
    APPROVAL = "APPROVAL"


class CheckpointState(StrEnum):
    """States of a checkpoint, as stored; an expired one carries the decision of the system."""

    PENDING = "PENDING"
    ANSWERED = "ANSWERED"
    EXPIRED = "EXPIRED"
    WITHDRAWN = "WITHDRAWN"


class Choice(StrEnum):
    """What can be said to a question; feedback asks for another one and decides nothing."""

    EXTEND_BUDGET = "EXTEND_BUDGET"
    SYNTHESIZE = "SYNTHESIZE"
    FEEDBACK = "FEEDBACK"
    APPROVE = "APPROVE"
    REJECT = "REJECT"


OFFERED: Mapping[Kind, tuple[Choice, ...]] = {
    Kind.BUDGET: (Choice.EXTEND_BUDGET, Choice.SYNTHESIZE),
    Kind.PLAN_REVIEW: (Choice.FEEDBACK, Choice.APPROVE),
    Kind.APPROVAL: (Choice.APPROVE, Choice.REJECT),
}
# What the system answers when nobody does in time. The review of a plan is not answered so: it
# ends its run.
DEFAULTS: Mapping[Kind, Choice] = {
    Kind.BUDGET: Choice.SYNTHESIZE,
    Kind.APPROVAL: Choice.REJECT,
}
BUDGET_MESSAGE = (
    "The search ended with open questions. Extend the search, or write the answer from what was "
    "found?"
)
# What is said with it.
EXPIRED_GUIDANCE: Mapping[Kind, str] = {Kind.BUDGET: "", Kind.APPROVAL: "approval timeout"}
PLAN_REVIEW = "interrupt_plan"
PLAN_MESSAGE = "Here is the plan of the research. Comment on it, or approve it to begin."
ASKING_MESSAGE = "Before there is a plan, the planner has questions. Answer them to go on."
MAX_GUIDANCE = 2_000


def kinds_that_offer(choice: Choice | None) -> tuple[Kind, ...]:
    """The kinds of checkpoints that can be answered so; none for an unknown choice."""
    return tuple(kind for kind, choices in OFFERED.items() if choice in choices)


def response_schema(kind: Kind) -> str:
    """JSON Schema of a response, in the words of the HTTP wire."""
    # The limit of a comment on a plan is in bytes, which a schema cannot say.
    text = (
        {"message": {"type": "string"}}
        if kind is Kind.PLAN_REVIEW
        else {"guidance": {"type": "string", "maxLength": MAX_GUIDANCE}}
    )
    return json.dumps(
        {
            "type": "object",
            "properties": {
                "action": {"enum": [choice.lower() for choice in OFFERED[kind]]},
                **text,
            },
            "required": ["action"],
            "additionalProperties": False,
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The answer to a checkpoint; guidance is steering for the search agent, never parsed."""

    choice: Choice
    guidance: str = ""
    # Of consent: what to do instead.
    modified_action: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A checkpoint of a run as its holder finds it."""

    state: CheckpointState
    version: int
    decision: Decision | None
    # The plan that it shows, as it stands, when it is the review of one.
    plan: Plan | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A checkpoint to be written: what the person sees, and the standing that it is about."""

    interrupt_id: str
    kind: Kind
    version: int
    payload: Mapping[str, Any]
    snapshot: Mapping[str, Any]
    expires_at: datetime | None


def question(
    kind: Kind,
    *,
    interrupt_id: str,
    version: int,
    message: str,
    shown: tuple[str, Mapping[str, Any]],
    snapshot: Mapping[str, Any],
    expires_at: datetime | None,
) -> Question:
    """A question as it is stored and told; `shown` is what its kind adds, under its name."""
    name, value = shown
    payload: dict[str, Any] = {
        "interrupt_id": interrupt_id,
        "kind": f"CHECKPOINT_KIND_{kind}",
        "version": version,
        "message": message,
        "response_schema": response_schema(kind),
        name: value,
    }
    if expires_at is not None:
        payload["expires_at"] = expires_at.isoformat()
    return Question(
        interrupt_id=interrupt_id,
        kind=kind,
        version=version,
        payload=payload,
        snapshot=snapshot,
        expires_at=expires_at,
    )


def plan_question(plan: Plan, *, version: int, expires_at: datetime | None) -> Question:
    """The question whether the research may begin with this plan."""
    return question(
        Kind.PLAN_REVIEW,
        interrupt_id=PLAN_REVIEW,
        version=version,
        message=PLAN_MESSAGE if plan.current_plan else ASKING_MESSAGE,
        shown=("plan", plan_to_json(plan)),
        snapshot={"seen_passage_ids": []},
        expires_at=expires_at,
    )


def interrupt_id(extension: int) -> str:
    """The name of the question whether to grant an extension, counted from 1."""
    return f"interrupt_ext_{extension}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a run is when a pass has ended."""

    harness: Harness
    options: Options
    # Extensions granted so far, which is the number of the pass.
    extensions: int
    usage: Usage
    evidence: Iterable[Evidence]


def budget_question(
    report: Report,
    why: Trigger,
    progress: Progress,
    *,
    version: int,
    expires_at: datetime | None,
) -> Question:
    """The question whether a search that left gaps may go on."""
    number = progress.extensions + 1
    evidence = list(progress.evidence)
    documents = list(dict.fromkeys(one.passage.document.id for one in evidence))
    limits = progress.harness.ceilings(progress.extensions)
    usage = progress.usage
    budget: dict[str, Any] = {
        "extension_number": number,
        "max_extensions": progress.options.max_extensions,
        "trigger": f"EXTENSION_TRIGGER_{why.name}",
        "covered_summary": report.summary,
        "gaps": list(report.gaps),
        "used": {
            "calls": usage.calls,
            "words": usage.words,
            "passages_found": len(evidence),
            "documents": len(documents),
            # Protobuf's JSON writes 64-bit numbers as strings.
            "tokens": str(usage.tokens),
        },
        "limits": asdict(limits),
        "next_limits": asdict(progress.harness.ceilings(number)),
    }
    if report.justification:
        budget["justification"] = report.justification
    return question(
        Kind.BUDGET,
        interrupt_id=interrupt_id(number),
        version=version,
        message=BUDGET_MESSAGE,
        shown=("budget", budget),
        snapshot=_snapshot(report, limits, progress, evidence, documents),
        expires_at=expires_at,
    )


def _snapshot(
    report: Report,
    limits: Ceilings,
    progress: Progress,
    evidence: list[Evidence],
    documents: list[str],
) -> dict[str, Any]:
    """The wire's Snapshot; evidence is there by id only, its rows hold the text."""
    return {
        "covered_summary": report.summary,
        "gaps": list(report.gaps),
        "extension_count": progress.extensions,
        "call_count": progress.usage.calls,
        "word_count": progress.usage.words,
        "extension_requested": report.asked,
        "completed_extensions": list(range(1, progress.extensions + 1)),
        "ceilings": asdict(limits),
        "seen_passage_ids": [one.passage.id for one in evidence],
        "seen_assets": documents,
    }
