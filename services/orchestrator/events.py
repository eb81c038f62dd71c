"""Events as they are stored: the name of the wire's oneof field and its JSON object. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from services.orchestrator.ceilings import Ceilings
from services.orchestrator.checkpoint import Choice, Question
from services.orchestrator.options import STRATEGY, Options
from services.orchestrator.passages import Evidence
from services.orchestrator.plans import Plan
from services.orchestrator.run import Stage, State, Usage

SNIPPET_CHARACTERS = 240
THOUGHT_CHARACTERS = 4_000
# Who ends a task that ends by itself.
SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event without its place in the run; the store numbers it when it writes it."""

    type: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    """An event in its place."""

    session_id: str
    run_id: str
    sequence: int
    time: datetime
    type: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Events of a run that were just committed; who publishes them, and how far that was."""

    session_id: str
    run_id: str
    trace: Mapping[str, str]
    relay: str
    published: int
    events: Sequence[StoredEvent]


def run_started(
    prompt: str, options: Options, ceilings: Ceilings, warnings: Sequence[str]
) -> NewEvent:
    """The run began."""
    return NewEvent(
        type="run_started",
        payload={
            "prompt": prompt,
            "options": run_options(options),
            "ceilings": {
                "calls": ceilings.calls,
                "words": ceilings.words,
                "passages": ceilings.passages,
                "tokens": ceilings.tokens,
            },
            "warnings": list(warnings),
        },
    )


def run_options(options: Options) -> dict[str, Any]:
    """The options as the wire's RunOptions."""
    return {
        "max_extensions": options.max_extensions,
        "hitl_enabled": options.hitl_enabled,
        "strategy": f"STRATEGY_{options.strategy}",
        "review_plan": options.review_plan,
    }


def stage_entered(stage: Stage, pass_number: int) -> NewEvent:
    """The run entered a stage."""
    return NewEvent(type="stage", payload={"stage": f"STAGE_{stage.name}", "pass": pass_number})


def thought(agent: str, text: str) -> tuple[NewEvent, ...]:
    """A model's reasoning, shortened; nothing when there was none."""
    if not text.strip():
        return ()
    payload = {"agent": agent, "text": text[:THOUGHT_CHARACTERS]}
    return (NewEvent(type="thought", payload=payload),)


def tool_called(
    *,
    step_key: str,
    pass_number: int,
    tool: str,
    arguments: str,
    call_number: int,
    call_limit: int,
) -> NewEvent:
    """A call was admitted or blocked."""
    return NewEvent(
        type="tool_call",
        payload={
            "step_id": step_key,
            "pass": pass_number,
            "tool": tool,
            "arguments": arguments,
            "call_number": call_number,
            "call_limit": call_limit,
        },
    )


def tool_returned(
    *,
    step_key: str,
    ok: bool,
    found: Sequence[Evidence],
    words: int,
    words_total: int,
    word_limit: int,
    notice: str,
) -> NewEvent:
    """A call's result."""
    payload: dict[str, Any] = {
        "step_id": step_key,
        "ok": ok,
        "passages": [_found(one) for one in found],
        "words": words,
        "words_total": words_total,
        "word_limit": word_limit,
    }
    if notice:
        payload["notice"] = notice
    return NewEvent(type="tool_result", payload=payload)


def _found(evidence: Evidence) -> dict[str, Any]:
    passage = evidence.passage
    _, label = passage.page_at(0)
    text = " ".join(passage.text[: 2 * SNIPPET_CHARACTERS].split())
    shortened = len(text) > SNIPPET_CHARACTERS
    return {
        "passage_id": passage.id,
        "item": {"library": passage.document.item.library, "key": passage.document.item.key},
        "title": passage.document.title,
        "page_label": label,
        "snippet": text[:SNIPPET_CHARACTERS].rsplit(" ", 1)[0] + "…" if shortened else text,
    }


def reported(
    *, pass_number: int, summary: str, gaps: Sequence[str], automatic: bool, reason: str
) -> NewEvent:
    """A pass ended."""
    payload: dict[str, Any] = {
        "pass": pass_number,
        "covered_summary": summary,
        "gaps": list(gaps),
        "automatic": automatic,
    }
    if automatic:
        payload["reason"] = reason
    return NewEvent(type="report", payload=payload)


def input_requested(question: Question) -> NewEvent:
    """The run stopped and asks a person."""
    return NewEvent(type="request_input", payload=question.payload)


def extended_by_strategy(interrupt_id: str, now: datetime) -> NewEvent:
    """The run's strategy granted an extension that a person would have been asked for."""
    return NewEvent(
        type="checkpoint_answered",
        payload={
            "interrupt_id": interrupt_id,
            "action": f"DECISION_ACTION_{Choice.EXTEND_BUDGET}",
            "answered_by": STRATEGY,
            "answered_at": now.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        },
    )


def plan_drafted(plan: Plan, version: int) -> NewEvent:
    """The planner wrote a plan or asked something."""
    return NewEvent(
        type="plan",
        payload={
            "round": plan.round,
            "version": version,
            "intent": f"PLAN_INTENT_{plan.intent}",
            "text": plan.text,
            "current_plan": plan.current_plan,
            "model": plan.model,
        },
    )


def plan_commented(plan: Plan, version: int, *, message: str, by: str) -> NewEvent:
    """A person commented on the plan; round and version are those of the reply."""
    return NewEvent(
        type="plan_feedback",
        payload={"round": plan.round, "version": version, "message": message, "by": by},
    )


def reranked(*, considered: int, kept: int, words_kept: int, model: str) -> NewEvent:
    """Evidence was ranked."""
    return NewEvent(
        type="rerank",
        payload={
            "considered": considered,
            "kept": kept,
            "words_kept": words_kept,
            "model": model,
        },
    )


def answer_reset(attempt: int) -> NewEvent:
    """The text streamed so far is void."""
    return NewEvent(type="answer_reset", payload={"attempt": attempt})


def answered(
    *,
    markdown: str,
    citations: Sequence[Mapping[str, Any]],
    gaps: Sequence[str],
    has_answer: bool,
    model: str,
    usage: Usage,
    passages: int,
    seconds: float,
) -> NewEvent:
    """The final answer; the counts of support are those of its citations."""
    support = dict.fromkeys(("verified", "weak", "unsupported", "unchecked"), 0)
    for citation in citations:
        support[str(citation["support"]).removeprefix("SUPPORT_LEVEL_").lower()] += 1
    return NewEvent(
        type="answer",
        payload={
            "markdown": markdown,
            "citations": list(citations),
            "gaps": list(gaps),
            "support": support,
            "usage": {
                "calls": usage.calls,
                "words": usage.words,
                "passages": passages,
                # Protobuf's JSON writes 64-bit numbers as strings.
                "input_tokens": str(usage.input_tokens),
                "output_tokens": str(usage.output_tokens),
                "seconds": round(seconds, 3),
                **({"cost": usage.cost} if usage.cost and usage.output_tokens else {}),
            },
            "answered": has_answer,
            "model": model,
        },
    )


def failed(*, code: str, message: str, retryable: bool) -> NewEvent:
    """The run failed."""
    return NewEvent(
        type="error", payload={"code": code, "message": message, "retryable": retryable}
    )


def ended(state: State, *, by: str = SYSTEM) -> NewEvent:
    """The last row of a task, which its watchers wait for."""
    return NewEvent(type="run_state", payload={"change": f"RUN_STATE_CHANGE_{state}", "by": by})
