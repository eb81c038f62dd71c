"""The synth process, as the orchestrator uses it."""

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import grpc

from services.orchestrator.ceilings import Ceilings
from services.orchestrator.convert import (
    call_from_proto,
    items_from_proto,
    items_to_proto,
    ranked_to_proto,
    rounds_to_proto,
    turn_to_proto,
)
from services.orchestrator.errors import PeerRefused
from services.orchestrator.passages import Ranked
from services.orchestrator.peers.calls import Deadlines, patiently, stream
from services.orchestrator.plans import ConfirmedPlan, Intent, Reply, Round
from services.orchestrator.run import Usage
from services.orchestrator.tools import TOOLS
from services.orchestrator.transcript import ToolCall, TurnRecord
from zocrates.synth.v1 import synth_pb2 as pb
from zocrates.synth.v1 import synth_pb2_grpc as rpc

PEER = "synth"
OFFERED = [
    pb.Tool(name=tool.name, description=tool.description, parameters_schema=tool.schema_json)
    for tool in TOOLS
]

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What every reply of a mind carries."""

    thought: str
    model: str
    input_tokens: int
    output_tokens: int
    cost: float | None = None
    """List price in US dollars, where it is known."""

    def added_to(self, usage: Usage) -> Usage:
        """What the run has used with this reply."""
        return usage.with_model_call(
            input_tokens=self.input_tokens, output_tokens=self.output_tokens, cost=self.cost
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """Either a direct answer or a question for research."""

    spoken: Spoken
    answer: str
    question: str
    active_items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanReply:
    """The planner's next message."""

    spoken: Spoken
    reply: Reply


class Task(Protocol):
    """What a pass is about."""

    @property
    def question(self) -> str:
        """The question for research."""

    @property
    def items(self) -> Sequence[Item]:
        """What the person has at hand."""

    @property
    def number(self) -> int:
        """The pass, from 0."""

    @property
    def remaining_gaps(self) -> Sequence[str]:
        """What the pass before this one left open."""

    @property
    def guidance(self) -> str:
        """The person's steering."""

    @property
    def plan(self) -> ConfirmedPlan | None:
        """What the person approved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextMove:
    """The calls that the search agent asks for; none: it has stopped."""

    spoken: Spoken
    calls: tuple[ToolCall, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Commission:
    """What the writer gets: a question, its evidence, and what the search says of it."""

    question: str
    evidence: Sequence[Ranked]
    covered_summary: str = ""
    gaps: Sequence[str] = ()
    # What the person approved before the search.
    plan: str = ""
    # Languages between which the search finds meaning.
    bridged_languages: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftCitation:
    """A citation as the writer made it, not yet checked."""

    number: int
    passage_id: str
    quote: str
    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The written answer, not yet checked."""

    spoken: Spoken
    markdown: str
    citations: tuple[DraftCitation, ...]
    gaps: tuple[str, ...]
    answered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """A draft's text and citations after its repair."""

    spoken: Spoken
    markdown: str
    citations: tuple[DraftCitation, ...]
    rewritten: int
    dropped: int


class SynthPeer:
    """Everything that thinks or writes. Raises PeerError."""

    def __init__(self, channel: grpc.aio.Channel, deadlines: Deadlines) -> None:
        self._stub = rpc.SynthServiceStub(channel)
        self._deadlines = deadlines
        # Each further move of the agent is asked for with all turns before it.
        self._turns: WeakKeyDictionary[TurnRecord, pb.InvestigationTurn] = WeakKeyDictionary()

    async def converse(
        self, prompt: str, history: Sequence[tuple[str, str, Sequence[str]]], items: Sequence[Item]
    ) -> Direction:
        """Answer directly or turn the prompt into a question for research."""
        request = pb.ConverseRequest(
            prompt=prompt,
            history=[
                pb.PastTurn(prompt=asked, answer=answer, cited_titles=titles)
                for asked, answer, titles in history
            ],
            active_items=items_to_proto(items),
        )
        result, thought = await self._finished(self._stub.Converse, request)
        is_direct = result.WhichOneof("outcome") == "answer"
        return Direction(
            spoken=_spoken(result, thought),
            answer=result.answer.markdown if is_direct else "",
            question="" if is_direct else result.research.question or prompt,
            active_items=items_from_proto(result.research.active_items),
        )

    async def investigate(
        self, brief: Task, transcript: Sequence[TurnRecord], left: Ceilings
    ) -> NextMove:
        """The search agent's next move; it sees this and nothing else."""
        request = pb.InvestigateRequest(
            question=brief.question,
            transcript=[self._turn(turn) for turn in transcript],
            tools=OFFERED,
            left=pb.CeilingsLeft(calls=left.calls, words=left.words),
            active_items=items_to_proto(brief.items),
            remaining_gaps=brief.remaining_gaps,
            guidance=brief.guidance,
            confirmed_plan=brief.plan.text if brief.plan else "",
            review_conversation=rounds_to_proto(brief.plan.conversation) if brief.plan else (),
        )
        # `pass` is a keyword of the language.
        setattr(request, "pass", brief.number)
        result, thought = await self._finished(self._stub.Investigate, request)
        return NextMove(
            spoken=_spoken(result, thought),
            calls=tuple(call_from_proto(call) for call in result.calls),
            text=result.text,
        )

    async def draft_plan(
        self,
        question: str,
        items: Sequence[Item],
        *,
        conversation: Sequence[Round] = (),
        current_plan: str = "",
        definitive: bool = False,
    ) -> PlanReply:
        """The planner's first plan, or its reply to what was said last."""
        request = pb.DraftPlanRequest(
            question=question,
            active_items=items_to_proto(items),
            rounds=rounds_to_proto(conversation),
            current_plan=current_plan,
            definitive=definitive,
        )
        result, thought = await self._finished(self._stub.DraftPlan, request)
        message = result.message.strip()
        if not message:
            raise _unfinished()
        is_ready = result.intent == pb.PLAN_INTENT_READY
        return PlanReply(
            spoken=_spoken(result, thought),
            reply=Reply(
                message=message,
                intent=Intent.READY if is_ready else Intent.FEEDBACK,
                model=result.model,
            ),
        )

    async def synthesize(self, commission: Commission) -> AsyncGenerator[str | Draft, None]:
        """One attempt at the answer: pieces of its text, and the draft at the end."""
        request = pb.SynthesizeRequest(
            question=commission.question,
            evidence=[ranked_to_proto(one) for one in commission.evidence],
            covered_summary=commission.covered_summary,
            gaps=commission.gaps,
            confirmed_plan=commission.plan,
            bridged_languages=commission.bridged_languages,
        )
        thoughts: list[str] = []
        draft = None
        replies = stream(PEER, self._stub.Synthesize, request, deadlines=self._deadlines)
        async with aclosing(replies):
            async for reply in replies:
                match reply.WhichOneof("event"):
                    case "thought":
                        thoughts.append(reply.thought)
                    case "answer_delta":
                        yield reply.answer_delta
                    case "result":
                        draft = _draft(reply.result, "".join(thoughts))
        if draft is None:
            raise _unfinished()
        yield draft

    async def repair(
        self,
        question: str,
        draft: Draft,
        unsupported: Sequence[int],
        evidence: Sequence[Ranked],
        *,
        drop_only: bool,
    ) -> Repaired:
        """The draft with its unsupported sentences rewritten or dropped, all others as they are."""
        request = pb.RepairRequest(
            question=question,
            markdown=draft.markdown,
            citations=[
                pb.DraftCitation(
                    number=one.number,
                    passage_id=one.passage_id,
                    quote=one.quote,
                    statement=one.statement,
                )
                for one in draft.citations
            ],
            unsupported=unsupported,
            evidence=[ranked_to_proto(one) for one in evidence],
            drop_only=drop_only,
        )
        result, thought = await self._finished(self._stub.Repair, request)
        return Repaired(
            spoken=_spoken(result, thought),
            markdown=result.markdown,
            citations=_citations(result.citations),
            rewritten=result.rewritten_sentences,
            dropped=result.dropped_sentences,
        )

    def _turn(self, turn: TurnRecord) -> pb.InvestigationTurn:
        known = self._turns.get(turn)
        if known is None:
            known = self._turns[turn] = turn_to_proto(turn)
        return known

    async def _finished(
        self, method: Callable[..., Any], request: object
    ) -> tuple[Any, str]:  # the result message of whichever rpc
        """The result of a stream and its thoughts; begun again when the peer goes away."""

        async def attempt() -> tuple[Any, str]:
            thoughts: list[str] = []
            result = None
            replies = stream(PEER, method, request, deadlines=self._deadlines)
            async with aclosing(replies):
                # Read to the end: a stream that is left early is a cancelled call on both sides.
                async for reply in replies:
                    match reply.WhichOneof("event"):
                        case "thought":
                            thoughts.append(reply.thought)
                        case "result":
                            result = reply.result
            if result is None:
                raise _unfinished()
            return result, "".join(thoughts)

        return await patiently(PEER, attempt, patience_s=self._deadlines.other_s)


def _spoken(result: Any, thought: str) -> Spoken:  # any of the three result messages
    return Spoken(
        thought=thought,
        model=result.model,
        input_tokens=result.usage.input_tokens,
        output_tokens=result.usage.output_tokens,
        cost=result.usage.cost_usd if result.usage.HasField("cost_usd") else None,
    )


def _draft(result: pb.SynthesizeResult, thought: str) -> Draft:
    return Draft(
        spoken=_spoken(result, thought),
        markdown=result.markdown,
        citations=_citations(result.citations),
        gaps=tuple(result.gaps),
        answered=result.answered,
    )


def _citations(citations: Iterable[pb.DraftCitation]) -> tuple[DraftCitation, ...]:
    return tuple(
        DraftCitation(
            number=one.number,
            passage_id=one.passage_id,
            quote=one.quote,
            statement=one.statement,
        )
        for one in citations
    )


def _unfinished() -> PeerRefused:
    return PeerRefused(
        PEER, "PEER_ERROR", "The synth process ended its reply without a result.", retryable=True
    )
