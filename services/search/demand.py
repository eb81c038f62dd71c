"""Which documents are asked for before their vectors are made."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

# Enough to know what is asked most; a long process does not collect names for ever.
MOST_NAMES = 10_000

T = TypeVar("T")


class Demand:
    """Counts searches that found a document by its words alone."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()
        self.version = 0
        """Another number says that the order may be another."""

    def note(self, document_ids: Iterable[str]) -> None:
        """These were found without a vector."""
        asked = set(document_ids)
        if not asked:
            return
        self._asked.update(asked)
        self.version += 1
        if len(self._asked) > MOST_NAMES:
            self._asked = Counter(dict(self._asked.most_common(MOST_NAMES // 2)))

    def most_asked_first(self, work: Sequence[T], document_of: Callable[[T], str]) -> list[T]:
        """The work with what is asked most first, else in the order given."""
        return sorted(work, key=lambda one: -self._asked[document_of(one)])
