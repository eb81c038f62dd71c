"""Writing the answer without a model: quoted sentences, their sources, and what is missing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from services.synth.aspects import Aspect, whole
from services.synth.assessment import (
    ENOUGH,
    LEAST_SHARE,
    SIMILAR_ACROSS_LANGUAGES,
    Finding,
    Library,
    Source,
    find,
)
from services.synth.attribution import introduction, listed
from services.synth.citations import Numbering, as_plain_markdown, one_line, require_verbatim
from services.synth.extraction import Chosen, choose
from services.synth.gaps import names_the_same, names_things, remaining_gaps
from services.synth.languages import is_across_languages, language_of
from services.synth.mind import Answer, Citation, Commission
from services.synth.phrases import Phrases
from services.synth.planning import planned_aspects
from services.synth.polarity import may_disagree

MAX_SENTENCES = 8
SENTENCES_FOR_ONE = 4
SENTENCES_FOR_EACH_OF_TWO, SENTENCES_PER_ASPECT = 3, 2
NEAREST_WORKS = 3
MAX_HINTS = 1
# An aspect that the search reported as a gap is answered after all only if this much of it is
# there.
SURE = 0.85


@dataclass(frozen=True, slots=True)
class _Part:
    """Sentences under a heading; without one those that answer the question as a whole."""

    heading: str
    chosen: tuple[Chosen, ...]


def compose(commission: Commission, phrases: Phrases) -> Answer:
    """The answer from the evidence and nothing else."""
    language = language_of(commission.question)
    library = Library(
        [
            Source(passage=one.passage, sentence_scores=one.sentence_scores)
            for one in commission.evidence
        ],
        language,
    )
    aspects = planned_aspects(commission.question, commission.confirmed_plan)
    findings = [find(aspect, library) for aspect in aspects]
    held = [one.aspect for one in findings if _holds(one, commission, library)]
    parts = _parts(held, commission.question, library)
    answered = {one.label for one in held} if parts else set()
    open_aspects = [one.aspect.label for one in findings if one.aspect.label not in answered]
    gaps = remaining_gaps(commission.gaps, open_aspects, answered, language)
    texts = [one.passage.text for one in commission.evidence]
    is_across = is_across_languages(commission.question, texts, commission.bridged_languages)
    writer = _Writer(phrases, tells_languages=is_across)
    if not parts:
        return writer.unanswered(commission, gaps)
    return writer.answer(parts, gaps)


def _holds(finding: Finding, commission: Commission, library: Library) -> bool:
    language = language_of(commission.question)
    if any(names_things(gap, finding.aspect) for gap in commission.gaps):
        return False
    reported = any(names_the_same(gap, finding.aspect, language) for gap in commission.gaps)
    if not library.speaks_the_language:
        # Words of another language prove little either way; the model's scores decide, or without
        # them the search, which knew similarities.
        if library.best_sentence:
            return library.best_sentence >= SIMILAR_ACROSS_LANGUAGES and not reported
        return bool(library.readings) and not reported
    if reported:
        return finding.share >= SURE and not finding.missing
    # The search also knew similarities; what it found covered needs fewer of the words here.
    was_covered = finding.aspect.topic in commission.covered_summary
    return finding.share >= (LEAST_SHARE if was_covered else ENOUGH)


def _parts(aspects: Sequence[Aspect], question: str, library: Library) -> list[_Part]:
    """The sentences for each aspect; before those of members, what answers all of them at once."""
    asked: list[tuple[str, Aspect]] = [(one.heading, one) for one in aspects]
    if len([one for one in aspects if one.own]) > 1:
        asked.insert(0, ("", whole(question, library.language)))
    limits = {1: SENTENCES_FOR_ONE, 2: SENTENCES_FOR_EACH_OF_TWO}
    limit = limits.get(len(asked), SENTENCES_PER_ASPECT)
    taken: list[Chosen] = []
    parts: list[_Part] = []
    for heading, aspect in asked:
        room = min(limit, MAX_SENTENCES - len(taken))
        chosen = choose(aspect, library, library.language, limit=room, taken=taken)
        taken += chosen
        # Without a new sentence an aspect is answered by those that stand there already.
        if chosen:
            parts.append(_Part(heading, tuple(chosen)))
    # A heading over one member alone would leave the reader looking for the others.
    if len(parts) < len(asked):
        return [replace(part, heading="") for part in parts]
    return parts


class _Writer:
    """Collects blocks of Markdown and the citations in them."""

    def __init__(self, phrases: Phrases, *, tells_languages: bool) -> None:
        self._phrases = phrases
        self._tells_languages = tells_languages
        self._numbering = Numbering()
        self._blocks: list[str] = []
        self._citations: dict[int, Citation] = {}

    def answer(self, parts: Sequence[_Part], gaps: Sequence[str]) -> Answer:
        for part in parts:
            if len(parts) > 1 and part.heading:
                self._blocks.append(f"**{as_plain_markdown(part.heading)}**")
            self._blocks += [self._quoted(chosen) for chosen in part.chosen]
        self._blocks += self._hints([chosen for part in parts for chosen in part.chosen])
        if self._tells_languages:
            self._blocks.append(self._phrases.other_language)
        self._gaps(gaps)
        return self._finished(gaps, answered=True)

    def unanswered(self, commission: Commission, gaps: Sequence[str]) -> Answer:
        self._blocks.append(self._phrases.nothing)
        works = {one.passage.work.document_id: one.passage.work for one in commission.evidence}
        if nearest := [
            listed(work, self._phrases) for work in list(works.values())[:NEAREST_WORKS]
        ]:
            self._blocks.append(self._phrases.nearest)
            self._blocks.append("\n".join(f"- {line}" for line in dict.fromkeys(nearest)))
        if self._tells_languages:
            self._blocks.append(self._phrases.other_language)
        self._gaps(gaps)
        return self._finished(gaps, answered=False)

    def _quoted(self, chosen: Chosen) -> str:
        require_verbatim(chosen.quote, chosen.passage.text)
        number = self._numbering.number(chosen.quote)
        lead = introduction(chosen.passage.work, self._phrases)
        blank = " " if lead and lead[-1].isascii() else ""
        shown = f"{as_plain_markdown(lead)}{blank}“{as_plain_markdown(chosen.quote.text)}”"
        self._citations[number] = Citation(
            number=number,
            passage_id=chosen.quote.passage_id,
            quote=chosen.quote.text,
            statement=f"{one_line(lead)}{blank}“{one_line(chosen.quote.text)}”",
        )
        return f"{shown} [{number}]"

    def _hints(self, chosen: Sequence[Chosen]) -> Iterator[str]:
        pairs = [
            (one, other)
            for one, other in combinations(chosen, 2)
            if one.passage.work.document_id != other.passage.work.document_id
            and may_disagree(one.quote.text, other.quote.text, one.stems, other.stems)
        ]
        for one, other in pairs[:MAX_HINTS]:
            yield self._phrases.disagreement.format(
                first=f"[{self._numbering.number(one.quote)}]",
                second=f"[{self._numbering.number(other.quote)}]",
            )

    def _gaps(self, gaps: Sequence[str]) -> None:
        if gaps:
            self._blocks.append(f"**{self._phrases.gaps_heading}**")
            self._blocks.append("\n".join(f"- {as_plain_markdown(gap)}" for gap in gaps))

    def _finished(self, gaps: Sequence[str], *, answered: bool) -> Answer:
        self._blocks.append(f"*{self._phrases.honesty}*")
        return Answer(
            markdown="\n\n".join(self._blocks) + "\n",
            citations=tuple(self._citations[number] for number in sorted(self._citations)),
            gaps=tuple(gaps),
            answered=answered,
        )
