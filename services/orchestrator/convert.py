"""Between the wire's messages and the orchestrator's values, in both directions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict

from services.orchestrator.ceilings import advised
from services.orchestrator.passages import Document, Item, PageSpan, Passage, Ranked
from services.orchestrator.plans import Round
from services.orchestrator.transcript import Section, ToolCall, ToolResult, TurnRecord
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.search.v1 import search_pb2 as search
from zocrates.synth.v1 import synth_pb2 as synth


def passages_from_proto(messages: Iterable[corpus.Passage]) -> list[Passage]:
    """Passages of the wire; those of one document share it."""
    documents: dict[str, Document] = {}
    found = []
    for message in messages:
        document = documents.get(message.document.document_id)
        if document is None:
            document = _document_from_proto(message.document)
            documents[document.id] = document
        found.append(_passage_from_proto(message, document))
    return found


def _document_from_proto(message: corpus.Document) -> Document:
    return Document(
        id=message.document_id,
        item=Item(library=message.item.library, key=message.item.key),
        attachment_key=message.attachment_key,
        title=message.title,
        creators=tuple(message.creators),
        year=message.year,
        citation_key=message.citation_key,
        kind=corpus.DocumentKind.Name(message.kind),
        reading_state=corpus.ReadingState.Name(message.reading_state),
        reading_reason=message.reading_reason,
        page_count=message.page_count,
    )


def _passage_from_proto(message: corpus.Passage, document: Document) -> Passage:
    return Passage(
        id=message.passage_id,
        document=document,
        section_path=tuple(message.section_path),
        text=message.text,
        page_spans=tuple(
            PageSpan(
                start=span.start,
                end=span.end,
                page_index=span.page_index,
                page_label=span.page_label,
            )
            for span in message.page_spans
        ),
        ordinal=message.ordinal,
    )


def passage_to_proto(passage: Passage, *, with_text: bool = True) -> corpus.Passage:
    """A passage for the wire, or a reference to it without text and spans."""
    document = passage.document
    return corpus.Passage(
        passage_id=passage.id,
        document=corpus.Document(
            document_id=document.id,
            item=corpus.ItemRef(library=document.item.library, key=document.item.key),
            attachment_key=document.attachment_key,
            title=document.title,
            creators=document.creators,
            year=document.year,
            citation_key=document.citation_key,
            kind=corpus.DocumentKind.Value(document.kind),
            reading_state=corpus.ReadingState.Value(document.reading_state),
            reading_reason=document.reading_reason,
            page_count=document.page_count,
        ),
        section_path=passage.section_path,
        text=passage.text if with_text else "",
        page_spans=[
            corpus.PageSpan(
                start=span.start,
                end=span.end,
                page_index=span.page_index,
                page_label=span.page_label,
            )
            for span in (passage.page_spans if with_text else ())
        ],
        ordinal=passage.ordinal,
    )


def items_to_proto(items: Sequence[Mapping[str, Any]]) -> list[corpus.ItemRef]:
    """References as they were stored."""
    return [corpus.ItemRef(library=item["library"], key=item["key"]) for item in items]


def items_from_proto(items: Sequence[corpus.ItemRef]) -> tuple[dict[str, Any], ...]:
    """References to be stored."""
    return tuple({"library": item.library, "key": item.key} for item in items)


def scope_to_proto(scope: Mapping[str, Any]) -> corpus.Scope:
    """A scope as it was stored."""
    return ParseDict(dict(scope), corpus.Scope())


def scope_from_proto(scope: corpus.Scope) -> dict[str, Any]:
    """A scope to be stored; a restriction that is present and empty stays present."""
    return MessageToDict(scope, preserving_proto_field_name=True)


def section_from_proto(entry: search.TocEntry) -> Section:
    """A section of a table of contents."""
    return Section(
        section_id=entry.section_id,
        title=entry.title,
        level=entry.level,
        first_page_label=entry.first_page_label,
        last_page_label=entry.last_page_label,
    )


def call_from_proto(call: synth.ToolCall) -> ToolCall:
    """A call as the agent wrote it."""
    return ToolCall(call_id=call.call_id, tool=call.tool, arguments=call.arguments)


def turn_to_proto(turn: TurnRecord) -> synth.InvestigationTurn:
    """A past turn for the agent."""
    return synth.InvestigationTurn(
        calls=[
            synth.ToolCall(call_id=call.call_id, tool=call.tool, arguments=call.arguments)
            for call in turn.calls
        ],
        results=[_result_to_proto(result) for result in turn.results],
    )


def _result_to_proto(result: ToolResult) -> synth.ToolResult:
    return synth.ToolResult(
        call_id=result.call_id,
        ok=result.ok,
        passages=[
            synth.FoundPassage(
                passage=passage_to_proto(found.evidence.passage, with_text=not found.seen_before),
                similarity=found.similarity,
                seen_before=found.seen_before,
            )
            for found in result.found
        ],
        sections=[
            synth.FoundSection(
                section_id=section.section_id,
                title=section.title,
                level=section.level,
                first_page_label=section.first_page_label,
                last_page_label=section.last_page_label,
            )
            for section in result.sections
        ],
        notice=advised(result.notice),
        error=result.error,
    )


def rounds_to_proto(rounds: Iterable[Round]) -> list[synth.PlanRound]:
    """What was said about a plan, for the planner and the search agent."""
    return [
        synth.PlanRound(
            author=synth.PlanAuthor.Value(f"PLAN_AUTHOR_{one.author}"),
            message=one.message,
            intent=synth.PlanIntent.Value(f"PLAN_INTENT_{one.intent or 'UNSPECIFIED'}"),
        )
        for one in rounds
    ]


def ranked_to_proto(ranked: Ranked) -> synth.EvidencePassage:
    """A ranked passage for the writer."""
    return synth.EvidencePassage(
        passage=passage_to_proto(ranked.evidence.passage),
        score=ranked.score,
        sentence_scores=ranked.sentence_scores,
    )
