"""Whether passages carry what an aspect asks for, judged by its telling words and by similarity."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.chassis.words import sentences
from services.synth.aspects import Aspect
from services.synth.languages import SAMPLED_CHARS, language_of
from services.synth.mind import Passage
from services.synth.statements import Statement, statements
from services.synth.terms import Term, Vocabulary, vocabulary_of

# What some passage must reach: the share of the aspect's telling words that it holds, or the mean
# of that share and the similarity where one is known. Set on the training claims of SciFact, of
# which 0.95 reach it, against questions from another field, of which 0.99 do not.
ENOUGH = 0.5
# However similar a passage is, this share of the words it must hold.
LEAST_SHARE = 0.33
# With another language than the question's, words cannot meet; only a high similarity counts.
SIMILAR_ACROSS_LANGUAGES = 0.42
BEST_DOCUMENTS = 8
PLAIN_READINGS = 4


@dataclass(frozen=True, slots=True)
class Reading:
    """A passage with the stems of all that is known of it, and the scores that were given to it."""

    passage: Passage
    vocabulary: Vocabulary
    similarity: float | None
    sentence_scores: tuple[float, ...]

    def score_of(self, ordinal: int) -> float | None:
        """The score of a sentence by its place; None when it was not scored."""
        return self.sentence_scores[ordinal] if ordinal < len(self.sentence_scores) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A passage, its similarity to a query and the scores of its sentences, if they are known."""

    passage: Passage
    similarity: float | None = None
    sentence_scores: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """How far the passages carry an aspect."""

    aspect: Aspect
    share: float
    """The largest share of the aspect's words in one passage."""
    score: float
    best: tuple[Passage, ...]
    """The best passage of each document, best first."""
    plainest: float
    """The largest share of the aspect's words in one sentence."""
    missing: tuple[Term, ...]
    """The telling words that no passage holds."""
    is_supported: bool
    foreign: tuple[Term, ...] = ()
    """Those of the missing words that name something the library does not deal with."""
    doubtful: tuple[Term, ...] = ()
    """Those that may do so."""


class Rarity:
    """How telling a term is among these texts: one that is in all of them says little."""

    def __init__(self, vocabularies: Sequence[Vocabulary]) -> None:
        self._vocabularies = vocabularies
        self._known: dict[str, float] = {}

    def weight(self, term: Term) -> float:
        """The term's own weight, up to doubled for a term in few of the texts."""
        if term.stem not in self._known:
            count = sum(term.stem in vocabulary for vocabulary in self._vocabularies)
            total = len(self._vocabularies)
            self._known[term.stem] = 1 + math.log((total + 1) / (count + 1)) / math.log(total + 2)
        return term.weight * self._known[term.stem]


class Library:
    """The passages seen, read once for all aspects."""

    def __init__(self, sources: Iterable[Source], language: str) -> None:
        self.readings = [
            Reading(
                one.passage,
                vocabulary_of(full_text(one.passage), language),
                one.similarity,
                one.sentence_scores,
            )
            for one in sources
        ]
        self.language = language
        self.rarity = Rarity([reading.vocabulary for reading in self.readings])
        self.text_language = self._main_language() if self.readings else language
        self.speaks_the_language = language == self.text_language
        self._statements: dict[str, tuple[Statement, ...]] = {}
        scores = (
            reading.score_of(one.ordinal)
            for reading in self.readings
            if reading.sentence_scores
            for one in self.statements(reading)
        )
        self.best_sentence = max((score for score in scores if score is not None), default=0.0)
        """The score of the statement that answers the question best; 0 when none was scored."""

    def statements(self, reading: Reading) -> tuple[Statement, ...]:
        """What can be quoted from a passage."""
        passage = reading.passage
        if passage.passage_id not in self._statements:
            self._statements[passage.passage_id] = tuple(
                statements(
                    passage.text,
                    self.text_language,
                    is_prose=passage.first_page_index is None,
                )
            )
        return self._statements[passage.passage_id]

    def _main_language(self) -> str:
        sample = " ".join(reading.passage.text for reading in self.readings)
        return language_of(sample[:SAMPLED_CHARS])


def full_text(passage: Passage) -> str:
    """The text under its title and headings, with who wrote it and when."""
    work = passage.work
    return "\n".join([work.title, *work.creators, work.year, *passage.section_path, passage.text])


def coverage(terms: Iterable[Term], vocabulary: Vocabulary, rarity: Rarity) -> float:
    """The share of the terms' weight that the text holds, 0 to 1."""
    weights = [(rarity.weight(term), term.stem in vocabulary) for term in terms]
    total = sum(weight for weight, _ in weights)
    return sum(weight for weight, held in weights if held) / total if total else 0.0


def find(aspect: Aspect, library: Library) -> Finding:
    """How far the passages carry the aspect."""
    shares = [_share(aspect, reading, library.rarity) for reading in library.readings]
    scored = [
        (_score(share, reading.similarity), reading)
        for share, reading in zip(shares, library.readings, strict=True)
    ]
    scored.sort(key=lambda one: -one[0])
    score = scored[0][0] if scored else 0.0
    best: dict[str, Passage] = {}
    for _, reading in scored:
        best.setdefault(reading.passage.work.document_id, reading.passage)
    missing = tuple(
        term
        for term in aspect.specific
        if not any(term.stem in reading.vocabulary for reading in library.readings)
    )
    supported = score >= ENOUGH
    if not library.speaks_the_language:
        similarity = max((one.similarity or 0.0 for one in library.readings), default=0.0)
        supported = supported or similarity >= SIMILAR_ACROSS_LANGUAGES
    return Finding(
        aspect=aspect,
        share=max(shares, default=0.0),
        score=score,
        best=tuple(best.values())[:BEST_DOCUMENTS],
        plainest=_plainest(aspect, [reading for _, reading in scored[:PLAIN_READINGS]], library),
        missing=missing,
        is_supported=supported,
    )


def _plainest(aspect: Aspect, readings: Sequence[Reading], library: Library) -> float:
    return max(
        (
            coverage(aspect.terms, vocabulary_of(text[start:end], library.language), library.rarity)
            for text in (reading.passage.text for reading in readings)
            for start, end in sentences(text)
        ),
        default=0.0,
    )


def _score(share: float, similarity: float | None) -> float:
    if similarity is None:
        return share
    return (share + similarity) / 2 if share >= LEAST_SHARE else min(share, similarity)


def _share(aspect: Aspect, reading: Reading, rarity: Rarity) -> float:
    """The share of the aspect in one passage; without its own words an aspect is not there."""
    share = coverage(aspect.terms, reading.vocabulary, rarity)
    if not aspect.own:
        return share
    return min(share, coverage(aspect.own, reading.vocabulary, rarity) + 0.25)
