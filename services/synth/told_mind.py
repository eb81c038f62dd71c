"""The offline mind with its calls told as those of a model, so that a trace looks the same."""

from collections.abc import AsyncIterator
from typing import Any, TypeVar

from opentelemetry import trace

from services.chassis import gen_ai
from services.chassis.gen_ai import Message, Role, Tokens
from services.synth.mind import (
    Answer,
    Commission,
    Conversation,
    Delta,
    DirectAnswer,
    Investigation,
    Mind,
    Move,
    PlanMessage,
    Planning,
    Repair,
    Repaired,
    ResearchRequest,
    Thought,
)

Event = TypeVar("Event")


class ToldMind:
    """Thinks as the mind that it is given, with a span for each call."""

    def __init__(self, mind: Mind) -> None:
        self._mind = mind
        self._tracer = trace.get_tracer(__name__)

    @property
    def model(self) -> str:
        """The name that replies carry."""
        return self._mind.model

    def converse(
        self, conversation: Conversation
    ) -> AsyncIterator[Thought | Delta | DirectAnswer | ResearchRequest]:
        """Answer from the session itself, or ask for research."""
        return self._told(self._mind.converse(conversation), conversation.prompt)

    def investigate(self, investigation: Investigation) -> AsyncIterator[Thought | Move]:
        """Decide the next turn of a pass."""
        return self._told(self._mind.investigate(investigation), investigation.question)

    def draft_plan(self, planning: Planning) -> AsyncIterator[Thought | PlanMessage]:
        """Draft a plan, revise it, or ask something back."""
        return self._told(self._mind.draft_plan(planning), planning.question)

    def synthesize(self, commission: Commission) -> AsyncIterator[Thought | Delta | Answer]:
        """Write the answer."""
        return self._told(self._mind.synthesize(commission), commission.question)

    def repair(self, order: Repair) -> AsyncIterator[Thought | Repaired]:
        """Rewrite or drop the unsupported sentences."""
        return self._told(self._mind.repair(order), order.question)

    async def _told(self, events: AsyncIterator[Event], asked: str) -> AsyncIterator[Event]:
        # Never the current span: it is open while the caller does what it likes with an event.
        span = self._tracer.start_span(gen_ai.GENERATE)
        thoughts, said = [], ""
        if span.is_recording():
            question = [Message(role=Role.USER, text=asked)]
            span.set_attributes(gen_ai.model_request(self.model, question))
        try:
            async for event in events:
                if isinstance(event, Thought):
                    thoughts.append(event.text)
                else:
                    said = _words(event) or said
                yield event
            if span.is_recording():
                reply = Message(role=Role.ASSISTANT, text=said, thought="".join(thoughts))
                span.set_attributes(gen_ai.model_reply(reply, Tokens()))
        finally:
            span.end()


def _words(event: Any) -> str:
    match event:
        case DirectAnswer() | Answer() | Repaired():
            return event.markdown
        case ResearchRequest():
            return event.question
        case PlanMessage():
            return event.text
        case Move():
            return "\n".join(f"{call.tool}({call.arguments})" for call in event.calls)
        case _:
            return ""
