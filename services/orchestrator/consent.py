"""Steps that need a person's consent: which, as configured, and how they are asked for. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from services.orchestrator import checkpoint, tools
from services.orchestrator.ceilings import BadNumber, Harness
from services.orchestrator.checkpoint import Kind, Question
from services.orchestrator.options import Options, harness_for

RESEARCH = "research"
RESEARCH_MESSAGE = "This question may take a long search. Shall it begin?"
TOOL_MESSAGE = "The search agent wants to use {tool}. May it?"
DENIED = "approval denied: {reason}"
NO_REASON = "no reason was given"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """What is configured to need consent."""

    enabled: bool = False
    # Research at least this complex, from 0 to 1.
    complexity_threshold: float = 0.5
    dangerous_tools: tuple[str, ...] = ()


def consent_from(section: Mapping[str, Any]) -> Consent:
    """The part `approval` of a configuration; what it leaves out keeps its default.

    Raises BadNumber.
    """
    known = {field.name for field in fields(Consent)}
    for name, value in section.items():
        if name not in known:
            raise BadNumber(f"approval has no setting {name!r}; it has {', '.join(sorted(known))}.")
        _check(name, value)
    return Consent(
        **{**section, "dangerous_tools": tuple(section.get("dangerous_tools", ()))},
    )


def _check(name: str, value: object) -> None:
    match name:
        case "enabled":
            if not isinstance(value, bool):
                raise BadNumber(f"approval.{name} must be true or false, not {value!r}.")
        case "complexity_threshold":
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not 0 <= value <= 1:  # type: ignore[operator]  # a number
                raise BadNumber(f"approval.{name} must be from 0 to 1, not {value!r}.")
        case _:
            counted = ", ".join(sorted(tools.COUNTED))
            if not isinstance(value, list) or not all(tool in tools.COUNTED for tool in value):
                raise BadNumber(
                    f"approval.{name} must be a list of tools among {counted}, not {value!r}."
                )


def complexity(harness: Harness, options: Options) -> float:
    """The calls that a run may make without asking again, as a share of the most configured."""
    most = harness.ceilings(harness.max_extensions).calls
    own = harness_for(harness, options.strategy)
    granted = options.max_extensions if options.extends_itself else 0
    return own.ceilings(granted).calls / most


def needed(consent: Consent, harness: Harness, options: Options) -> tuple[float | None, list[str]]:
    """The complexity to ask about before the search, if it is to be asked, and the tools.

    Whoever approves a plan has consented to the search.
    """
    if not consent.enabled:
        return None, []
    share = round(complexity(harness, options), 3)
    asks = share >= consent.complexity_threshold and not options.review_plan
    return (share if asks else None), list(consent.dangerous_tools)


def interrupt_id(number: int) -> str:
    """The name of the question for consent, counted from 1 in a run."""
    return f"interrupt_approval_{number}"


def is_interrupt_id(name: str) -> bool:
    """Whether a question for consent can have this name."""
    return re.fullmatch(r"interrupt_approval_[1-9][0-9]{0,3}", name) is not None


def research_question(
    name: str, share: float, *, version: int, expires_at: datetime | None
) -> Question:
    """The question whether the search may begin."""
    reason = f"The run may make {share:.0%} of all configured calls without asking again."
    shown = {"subject": "APPROVAL_SUBJECT_RESEARCH", "reason": reason, "complexity": share}
    return _question(name, RESEARCH_MESSAGE, shown, version=version, expires_at=expires_at)


def tool_question(name: str, tool: str, *, version: int, expires_at: datetime | None) -> Question:
    """The question whether a tool may be used."""
    reason = f"The configuration asks for consent to {tool}."
    shown = {"subject": "APPROVAL_SUBJECT_TOOL", "tool": tool, "reason": reason}
    message = TOOL_MESSAGE.format(tool=tool)
    return _question(name, message, shown, version=version, expires_at=expires_at)


def _question(
    name: str,
    message: str,
    shown: Mapping[str, Any],
    *,
    version: int,
    expires_at: datetime | None,
) -> Question:
    return checkpoint.question(
        Kind.APPROVAL,
        interrupt_id=name,
        version=version,
        message=message,
        shown=("approval", {"approval_id": name, **shown}),
        snapshot={"seen_passage_ids": []},
        expires_at=expires_at,
    )
