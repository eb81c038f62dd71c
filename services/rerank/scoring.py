"""What a scorer is: pairs in, numbers out, and a plain account of itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol


class Kind(Enum):
    """What kind of model scores."""

    CROSS_ENCODER = "cross-encoder"
    EMBEDDING_STAND_IN = "embedding stand-in"


class Pair(NamedTuple):
    """A query or claim, and the text that may answer or carry it."""

    claim: str
    text: str
    heading: str = ""
    """The titles that the text stands under."""

    def passage(self) -> str:
        """The text under its heading, as a cross-encoder reads it."""
        return f"{self.heading}\n{self.text}" if self.heading else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Which model judges, in words for a person."""

    model: str
    kind: Kind
    description: str
    calibrated: bool
    share: float
    """How much the model's order of passages counts beside that of the search, 0 to 1."""


class Scorer(Protocol):
    """A model that reads pairs. Both methods block and are called from one thread at a time."""

    @property
    def identity(self) -> Identity:
        """Which model this is."""

    def relevance(self, pairs: Sequence[Pair]) -> list[float]:
        """How well each text answers its query; higher is better, on a scale of the model's own."""

    def support(self, pairs: Sequence[Pair]) -> list[float]:
        """How far each text supports its claim, 0 to 1."""


class ModelUnusable(Exception):
    """A model that was asked for cannot be loaded; the text is one sentence for a person."""
