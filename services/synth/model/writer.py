"""The synthesizer with a language model: a streamed answer that rests on the evidence alone."""

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from pydantic_ai import messages

from services.synth.attribution import listed
from services.synth.citations import as_plain_markdown
from services.synth.languages import is_across_languages, language_of
from services.synth.mind import Answer, Commission, Delta, Thought, Usage
from services.synth.model.answer_text import AnswerText
from services.synth.model.errors import ModelReplyUnusable
from services.synth.model.material import evidence_text, plan_text
from services.synth.model.prompts import NO_ANSWER, WRITER
from services.synth.model.speech import Musing, Said, Speaker, Utterance
from services.synth.phrasebook import phrases_for
from services.synth.phrases import Phrases

MAX_TOKENS = 4_000
# Of the reply with its marks; what a model may say in its tokens is less.
MAX_CHARACTERS = 60_000
NEAREST_WORKS = 3
_REFUSAL = re.compile(rf"[\s*_#\"']*{NO_ANSWER}(?!\w)")


async def synthesize(
    speaker: Speaker, commission: Commission
) -> AsyncGenerator[Thought | Delta | Answer, None]:
    """The answer; its deltas joined are its markdown. Raises ModelError."""
    phrases = phrases_for(language_of(commission.question))
    yield Thought(text=phrases.writing.format(count=len(commission.evidence)))
    if not commission.evidence:
        ending = _unanswered(commission, phrases)
        yield Delta(text=ending)
        yield Answer(markdown=ending, citations=(), gaps=commission.gaps, answered=False)
        return
    text = AnswerText(commission.evidence)
    opening = _Opening()
    shown: list[str] = []
    usage, room = Usage(), MAX_CHARACTERS
    pieces = speaker.speak([_request(commission)], max_tokens=MAX_TOKENS, may_restart=False)
    async with aclosing(pieces):
        async for piece in pieces:
            match piece:
                case Musing(text=thought):
                    yield Thought(text=thought)
                case Utterance(text=said):
                    if ready := text.feed(opening.passed(said[:room])):
                        shown.append(ready)
                        yield Delta(text=ready)
                    room -= len(said)
                    if room <= 0:
                        break
                case Said():
                    usage = piece.usage
    rest = text.feed(opening.left()) + text.finish()
    if not opening.is_refusal and not (shown or rest.strip()):
        raise ModelReplyUnusable(f"{speaker.name}: the reply held no answer; retry.")
    ending = rest + _ending(commission, text, phrases, is_refusal=opening.is_refusal)
    yield Delta(text=ending)
    yield Answer(
        markdown="".join(shown) + ending,
        citations=text.citations,
        gaps=commission.gaps,
        answered=bool(text.citations),
        usage=usage,
    )


class _Opening:
    """Holds the first characters back until it is sure that they are no refusal to answer."""

    def __init__(self) -> None:
        self._held = ""
        self._is_past = False
        self.is_refusal = False

    def passed(self, piece: str) -> str:
        if self.is_refusal:
            return ""
        if self._is_past:
            return piece
        self._held += piece
        start = self._held.lstrip(" \n\t*_#\"'")
        if NO_ANSWER.startswith(start):
            return ""
        self._is_past = True
        return self.left()

    def left(self) -> str:
        held, self._held = self._held, ""
        self.is_refusal = self.is_refusal or _REFUSAL.match(held) is not None
        return "" if self.is_refusal else held.lstrip()


def _request(commission: Commission) -> messages.ModelMessage:
    parts = [f"Passages:\n\n{evidence_text(commission.evidence)}"]
    if commission.covered_summary:
        parts.append(f"What the search says it covered: {commission.covered_summary}")
    if commission.confirmed_plan:
        parts.append(plan_text(commission.confirmed_plan, ()))
    parts.append(f"Question: {commission.question}")
    return messages.ModelRequest(
        parts=[messages.UserPromptPart(content="\n\n".join(parts))], instructions=WRITER
    )


def _ending(commission: Commission, text: AnswerText, phrases: Phrases, *, is_refusal: bool) -> str:
    if is_refusal:
        return _unanswered(commission, phrases)
    blocks = [] if text.citations else [f"*{phrases.uncited}*"]
    blocks += _languages(commission, phrases)
    blocks += _gaps(commission.gaps, phrases)
    return "".join(f"\n\n{block}" for block in blocks) + "\n"


def _unanswered(commission: Commission, phrases: Phrases) -> str:
    blocks = [phrases.nothing]
    works = {one.passage.work.document_id: one.passage.work for one in commission.evidence}
    if nearest := [listed(work, phrases) for work in list(works.values())[:NEAREST_WORKS]]:
        blocks.append(phrases.nearest)
        blocks.append("\n".join(f"- {line}" for line in dict.fromkeys(nearest)))
    blocks += _languages(commission, phrases)
    blocks += _gaps(commission.gaps, phrases)
    return "\n\n".join(blocks) + "\n"


def _languages(commission: Commission, phrases: Phrases) -> list[str]:
    """That question and passages are in different languages, where the search bridges them not."""
    texts = [one.passage.text for one in commission.evidence]
    is_across = is_across_languages(commission.question, texts, commission.bridged_languages)
    return [phrases.other_language] if is_across else []


def _gaps(gaps: Sequence[str], phrases: Phrases) -> list[str]:
    if not gaps:
        return []
    listed_gaps = "\n".join(f"- {as_plain_markdown(gap)}" for gap in gaps)
    return [f"**{phrases.gaps_heading}**", listed_gaps]
