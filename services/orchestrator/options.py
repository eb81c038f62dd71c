"""What a request chose, as applied: within what is configured, and with every clamp told. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from services.orchestrator.ceilings import Harness


class Strategy(StrEnum):
    """How far a run goes by itself; the values are the words of the wire."""

    QUICK = "QUICK"
    STANDARD = "STANDARD"
    DEEP = "DEEP"
    ACADEMIC = "ACADEMIC"


# Who answers the question for an extension when the strategy does.
STRATEGY = "strategy"
EXTENDING = frozenset({Strategy.DEEP, Strategy.ACADEMIC})


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """A request's options as applied."""

    max_extensions: int
    hitl_enabled: bool
    strategy: Strategy = Strategy.STANDARD
    review_plan: bool = False
    # How long a plan review waits; None: without end, or as long as any checkpoint.
    review_timeout_s: float | None = None
    # Research also where the session itself could answer.
    force_research: bool = False
    # How complex the search is, when it may begin with consent only; and the tools that need it.
    complexity: float | None = None
    consent_tools: Sequence[str] = ()

    @property
    def extends_itself(self) -> bool:
        """Whether extensions are granted without asking a person."""
        return self.strategy in EXTENDING

    @property
    def checks_support(self) -> bool:
        """Whether the sentences of the answer are judged."""
        return self.strategy is not Strategy.QUICK

    @property
    def drops_unsupported(self) -> bool:
        """Whether sentences that nothing supports are left out of the answer."""
        return self.strategy is Strategy.ACADEMIC

    @property
    def needs_research(self) -> bool:
        """Whether the session itself may not answer."""
        return self.review_plan or self.force_research


def options_from_json(data: Mapping[str, Any]) -> Options:
    """The options as their run holds them; an older run has fewer."""
    return Options(**{**data, "strategy": Strategy(data.get("strategy", Strategy.STANDARD))})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """A request's options as given; None leaves the choice to the configuration."""

    max_extensions: int | None = None
    hitl_enabled: bool | None = None
    strategy: Strategy = Strategy.STANDARD
    review_plan: bool = False
    review_timeout_s: float | None = None
    force_research: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewTimes:
    """How long a plan review may wait, and how long it does when nobody says."""

    longest_s: float
    default_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Clamp:
    """A wish that was not taken as it was given."""

    code: str
    field: str
    given: str
    used: str
    # The same for a person, one sentence.
    message: str


def harness_for(harness: Harness, strategy: Strategy) -> Harness:
    """The numbers of a run with this strategy: a quick one has half of the first pass."""
    if strategy is not Strategy.QUICK:
        return harness
    return replace(
        harness,
        max_retrieval_tools=_half(harness.max_retrieval_tools),
        hard_word_ceiling=_half(harness.hard_word_ceiling),
        max_rerank_chunks=_half(harness.max_rerank_chunks),
        max_extensions=0,
    )


def _half(number: int) -> int:
    return (number + 1) // 2


def clamp(
    harness: Harness, wishes: Wishes, times: ReviewTimes
) -> tuple[Options, tuple[Clamp, ...]]:
    """The options within the configured ones, and what was lowered."""
    clamps = []
    most = harness_for(harness, wishes.strategy).max_extensions
    extensions = most if wishes.max_extensions is None else wishes.max_extensions
    if extensions > most:
        clamps.append(_too_many(extensions, most))
        extensions = most
    asks = harness.hitl_enabled if wishes.hitl_enabled is None else wishes.hitl_enabled
    if asks and not harness.hitl_enabled:
        clamps.append(CHECKPOINTS_OFF)
        asks = False
    timeout_s = wishes.review_timeout_s
    if timeout_s is None or timeout_s <= 0:
        timeout_s = times.default_s
    elif timeout_s > times.longest_s:
        clamps.append(_too_long(timeout_s, times.longest_s))
        timeout_s = times.longest_s
    options = Options(
        max_extensions=extensions,
        hitl_enabled=asks,
        strategy=wishes.strategy,
        review_plan=wishes.review_plan,
        review_timeout_s=timeout_s if wishes.review_plan else None,
        force_research=wishes.force_research,
    )
    return options, tuple(clamps)


CHECKPOINTS_OFF = Clamp(
    code="HITL_DISABLED",
    field="hitl_enabled",
    given="true",
    used="false",
    message="hitl_enabled was set to false: checkpoints are off in the configuration.",
)


def _too_many(extensions: int, most: int) -> Clamp:
    return Clamp(
        code="MAX_EXTENSIONS_CLAMPED",
        field="max_extensions",
        given=str(extensions),
        used=str(most),
        message=f"max_extensions was lowered from {extensions} to the configured {most}.",
    )


def _too_long(seconds: float, longest_s: float) -> Clamp:
    return Clamp(
        code="REVIEW_TIMEOUT_CLAMPED",
        field="review_timeout",
        given=_plain(seconds),
        used=_plain(longest_s),
        message=f"review_timeout was lowered from {_plain(seconds)} s to the configured "
        f"{_plain(longest_s)} s.",
    )


def _plain(seconds: float) -> str:
    """The number without an exponent, and without a fraction that is none."""
    return f"{seconds:.3f}".rstrip("0").rstrip(".")
