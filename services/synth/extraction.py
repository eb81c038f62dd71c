"""Choosing the sentences of the evidence that say most about an aspect, without saying it twice."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from services.synth.aspects import Aspect
from services.synth.assessment import Library, Reading, coverage
from services.synth.citations import Quote, quote_from
from services.synth.mind import Passage
from services.synth.polarity import may_disagree
from services.synth.signs import Signs, section_bonus
from services.synth.terms import Vocabulary, stems_of

# How much of a sentence's score comes from itself, from its passage, and from the passage's rank.
OWN_SHARE, PASSAGE_SHARE, RANK_SHARE = 0.75, 0.15, 0.10
# How much of what comes from the sentence itself is the model's score, where there is one.
MODEL_SHARE = 0.6
# The reader's own notes are no source as long as a work says it too.
OWN_NOTE_COST = 0.25
# A sentence that names what sets this aspect apart, or is of a work about it.
MEMBER_SHARE = 0.2
REPETITION_COST = 0.25
# A second work on the same thing says more than a second sentence of the first.
SAME_WORK_COST = 0.04
# A sentence much weaker than the best one is left out, even if there is room.
WORTH_QUOTING = 0.78
# The first sentence of an aspect whose best one stands in the answer already.
WORTH_ADDING = 0.7
PER_WORK = 2
POOL = 60

_NO_SOURCE = re.compile(
    r"^\W*\d*\W*(?:references?|bibliography|works cited|literature cited|literatur(?:verzeichnis)?|"
    r"références|bibliographie|referencias|bibliografía|bibliografia|referências|literatuur|"
    r"список литературы|литература|参考文献|參考文獻|引用文献|참고문헌|المراجع|"
    r"front matter|acknowledge?ments?|danksagung|remerciements|agradecimientos)\b",
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
    pool = _folded(_candidates(aspect, library, language))[:POOL]
    chosen: list[Chosen] = []
    least = WORTH_ADDING * pool[0].score if pool else 0.0
    while len(chosen) < limit:
        before = [*taken, *chosen]
        open_ones = [one for one in pool if one.score >= least and _is_new(one, before, chosen)]
        if not open_ones:
            break
        chosen.append(max(open_ones, key=lambda one: one.score - _repetition(one, before, chosen)))
        least = WORTH_QUOTING * max(one.score for one in chosen)
    return chosen


def _folded(candidates: Iterable[Chosen]) -> list[Chosen]:
    """The candidates, best first, each sentence once: with a page where there is one.

    An abstract is often held twice, as a field of the record and on the first page.
    """
    found: dict[str, Chosen] = {}
    for one in sorted(candidates, key=lambda one: -one.score):
        # A page may break a word where the record does not.
        text = "".join(letter for letter in one.quote.text if letter.isalnum())
        known = found.setdefault(text, one)
        if known.passage.first_page_index is None and one.passage.first_page_index is not None:
            found[text] = replace(one, score=known.score)
    return list(found.values())


def _only_names_the_work(stems: frozenset[str], title: frozenset[str]) -> bool:
    """Whether little remains without the words of the title, as in a running head."""
    return bool(title) and len(stems - title) <= len(stems & title) / 4


def _candidates(aspect: Aspect, library: Library, language: str) -> Iterator[Chosen]:
    signs = Signs(aspect.query)
    for rank, reading in enumerate(library.readings):
        if any(_NO_SOURCE.match(title) for title in reading.passage.section_path):
            continue
        if aspect.own and not coverage(aspect.own, reading.vocabulary, library.rarity):
            continue
        named = stems_of(reading.passage.work.title, language)
        around = coverage(aspect.terms, reading.vocabulary, library.rarity)
        base = PASSAGE_SHARE * around + RANK_SHARE / (1 + rank / 3)
        base += section_bonus(reading.passage.section_path)
        base -= OWN_NOTE_COST if reading.passage.work.is_own_note else 0.0
        for one in _from_passage(aspect, reading, library, base, signs):
            if not _only_names_the_work(one.stems, named):
                yield one


def _from_passage(
    aspect: Aspect,
    reading: Reading,
    library: Library,
    base: float,
    signs: Signs,
) -> Iterator[Chosen]:
    passage = reading.passage
    for one in library.statements(reading):
        text = passage.text[one.start : one.end]
        stems = stems_of(text, library.language)
        share = coverage(aspect.terms, Vocabulary(stems), library.rarity)
        model = reading.score_of(one.ordinal)
        if not share and library.speaks_the_language and model is None:
            continue
        score = base + OWN_SHARE * _own(share, model, library) + signs.bonus(text)
        if aspect.focus:
            named = Vocabulary(stems | stems_of(passage.work.title, library.language))
            score += MEMBER_SHARE * coverage(aspect.focus, named, library.rarity)
        quote = quote_from(passage.passage_id, passage.text, one.start, one.end)
        yield Chosen(quote=quote, passage=passage, score=score, stems=stems)


def _own(share: float, model: float | None, library: Library) -> float:
    """What a sentence says by itself: by its words, and by the model in relation to its best."""
    if model is None or not library.best_sentence:
        return share
    relative = model / library.best_sentence
    if not library.speaks_the_language:
        return relative
    return (1 - MODEL_SHARE) * share + MODEL_SHARE * relative


def _is_new(one: Chosen, before: Collection[Chosen], here: Collection[Chosen]) -> bool:
    if any(_alike(one, other) > 0.7 for other in before):
        return False
    return sum(_same_work(one, other) for other in here) < PER_WORK


def _same_work(one: Chosen, other: Chosen) -> bool:
    """Whether both are of one work; a library may hold it twice."""
    left, right = one.passage.work, other.passage.work
    if left.document_id == right.document_id:
        return True
    return bool(left.title) and (left.title, left.year) == (right.title, right.year)


def _repetition(one: Chosen, before: Collection[Chosen], here: Collection[Chosen]) -> float:
    said = REPETITION_COST * max((_alike(one, other) for other in before), default=0.0)
    return said + SAME_WORK_COST * any(_same_work(one, other) for other in here)


def _alike(one: Chosen, other: Chosen) -> float:
    if one.quote.text == other.quote.text:
        return 1.0
    # A denial in nearly the same words is the last thing to leave out.
    if one.passage.work.document_id != other.passage.work.document_id and may_disagree(
        one.quote.text, other.quote.text, one.stems, other.stems
    ):
        return 0.0
    union = one.stems | other.stems
    return len(one.stems & other.stems) / len(union) if union else 0.0
