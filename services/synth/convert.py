"""Between the wire's messages and the mind's values."""

from collections.abc import Iterable

from services.synth.mind import (
    Answer,
    Citation,
    Commission,
    Conversation,
    DirectAnswer,
    Evidence,
    FoundPassage,
    FoundSection,
    Investigation,
    InvestigationTurn,
    ItemRef,
    Move,
    Passage,
    PastTurn,
    PlanAuthor,
    PlanIntent,
    PlanMessage,
    Planning,
    PlanRound,
    Repair,
    Repaired,
    ResearchRequest,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
    Work,
)
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.synth.v1 import synth_pb2 as pb

AUTHORS = {
    pb.PLAN_AUTHOR_PLANNER: PlanAuthor.PLANNER,
    pb.PLAN_AUTHOR_PERSON: PlanAuthor.PERSON,
}
WIRE_INTENTS = {
    PlanIntent.READY: pb.PLAN_INTENT_READY,
    PlanIntent.FEEDBACK: pb.PLAN_INTENT_FEEDBACK,
}
INTENTS = {wire: intent for intent, wire in WIRE_INTENTS.items()}
OWN_NOTES = (corpus.DOCUMENT_KIND_NOTE, corpus.DOCUMENT_KIND_ANNOTATION)


def conversation_of(request: pb.ConverseRequest) -> Conversation:
    """The conversation that the request carries."""
    return Conversation(
        prompt=request.prompt.strip(),
        history=tuple(
            PastTurn(prompt=turn.prompt, answer=turn.answer, cited_titles=tuple(turn.cited_titles))
            for turn in request.history
        ),
        active_items=_items_of(request.active_items),
    )


def investigation_of(request: pb.InvestigateRequest) -> Investigation:
    """The state of a pass that the request carries."""
    return Investigation(
        question=request.question.strip(),
        transcript=tuple(_turn_of(turn) for turn in request.transcript),
        tools=tuple(
            Tool(
                name=tool.name,
                description=tool.description,
                parameters_schema=tool.parameters_schema,
            )
            for tool in request.tools
        ),
        calls_left=request.left.calls,
        words_left=request.left.words,
        active_items=_items_of(request.active_items),
        pass_number=getattr(request, "pass"),
        remaining_gaps=tuple(request.remaining_gaps),
        guidance=request.guidance.strip(),
        confirmed_plan=request.confirmed_plan.strip(),
        review_conversation=_rounds_of(request.review_conversation),
    )


def planning_of(request: pb.DraftPlanRequest) -> Planning:
    """What is to be planned, from the request."""
    return Planning(
        question=request.question.strip(),
        active_items=_items_of(request.active_items),
        rounds=_rounds_of(request.rounds),
        current_plan=request.current_plan.strip(),
        is_definitive=request.definitive,
    )


def commission_of(request: pb.SynthesizeRequest) -> Commission:
    """What is to be written, from the request."""
    return Commission(
        question=request.question.strip(),
        evidence=_evidence_of(request.evidence),
        covered_summary=request.covered_summary,
        gaps=tuple(request.gaps),
        confirmed_plan=request.confirmed_plan.strip(),
        bridged_languages=frozenset(request.bridged_languages),
    )


def repair_of(request: pb.RepairRequest) -> Repair:
    """What is to be repaired, from the request."""
    return Repair(
        question=request.question.strip(),
        markdown=request.markdown,
        citations=tuple(
            Citation(
                number=one.number,
                passage_id=one.passage_id,
                quote=one.quote,
                statement=one.statement,
            )
            for one in request.citations
        ),
        unsupported=frozenset(request.unsupported),
        evidence=_evidence_of(request.evidence),
        only_drops=request.drop_only,
    )


def converse_result(outcome: DirectAnswer | ResearchRequest, model: str) -> pb.ConverseResult:
    """The end of a conversation's stream."""
    result = pb.ConverseResult(usage=_usage(outcome.usage), model=model)
    match outcome:
        case DirectAnswer(markdown=markdown):
            result.answer.markdown = markdown
        case ResearchRequest(question=question, active_items=items):
            result.research.question = question
            result.research.active_items.extend(
                corpus.ItemRef(library=item.library, key=item.key) for item in items
            )
    return result


def investigate_result(move: Move, model: str) -> pb.InvestigateResult:
    """The end of a turn's stream."""
    return pb.InvestigateResult(
        calls=[
            pb.ToolCall(call_id=call.call_id, tool=call.tool, arguments=call.arguments)
            for call in move.calls
        ],
        text=move.text,
        usage=_usage(move.usage),
        model=model,
    )


def draft_plan_result(message: PlanMessage, model: str) -> pb.DraftPlanResult:
    """The end of a plan's stream."""
    return pb.DraftPlanResult(
        message=message.text,
        intent=WIRE_INTENTS[message.intent],
        usage=_usage(message.usage),
        model=model,
    )


def synthesize_result(answer: Answer, model: str) -> pb.SynthesizeResult:
    """The end of an answer's stream."""
    return pb.SynthesizeResult(
        markdown=answer.markdown,
        citations=_citations(answer.citations),
        gaps=answer.gaps,
        answered=answer.answered,
        usage=_usage(answer.usage),
        model=model,
    )


def repair_result(repaired: Repaired, model: str) -> pb.RepairResult:
    """The end of a repair's stream."""
    return pb.RepairResult(
        markdown=repaired.markdown,
        citations=_citations(repaired.citations),
        rewritten_sentences=repaired.rewritten,
        dropped_sentences=repaired.dropped,
        usage=_usage(repaired.usage),
        model=model,
    )


def _citations(citations: Iterable[Citation]) -> list[pb.DraftCitation]:
    return [
        pb.DraftCitation(
            number=one.number,
            passage_id=one.passage_id,
            quote=one.quote,
            statement=one.statement,
        )
        for one in citations
    ]


def _usage(usage: Usage) -> pb.TokenUsage:
    return pb.TokenUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        cost_usd=usage.cost_usd,
    )


def _evidence_of(evidence: Iterable[pb.EvidencePassage]) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(
            passage=_passage_of(one.passage),
            score=one.score,
            sentence_scores=tuple(one.sentence_scores),
        )
        for one in evidence
    )


def _items_of(items: Iterable[corpus.ItemRef]) -> tuple[ItemRef, ...]:
    return tuple(ItemRef(library=item.library, key=item.key) for item in items)


def _rounds_of(rounds: Iterable[pb.PlanRound]) -> tuple[PlanRound, ...]:
    # A message whose author is not told is nobody's wish.
    return tuple(
        PlanRound(author=AUTHORS[one.author], message=one.message, intent=INTENTS.get(one.intent))
        for one in rounds
        if one.author in AUTHORS
    )


def _turn_of(turn: pb.InvestigationTurn) -> InvestigationTurn:
    return InvestigationTurn(
        calls=tuple(
            ToolCall(call_id=call.call_id, tool=call.tool, arguments=call.arguments)
            for call in turn.calls
        ),
        results=tuple(_result_of(result) for result in turn.results),
    )


def _result_of(result: pb.ToolResult) -> ToolResult:
    return ToolResult(
        call_id=result.call_id,
        ok=result.ok,
        passages=tuple(
            FoundPassage(
                passage=_passage_of(found.passage),
                similarity=found.similarity if found.HasField("similarity") else None,
                seen_before=found.seen_before,
            )
            for found in result.passages
        ),
        sections=tuple(
            FoundSection(section_id=one.section_id, title=one.title, level=one.level)
            for one in result.sections
        ),
        notice=result.notice,
        error=result.error,
    )


def _passage_of(passage: corpus.Passage) -> Passage:
    document = passage.document
    pages = [span.page_index for span in passage.page_spans]
    return Passage(
        passage_id=passage.passage_id,
        work=Work(
            document_id=document.document_id,
            item=ItemRef(library=document.item.library, key=document.item.key),
            title=document.title,
            creators=tuple(document.creators),
            year=document.year,
            is_own_note=document.kind in OWN_NOTES,
        ),
        section_path=tuple(passage.section_path),
        text=passage.text,
        first_page_index=min(pages, default=None),
        last_page_index=max(pages, default=None),
    )
