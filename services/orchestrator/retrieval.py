"""What a tool call costs and returns: passages seen before, the word ceiling, the notices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from services.chassis.words import count_words, sentences
from services.orchestrator.ceilings import (
    Ceilings,
    Harness,
    block_notice,
    notice,
    sentences_that_fit,
)
from services.orchestrator.passages import Evidence
from services.orchestrator.transcript import Found, Hit, Section, ToolCall, ToolResult
from services.orchestrator.trigger import CallOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What search gave for a call, before anything was charged."""

    hits: Sequence[Hit] = ()
    sections: Sequence[Section] = ()
    query: str = ""
    # A sentence for the agent when the call failed.
    error: str = ""
    outcome: CallOutcome = CallOutcome.NEW


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What a run has used when a result is charged, and what it may use."""

    ceilings: Ceilings
    harness: Harness
    words_used: int
    # The number that the call was admitted under; 0 for one that is not counted.
    call_number: int


def charge(
    call: ToolCall,
    step_key: str,
    fetched: Fetched,
    seen: Mapping[str, Evidence],
    account: Account,
) -> ToolResult:
    """The result as the agent gets it: within the word ceiling, seen passages as references."""
    room = max(0, account.ceilings.words - account.words_used)
    found, words, cut = _passages(fetched.hits, step_key, seen, room)
    sections, heading_words, sections_cut = _sections(fetched.sections, room - words)
    words += heading_words
    cut = cut or sections_cut
    outcome = fetched.outcome
    if outcome is CallOutcome.NEW and not found and not sections:
        outcome = CallOutcome.EMPTY
    told = (
        notice(
            call_number=account.call_number,
            words_used=account.words_used + words,
            ceilings=account.ceilings,
            soft_word_ratio=account.harness.soft_word_ratio,
            cut=cut,
        )
        if account.call_number
        else ""
    )
    return ToolResult(
        call_id=call.call_id,
        outcome=outcome,
        query=fetched.query,
        found=found,
        sections=sections,
        words=words,
        cut=cut,
        notice=told,
        error=fetched.error,
    )


def refused(call: ToolCall, *, query: str) -> ToolResult:
    """The result of a call that a person does not allow."""
    return ToolResult(
        call_id=call.call_id,
        outcome=CallOutcome.BLOCKED,
        query=query,
        notice=f"Blocked: the researcher does not allow {call.tool} and this call was not made.",
        error="The call was not made.",
    )


def blocked(call: ToolCall, ceilings: Ceilings, *, query: str, words_spent: bool) -> ToolResult:
    """The result of a call that was not made."""
    told = block_notice(ceilings, words_spent=words_spent)
    return ToolResult(
        call_id=call.call_id,
        outcome=CallOutcome.BLOCKED,
        query=query,
        notice=told,
        error="The call was not made.",
    )


def _passages(
    hits: Sequence[Hit], step_key: str, seen: Mapping[str, Evidence], room: int
) -> tuple[tuple[Found, ...], int, bool]:
    found: list[Found] = []
    own: dict[str, Evidence] = {}
    used = 0
    for rank, hit in enumerate(hits, start=1):
        known = seen.get(hit.passage.id) or own.get(hit.passage.id)
        if known is not None:
            found.append(Found(evidence=known, similarity=hit.similarity, seen_before=True))
            continue
        evidence, is_cut = _fitted(hit, step_key, rank, room - used)
        if evidence is not None:
            own[evidence.passage.id] = evidence
            used += evidence.words
            found.append(Found(evidence=evidence, similarity=hit.similarity, seen_before=False))
        if is_cut:
            return tuple(found), used, True
    return tuple(found), used, False


def _fitted(hit: Hit, step_key: str, rank: int, room: int) -> tuple[Evidence | None, bool]:
    """The passage as far as there is room for it, and whether it was cut."""
    whole = Evidence(
        passage=hit.passage,
        words=count_words(hit.passage.text),
        rank=rank,
        similarity=hit.similarity,
        step_key=step_key,
    )
    if whole.words <= room:
        return whole, False
    text = hit.passage.text
    spans = sentences(text)
    kept = sentences_that_fit([count_words(text[start:end]) for start, end in spans], room)
    if kept == 0:
        return None, True
    passage = hit.passage.cut(spans[kept - 1][1])
    return replace(whole, passage=passage, words=count_words(passage.text)), True


def _sections(sections: Sequence[Section], room: int) -> tuple[tuple[Section, ...], int, bool]:
    counts = [count_words(section.title) for section in sections]
    kept = sentences_that_fit(counts, room)
    return tuple(sections[:kept]), sum(counts[:kept]), kept < len(sections)
