"""A mind that thinks and writes with a language model."""

from collections.abc import AsyncIterator

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
from services.synth.model import coordinator, planner, repairer, search_agent, writer
from services.synth.model.speech import Speaker


class LanguageModelMind:
    """One model in all three roles; a process may give each role a mind of its own."""

    def __init__(self, speaker: Speaker, *, calls_in_text: bool) -> None:
        self._speaker = speaker
        self._calls_in_text = calls_in_text

    @property
    def model(self) -> str:
        """The name that replies carry, for example `ollama:llama3.2:3b`."""
        return self._speaker.name

    def converse(
        self, conversation: Conversation
    ) -> AsyncIterator[Thought | Delta | DirectAnswer | ResearchRequest]:
        """Answer from the session itself, or ask for research."""
        return coordinator.converse(self._speaker, conversation, in_text=self._calls_in_text)

    def investigate(self, investigation: Investigation) -> AsyncIterator[Thought | Move]:
        """Decide the next turn of a pass."""
        return search_agent.investigate(self._speaker, investigation, in_text=self._calls_in_text)

    def draft_plan(self, planning: Planning) -> AsyncIterator[Thought | PlanMessage]:
        """Draft a plan, revise it, or ask something back."""
        return planner.draft_plan(self._speaker, planning)

    def synthesize(self, commission: Commission) -> AsyncIterator[Thought | Delta | Answer]:
        """Write the answer."""
        return writer.synthesize(self._speaker, commission)

    def repair(self, order: Repair) -> AsyncIterator[Thought | Repaired]:
        """Rewrite or drop the unsupported sentences."""
        return repairer.repair(self._speaker, order)
