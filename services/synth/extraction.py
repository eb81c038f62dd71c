"""Choosing the sentences of the evidence that say most about an aspect, without saying it twice."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from services.chassis.words import count_words, cut_at_sentence, sentences
from services.synth.aspects import Aspect
from services.synth.assessment import Library, Reading, coverage
from services.synth.citations import Quote, quote_from
from services.synth.mind import Passage
from services.synth.terms import Vocabulary, stems_of

MIN_WORDS = 5
MAX_WORDS = 80
# How much of a sentence's score comes from itself, from its passage, and from the passage's rank.
OWN_SHARE, PASSAGE_SHARE, RANK_SHARE = 0.55, 0.30, 0.15
NUMBER_BONUS = 0.08
FINDING_BONUS = 0.03
REPETITION_COST = 0.4
# A sentence much weaker than the best one is left out, even if there is room.
WORTH_QUOTING = 0.75
PER_WORK = 2

_QUANTITY = re.compile(
    r"\bhow (?:many|much|long|often|old|large|big|far|high|low|few|strong)\b|\bby how\b|"
    r"\bwhat (?:dose|percentage|proportion|share|number|rate|age|duration|fraction)\b|"
    r"\bwie (?:viele?|lange|hoch|oft|groß|stark)\b|\bcombien\b|\bcuánt|\bquant[oiae]\b|\bhoeveel\b|"
    r"\bhoe (?:lang|vaak|groot)\b|сколько|"
    r"多少|几|いくつ|何(?:人|回|時間|年|%|％)|どのくらい|얼마|몇|\bكم\b",
    re.IGNORECASE,
)
_STATISTIC = re.compile(r"\d\s?[%％]|\b[pnrd]\s?[<=>≤≥]|\bCI\b|±|\d[.,]\d")
_NO_SOURCE = re.compile(
    r"^\W*\d*\W*(?:references?|bibliography|works cited|literature cited|literatur(?:verzeichnis)?|"
    r"références|bibliographie|referencias|bibliografía|bibliografia|referências|literatuur|"
    r"список литературы|литература|参考文献|參考文獻|引用文献|참고문헌|المراجع|"
    r"acknowledge?ments?|danksagung|remerciements|agradecimientos)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A sentence picked for an aspect."""

    quote: Quote
    passage: Passage
    score: float
    stems: frozenset[str]


def choose(
    aspect: Aspect,
    library: Library,
    language: str,
    *,
    limit: int,
    taken: Sequence[Chosen] = (),
) -> list[Chosen]:
    """At most `limit` sentences, best first; none that repeats one that was already taken."""
    pool = sorted(_candidates(aspect, library, language), key=lambda one: -one.score)[:60]
    if not pool:
        return []
    least = WORTH_QUOTING * pool[0].score
    chosen: list[Chosen] = []
    while len(chosen) < limit:
        before = [*taken, *chosen]
        open_ones = [one for one in pool if one.score >= least and _is_new(one, before, chosen)]
        if not open_ones:
            break
        chosen.append(max(open_ones, key=lambda one: one.score - _repetition(one, before)))
    return chosen


def quotable(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of the text that can be quoted: whole sentences, a very long one cut to its start."""
    for start, end in sentences(text):
        words = count_words(text[start:end])
        if words < MIN_WORDS:
            continue
        if words > MAX_WORDS:
            end = start + len(cut_at_sentence(text[start:end], MAX_WORDS))
        yield start, end


def _candidates(aspect: Aspect, library: Library, language: str) -> Iterator[Chosen]:
    asks_number = _QUANTITY.search(aspect.query) is not None
    for rank, reading in enumerate(library.readings):
        if any(_NO_SOURCE.match(title) for title in reading.passage.section_path):
            continue
        around = coverage(aspect.terms, reading.vocabulary, library.rarity)
        base = PASSAGE_SHARE * around + RANK_SHARE / (1 + rank / 3)
        yield from _from_passage(aspect, reading, library, language, base, asks_number)


def _from_passage(
    aspect: Aspect,
    reading: Reading,
    library: Library,
    language: str,
    base: float,
    asks_number: bool,
) -> Iterator[Chosen]:
    passage = reading.passage
    for start, end in quotable(passage.text):
        text = passage.text[start:end]
        if text.rstrip().endswith(("?", "？", "؟")):
            continue
        stems = stems_of(text, language)
        share = coverage(aspect.terms, Vocabulary(stems), library.rarity)
        if not share and library.speaks_the_language:
            continue
        score = base + OWN_SHARE * share
        if asks_number and any(letter.isdigit() for letter in text):
            score += NUMBER_BONUS
        if _STATISTIC.search(text):
            score += FINDING_BONUS
        quote = quote_from(passage.passage_id, passage.text, start, end)
        yield Chosen(quote=quote, passage=passage, score=score, stems=stems)


def _is_new(one: Chosen, before: Collection[Chosen], here: Collection[Chosen]) -> bool:
    if any(_alike(one, other) > 0.7 for other in before):
        return False
    document = one.passage.work.document_id
    return sum(other.passage.work.document_id == document for other in here) < PER_WORK


def _repetition(one: Chosen, before: Collection[Chosen]) -> float:
    return REPETITION_COST * max((_alike(one, other) for other in before), default=0.0)


def _alike(one: Chosen, other: Chosen) -> float:
    if one.quote.text == other.quote.text:
        return 1.0
    union = one.stems | other.stems
    return len(one.stems & other.stems) / len(union) if union else 0.0
