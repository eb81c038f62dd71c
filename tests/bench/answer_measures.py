"""What is measured of answers about a judged library. Pure."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

FIRST = 3
# The judge of a sentence that is nothing but its quote.
QUOTE_FINDER = "quote"
VERIFIED = "verified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """One citation: whose text it is, and how its sentence was judged."""

    document: str
    support: str
    judged_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """An asked question with the documents that hold its evidence, and what came of it."""

    question: str
    gold: frozenset[str] = frozenset()
    answered: bool
    citations: Sequence[Cited]
    input_tokens: int
    seconds: float

    @property
    def is_found(self) -> bool:
        """Whether the evidence is among the first citations."""
        return any(one.document in self.gold for one in self.citations[:FIRST])

    @property
    def is_first(self) -> bool:
        """Whether the very first citation is evidence."""
        return bool(self.citations) and self.citations[0].document in self.gold


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How many of how many."""

    part: int
    whole: int

    def __str__(self) -> str:
        if not self.whole:
            return "none to count"
        return f"{self.part / self.whole:.3f} ({self.part} of {self.whole})"


def share(outcomes: Collection[Outcome], holds: Callable[[Outcome], bool]) -> Share:
    """The share of the outcomes that it holds for."""
    return Share(part=sum(map(holds, outcomes)), whole=len(outcomes))


def verified(outcomes: Collection[Outcome]) -> Share:
    """The share of verified sentences among the cited ones that say more than their quote."""
    judged = [
        one for outcome in outcomes for one in outcome.citations if one.judged_by != QUOTE_FINDER
    ]
    return Share(part=sum(one.support == VERIFIED for one in judged), whole=len(judged))
