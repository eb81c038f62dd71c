"""The one repair of an answer: sentences without support are written anew or dropped."""

import re
from collections.abc import AsyncGenerator, Mapping, Sequence

from pydantic_ai import messages

from services.synth.languages import language_of
from services.synth.mending import (
    Mended,
    Sentence,
    mended,
    unsupported_sentences,
    without_unsupported,
)
from services.synth.mind import Evidence, Repair, Repaired, Thought
from services.synth.model.answer_text import AnswerText
from services.synth.model.fence import fenced
from services.synth.model.material import evidence_text
from services.synth.model.prompts import DROP, REPAIRER
from services.synth.model.speech import Musing, Pulse, Said, Speaker, Utterance
from services.synth.phrasebook import phrases_for

MAX_TOKENS = 2_000
MOST_SENTENCES = 20
_LINE = re.compile(r"^\s*(?:[-*]\s*)?(\d{1,2})\s*[:.)]\s*(\S.*)$")
_DROP = re.compile(rf"[\s*_`\"']*{DROP}\b")


async def repair(speaker: Speaker, order: Repair) -> AsyncGenerator[Thought | Repaired, None]:
    """The answer with its unsupported sentences mended where that was possible. Raises ModelError.

    A sentence that the reply says nothing usable of stays as it was.
    """
    if order.only_drops:
        yield without_unsupported(order)
        return
    broken = unsupported_sentences(order.markdown, order.unsupported)[:MOST_SENTENCES]
    evidence = _evidence_of(broken, order)
    if not broken or not evidence:
        yield Repaired(markdown=order.markdown, citations=order.citations)
        return
    phrases = phrases_for(language_of(order.question))
    yield Thought(text=phrases.mending.format(count=len(broken)))
    request = _request(order.question, broken, evidence)
    async for piece in speaker.speak([request], max_tokens=MAX_TOKENS):
        match piece:
            case Musing(text=text):
                yield Thought(text=text)
            case Utterance() | Pulse():
                # Shown only when it is whole; an empty thought shows that work goes on.
                yield Thought(text="")
            case Said(usage=usage) as said:
                changes = _changes(said.text, broken, evidence)
                if not _leaves_an_answer(order, changes):
                    changes = {}
                markdown, citations = mended(order.markdown, order.citations, changes)
                dropped = sum(not change.markdown for change in changes.values())
                yield Repaired(
                    markdown=markdown,
                    citations=citations,
                    rewritten=len(changes) - dropped,
                    dropped=dropped,
                    usage=usage,
                )


def _evidence_of(broken: Sequence[Sentence], order: Repair) -> tuple[Evidence, ...]:
    """The passages that the sentences cite, each once."""
    cited = {one.number: one.passage_id for one in order.citations}
    wanted = {cited.get(number) for sentence in broken for number in sentence.numbers}
    return tuple(one for one in order.evidence if one.passage.passage_id in wanted)


def _changes(
    reply: str, broken: Sequence[Sentence], evidence: Sequence[Evidence]
) -> Mapping[Sentence, Mended]:
    """What the reply says of each sentence; the first word on a sentence counts."""
    changes: dict[Sentence, Mended] = {}
    for line in reply.splitlines():
        match = _LINE.match(line)
        if match is None or not 1 <= int(match.group(1)) <= len(broken):
            continue
        sentence = broken[int(match.group(1)) - 1]
        if (change := _mended(match.group(2), evidence)) is not None:
            changes.setdefault(sentence, change)
    return changes


def _mended(line: str, evidence: Sequence[Evidence]) -> Mended | None:
    """The new sentence; None for one that cites nothing, which would be no better."""
    if _DROP.match(line):
        return Mended()
    text = AnswerText(evidence)
    markdown = (text.feed(line) + text.finish()).strip()
    return Mended(markdown=markdown, citations=text.citations) if text.citations else None


def _leaves_an_answer(order: Repair, changes: Mapping[Sentence, Mended]) -> bool:
    """Whether something cited is left; an answer of nothing says less than one with its marks."""
    gone = {n for sentence in changes for n in sentence.numbers}
    return any(change.markdown for change in changes.values()) or any(
        one.number not in gone for one in order.citations
    )


def _request(
    question: str, broken: Sequence[Sentence], evidence: Sequence[Evidence]
) -> messages.ModelMessage:
    # The sentences are a model's words about library text: material like any other.
    listed = "\n".join(f"{n}: {fenced(one.text)}" for n, one in enumerate(broken, 1))
    parts = [
        f"Passages:\n\n{evidence_text(evidence)}",
        f"Question: {question}",
        f"Sentences:\n{listed}",
    ]
    return messages.ModelRequest(
        parts=[messages.UserPromptPart(content="\n\n".join(parts))], instructions=REPAIRER
    )
