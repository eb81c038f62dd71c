"""What an answer leaves open: the reported gaps and the aspects without support, each once."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from services.synth.aspects import Aspect
from services.synth.citations import one_line
from services.synth.phrases import Phrases
from services.synth.terms import stems_of

ALIKE = 0.7
# Stands for the things where a phrase is taken apart; no text holds it.
SLOT = "\0"


def as_gap(aspect: Aspect, things: Sequence[str], phrases: Phrases) -> str:
    """The aspect as a gap, with the things that the library says nothing of."""
    if not things:
        return aspect.label
    return f"{aspect.label} ({phrases.nothing_on.format(things=', '.join(things))})"


def names_things(gap: str, aspect: Aspect) -> bool:
    """Whether a reported gap is this aspect with things that the search knew to be missing."""
    return gap.startswith(f"{aspect.label} (")


def as_thing(things: Sequence[str], phrases: Phrases) -> str:
    """A gap beside an answer: the things that the library says nothing of."""
    said = phrases.nothing_on.format(things=", ".join(things))
    return said[:1].upper() + said[1:]


def gaps_beside(thin: Mapping[str, str], doubtful: Sequence[str], phrases: Phrases) -> list[str]:
    """Gaps by the labels of their aspects, then the doubtful things; none is named twice.

    An extension searches such a thing as an aspect of its own.
    """
    if not doubtful:
        return list(thin.values())
    said = as_thing(doubtful, phrases)
    thing = thing_in(said, phrases).casefold()
    return [*(gap for label, gap in thin.items() if label.casefold() != thing), said]


def thing_in(gap: str, phrases: Phrases) -> str:
    """The things that such a gap beside an answer names; empty for a gap of another kind."""
    before, _, after = as_thing([SLOT], phrases).partition(SLOT)
    if not (gap.startswith(before) and gap.endswith(after)):
        return ""
    return gap[len(before) : len(gap) - len(after)].strip()


def names_the_same(gap: str, aspect: Aspect, language: str) -> bool:
    """Whether a reported gap is this aspect, in these or nearly these words."""
    return (
        gap.startswith(aspect.label)
        or alike(gap, aspect.label, language)
        or alike(gap, aspect.query, language)
    )


def remaining_gaps(
    reported: Iterable[str], open_aspects: Iterable[str], answered: Collection[str], language: str
) -> list[str]:
    """The gaps to name, in order; one that the answer covers after all is left out."""
    gaps: list[str] = []
    for gap in map(one_line, [*reported, *open_aspects]):
        if not gap or any(alike(gap, label, language) for label in answered):
            continue
        if not any(known.startswith(gap) or alike(gap, known, language) for known in gaps):
            gaps.append(gap)
    return gaps


def alike(left: str, right: str, language: str) -> bool:
    """Whether two phrases name the same in nearly the same words."""
    if left.strip() == right.strip():
        return True
    one, other = stems_of(left, language), stems_of(right, language)
    union = one | other
    return bool(union) and len(one & other) / len(union) >= ALIKE
