"""The planner with a language model: a plan to be approved, or a question back."""

import re
from collections.abc import AsyncGenerator
from dataclasses import replace

from pydantic_ai import messages

from services.synth import planning as without_a_model
from services.synth.mind import PlanIntent, PlanMessage, Planning, Thought
from services.synth.model.answer_text import AnswerText
from services.synth.model.errors import ModelReplyUnusable
from services.synth.model.fence import from_the_person
from services.synth.model.material import MAX_PLAN_CHARS, question_text, review_text
from services.synth.model.prompts import DEFINITIVE, PLANNER
from services.synth.model.speech import Musing, Pulse, Said, Speaker, Utterance
from services.synth.plan_text import steps_of

MAX_TOKENS = 1_500
MAX_CHARACTERS = 8_000
_LABEL = re.compile(
    r"^[\s*_#>`\"']*(PLAN|READY|QUESTIONS?|FEEDBACK)\b[*_`\"']*[ \t]*(?::[*_`\"']*|$)", re.I | re.M
)
_READY = ("PLAN", "READY")


async def draft_plan(
    speaker: Speaker, planning: Planning
) -> AsyncGenerator[Thought | PlanMessage, None]:
    """A plan or a question back; when nothing may be asked any more, a plan. Raises ModelError."""
    async for piece in speaker.speak([_request(planning)], max_tokens=MAX_TOKENS):
        match piece:
            case Musing(text=text):
                yield Thought(text=text)
            case Utterance() | Pulse():
                # The plan is shown whole; an empty thought shows that work goes on.
                yield Thought(text="")
            case Said() as said:
                yield _message(said, planning, speaker.name)


def _message(said: Said, planning: Planning, name: str) -> PlanMessage:
    label = _LABEL.match(said.text)
    body = said.text[label.end() :] if label is not None else said.text
    # No evidence: whatever looks like a citation or a link vanishes.
    shown = AnswerText(evidence=())
    text = (shown.feed(body.strip()[:MAX_CHARACTERS]) + shown.finish()).strip()
    if not text:
        raise ModelReplyUnusable(f"{name}: the reply held no plan; retry.")
    is_ready = label.group(1).upper() in _READY if label else _looks_like_a_plan(text)
    if not is_ready and planning.is_definitive:
        # Asked for a plan it asked back; the steps of the question are a plan in any case.
        forced = without_a_model.draft(replace(planning, is_definitive=True))
        return replace(forced, usage=said.usage)
    intent = PlanIntent.READY if is_ready else PlanIntent.FEEDBACK
    return PlanMessage(text=f"{text}\n", intent=intent, usage=said.usage)


def _looks_like_a_plan(text: str) -> bool:
    """Whether there is a list, and not one of questions."""
    steps = steps_of(text)
    return len(steps) > sum(step.endswith(("?", "？", "؟")) for step in steps)


def _request(planning: Planning) -> messages.ModelMessage:
    parts = [question_text(planning.question, planning.active_items)]
    if planning.current_plan:
        parts.append(f"The plan so far:\n{from_the_person(planning.current_plan[:MAX_PLAN_CHARS])}")
    if said := review_text(planning.rounds):
        parts.append(f"What was said so far, the newest last:\n{said}")
    if planning.is_definitive:
        parts.append(DEFINITIVE)
    return messages.ModelRequest(
        parts=[messages.UserPromptPart(content="\n\n".join(parts))], instructions=PLANNER
    )
