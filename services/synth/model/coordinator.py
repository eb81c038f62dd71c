"""The dialogue coordinator with a language model: answer from the session, or start research."""

import json
from collections.abc import AsyncGenerator

from pydantic_ai import messages

from services.synth.mind import (
    Conversation,
    Delta,
    DirectAnswer,
    ResearchRequest,
    Thought,
    Tool,
)
from services.synth.model import dialect
from services.synth.model.answer_text import AnswerText
from services.synth.model.material import history_text
from services.synth.model.prompts import (
    COORDINATOR,
    RESEARCH_DESCRIPTION,
    RESEARCH_SCHEMA,
    RESEARCH_TOOL,
)
from services.synth.model.speech import Musing, Pulse, Said, Speaker, Utterance

MAX_TOKENS = 1_000
MAX_QUESTION_CHARS = 4_000
RESEARCH = Tool(
    name=RESEARCH_TOOL, description=RESEARCH_DESCRIPTION, parameters_schema=RESEARCH_SCHEMA
)


async def converse(
    speaker: Speaker, conversation: Conversation, *, in_text: bool
) -> AsyncGenerator[Thought | Delta | DirectAnswer | ResearchRequest, None]:
    """A direct answer or a question for research. Raises ModelError."""
    instructions = f"{COORDINATOR}\n{dialect.instructions([RESEARCH])}" if in_text else COORDINATOR
    transcript = [_request(conversation, instructions)]
    tools = [] if in_text else [RESEARCH]
    async for piece in speaker.speak(transcript, tools=tools, max_tokens=MAX_TOKENS):
        match piece:
            case Musing(text=text):
                yield Thought(text=text)
            case Utterance() | Pulse():
                # Whether this is an answer is known only when no call has followed; until then an
                # empty thought shows that work goes on.
                yield Thought(text="")
            case Said(usage=usage) as said:
                if (question := _question(said, conversation)) is not None:
                    items = conversation.active_items
                    yield ResearchRequest(question=question, active_items=items, usage=usage)
                    return
                # No evidence: whatever looks like a citation or a link vanishes.
                shown = AnswerText(evidence=())
                markdown = shown.feed(said.text.strip()) + shown.finish() + "\n"
                yield Delta(text=markdown)
                yield DirectAnswer(markdown=markdown, usage=usage)


def _question(said: Said, conversation: Conversation) -> str | None:
    """The question for research; None when the model answered by itself."""
    calls = said.calls or dialect.calls_in(said.text, frozenset({RESEARCH_TOOL}))
    if not calls:
        # Silence is no answer: then the prompt itself is searched for.
        return None if said.text.strip() else conversation.prompt
    try:
        question = json.loads(calls[0].arguments)["question"]
    except (ValueError, KeyError, TypeError, RecursionError):
        question = ""
    usable = isinstance(question, str) and question.strip()
    return question.strip()[:MAX_QUESTION_CHARS] if usable else conversation.prompt


def _request(conversation: Conversation, instructions: str) -> messages.ModelMessage:
    parts = []
    if conversation.history:
        parts.append(f"The conversation so far:\n{history_text(conversation.history)}")
    parts.append(f"The researcher's newest message:\n{conversation.prompt}")
    return messages.ModelRequest(
        parts=[messages.UserPromptPart(content="\n\n".join(parts))], instructions=instructions
    )
