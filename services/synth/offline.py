"""The mind without a language model: deterministic, extractive, and open about both."""

from collections.abc import AsyncIterator

from services.synth.citations import pieces_of
from services.synth.composition import compose
from services.synth.dialogue import reply
from services.synth.investigation import next_move
from services.synth.languages import language_of
from services.synth.mending import without_unsupported
from services.synth.mind import (
    Answer,
    Commission,
    Conversation,
    Delta,
    DirectAnswer,
    Investigation,
    Move,
    PlanMessage,
    Planning,
    Repair,
    Repaired,
    ResearchRequest,
    Thought,
)
from services.synth.phrasebook import phrases_for
from services.synth.planning import draft
from services.synth.settings import OFFLINE


class OfflineMind:
    """Splits questions into aspects, searches each, and answers with quoted sentences."""

    @property
    def model(self) -> str:
        """The name that replies carry."""
        return OFFLINE

    async def converse(
        self, conversation: Conversation
    ) -> AsyncIterator[Thought | Delta | DirectAnswer | ResearchRequest]:
        """Greet back, or ask for research with a question that stands on its own."""
        outcome = reply(conversation)
        if isinstance(outcome, DirectAnswer):
            for piece in pieces_of(outcome.markdown):
                yield Delta(text=piece)
        yield outcome

    async def investigate(self, investigation: Investigation) -> AsyncIterator[Thought | Move]:
        """The next calls, from the transcript alone."""
        plan = next_move(investigation, phrases_for(language_of(investigation.question)))
        yield Thought(text=plan.thought)
        yield plan.move

    async def draft_plan(self, planning: Planning) -> AsyncIterator[Thought | PlanMessage]:
        """The aspects of the question as steps, revised by what the person says."""
        yield draft(planning)

    async def synthesize(self, commission: Commission) -> AsyncIterator[Thought | Delta | Answer]:
        """Quote the sentences that answer the question."""
        phrases = phrases_for(language_of(commission.question))
        yield Thought(text=phrases.writing.format(count=len(commission.evidence)))
        answer = compose(commission, phrases)
        for piece in pieces_of(answer.markdown):
            yield Delta(text=piece)
        yield answer

    async def repair(self, order: Repair) -> AsyncIterator[Thought | Repaired]:
        """Drop what is to go; else the answer as it was, for nothing can be reworded here."""
        unchanged = Repaired(markdown=order.markdown, citations=order.citations)
        yield without_unsupported(order) if order.only_drops else unchanged
