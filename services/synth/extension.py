"""What an extension of the search is about: the gaps that were left, in words not tried before."""

from collections.abc import Collection, Iterator, Sequence
from itertools import islice, pairwise

from services.synth.aspects import Aspect, shortened, whole
from services.synth.gaps import names_the_same, thing_in
from services.synth.mind import Investigation
from services.synth.phrases import Phrases
from services.synth.terms import Term
from services.synth.trail import query_key

QUERIES_PER_GAP = 3


def extended(
    aspects: Sequence[Aspect], investigation: Investigation, language: str, phrases: Phrases
) -> tuple[tuple[Aspect, ...], frozenset[str]]:
    """All aspects, gaps that are none of them included, and the labels of those that are open.

    In a first pass everything is open.
    """
    if not investigation.pass_number:
        return tuple(aspects), frozenset(aspect.label for aspect in aspects)
    known = list(aspects)
    is_open = set()
    for gap in investigation.remaining_gaps:
        named = next((one for one in known if names_the_same(gap, one, language)), None)
        if named is None:
            named = whole(thing_in(gap, phrases) or gap, language)
            known.append(named)
        is_open.add(named.label)
    return tuple(known), frozenset(is_open)


def rephrased(aspect: Aspect, guidance: str, asked: Collection[str]) -> list[str]:
    """Queries for a gap that were not asked yet: with the person's words first, then narrower."""
    new: dict[str, str] = {}
    for query in _phrasings(aspect, guidance):
        if (key := query_key(query)) and key not in asked:
            new.setdefault(key, query)
    return list(islice(new.values(), QUERIES_PER_GAP))


def _phrasings(aspect: Aspect, guidance: str) -> Iterator[str]:
    own = _telling(aspect.terms)
    if guidance:
        wished = [term.surface for term in whole(guidance).specific]
        yield shortened(" ".join(dict.fromkeys([*wished, *own])), aspect.terms)
        yield whole(guidance).query
    yield " ".join(own)
    # Two telling words find what misses a third one.
    yield from (" ".join(pair) for pair in pairwise(own))
    yield from own


def _telling(terms: Sequence[Term]) -> list[str]:
    strong = [term.surface for term in sorted(terms, key=lambda term: -term.weight)]
    return strong[: max(2, len(strong) // 2 + 1)]
