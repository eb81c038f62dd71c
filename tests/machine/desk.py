"""Peers without a wire whose every reply is for the test to give, when and how it likes."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from services.orchestrator.ceilings import Ceilings
from services.orchestrator.passages import Document, Evidence, Item, PageSpan, Passage, Ranked
from services.orchestrator.peers.rerank import Judgement, Ranking
from services.orchestrator.peers.search import QuoteMatch
from services.orchestrator.peers.synth import (
    Commission,
    Direction,
    Draft,
    DraftCitation,
    NextMove,
    PlanReply,
    Repaired,
    Spoken,
)
from services.orchestrator.pipeline import Peers
from services.orchestrator.plans import Reply, Round
from services.orchestrator.tool_calls import Brief
from services.orchestrator.tools import GetToc, ReadDocument, SearchCorpus
from services.orchestrator.transcript import Hit, Section, ToolCall, TurnRecord

SPOKEN = Spoken(thought="", model="held", input_tokens=1, output_tokens=1)
WORDS_OF_A_PASSAGE = 12


@dataclass(eq=False, slots=True, kw_only=True)
class HeldCall:
    """A call whose reply is still to be given."""

    kind: str
    asked: Any
    reply: asyncio.Future[Any]


@dataclass(slots=True)
class Desk:
    """Where the calls of one holder of a run wait."""

    held: list[HeldCall] = field(default_factory=list)

    async def ask(self, kind: str, asked: Any = None) -> Any:
        """The reply, once there is one."""
        call = HeldCall(kind=kind, asked=asked, reply=asyncio.get_running_loop().create_future())
        self.held.append(call)
        try:
            return await call.reply
        finally:
            self.held.remove(call)

    def peers(self) -> Peers:
        """Mind, library and ranker at this desk."""
        return Peers(mind=_Mind(self), library=_Library(self), ranker=_Ranker(self))


def passage(name: str) -> Passage:
    """A passage on one page, of twelve words."""
    text = f"{name} is the name of this passage, which has a sentence only."
    document = Document(
        id=f"user/{name}",
        item=Item(library="user", key=name),
        attachment_key=name,
        title=name,
        creators=(),
        year="",
        citation_key="",
        kind="DOCUMENT_KIND_PDF",
        reading_state="READING_STATE_FULL",
        reading_reason="",
        page_count=1,
    )
    spans = (PageSpan(start=0, end=len(text), page_index=0, page_label="1"),)
    return Passage(
        id=f"passage-{name}",
        document=document,
        section_path=(),
        text=text,
        page_spans=spans,
        ordinal=0,
    )


def moves(*calls: tuple[str, Mapping[str, Any]]) -> NextMove:
    """A reply of the search agent with these calls."""
    made = tuple(
        ToolCall(call_id=f"c{place}", tool=tool, arguments=json.dumps(arguments))
        for place, (tool, arguments) in enumerate(calls)
    )
    return NextMove(spoken=SPOKEN, calls=made, text="")


class _Mind:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def converse(
        self,
        prompt: str,
        history: Sequence[tuple[str, str, Sequence[str]]],
        items: Sequence[Mapping[str, Any]],
    ) -> Direction:
        await self._desk.ask("converse", history)
        return Direction(spoken=SPOKEN, answer="", question=prompt, active_items=())

    async def draft_plan(
        self,
        question: str,
        items: Sequence[Mapping[str, Any]],
        *,
        conversation: Sequence[Round] = (),
        current_plan: str = "",
        definitive: bool = False,
    ) -> PlanReply:
        reply: Reply = await self._desk.ask("plan", conversation)
        return PlanReply(spoken=SPOKEN, reply=reply)

    async def investigate(
        self, brief: Brief, transcript: Sequence[TurnRecord], left: Ceilings
    ) -> NextMove:
        reply: NextMove = await self._desk.ask("investigate", (brief, transcript, left))
        return reply

    async def synthesize(self, commission: Commission) -> AsyncGenerator[str | Draft, None]:
        yield "The library"
        await self._desk.ask("synthesize", commission.evidence)
        yield " says so."
        cited = commission.evidence[:1]
        yield Draft(
            spoken=SPOKEN,
            markdown="The library says so. [1]" if cited else "The library is silent.",
            citations=tuple(
                DraftCitation(
                    number=1,
                    passage_id=one.evidence.passage.id,
                    quote=one.evidence.passage.text,
                    statement="The library says so.",
                )
                for one in cited
            ),
            gaps=tuple(commission.gaps),
            answered=bool(cited),
        )

    async def repair(
        self,
        question: str,
        draft: Draft,
        unsupported: Sequence[int],
        evidence: Sequence[Ranked],
        *,
        drop_only: bool,
    ) -> Repaired:
        raise AssertionError("every sentence here is its quote or supported")


class _Library:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def search(self, request: SearchCorpus, scope: Mapping[str, Any]) -> Sequence[Hit]:
        names: Sequence[str] = await self._desk.ask("search", request.query)
        return [Hit(passage=passage(name)) for name in names]

    async def toc(self, request: GetToc) -> Sequence[Section]:
        return []

    async def read(self, request: ReadDocument) -> Sequence[Hit]:
        return []

    async def bridged_languages(self) -> Sequence[str]:
        return []

    async def find_quote(self, quote: str, passage: Passage) -> QuoteMatch | None:
        return QuoteMatch(page_index=0, page_label="1", start=0, text=quote)


class _Ranker:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def rerank(
        self, query: str, evidence: Sequence[Evidence], *, max_passages: int, max_words: int
    ) -> Ranking:
        await self._desk.ask("rerank", max_passages)
        kept = tuple((one.passage.id, 1.0) for one in evidence[:max_passages])
        return Ranking(
            kept=kept, sentence_scores={}, considered=len(evidence), words_kept=0, model="held"
        )

    async def judge(self, pairs: Sequence[tuple[str, str]]) -> Judgement:
        return Judgement(scores=(0.9,) * len(pairs), model="held", calibrated=False)
