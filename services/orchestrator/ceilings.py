"""Ceilings of a run: numbers, admission of calls, charging of words. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

ADVICE = "Conclude with conclude_search, or ask with request_search_extension."

# What the evidence costs at most: a word of most languages is one to two tokens, and the
# instructions and the answer come on top.
TOKENS_PER_WORD, TOKENS_OF_ANSWER = 2, 6_000


class BadNumber(ValueError):
    """A configured number cannot be used; the message names it and what it must be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    """Resource limits of a run at one stage, cumulative over the run."""

    calls: int
    words: int
    passages: int
    # Of language models, in and out; 0: no ceiling.
    tokens: int = 0

    @property
    def tokens_for_answer(self) -> int:
        """What is kept back of the tokens, so that the evidence can still be made an answer.

        It is never more than half of them.
        """
        return min(TOKENS_PER_WORD * self.words + TOKENS_OF_ANSWER, self.tokens // 2)

    def leave_no_search(self, tokens: int) -> bool:
        """Whether so many used tokens leave enough for the answer only."""
        return bool(self.tokens) and tokens >= self.tokens - self.tokens_for_answer

    def leave_no_call(self, tokens: int) -> bool:
        """Whether so many used tokens leave nothing that could be done without."""
        return bool(self.tokens) and tokens >= self.tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """The configured numbers, copied into every run when it starts."""

    max_retrieval_tools: int = 10
    hard_word_ceiling: int = 7_500
    max_rerank_chunks: int = 15
    budget_increment: int = 5
    word_increment: int = 3_750
    chunk_increment: int = 5
    hard_token_ceiling: int = 500_000
    token_increment: int = 250_000
    max_extensions: int = 2
    soft_word_ratio: float = 0.8
    hitl_enabled: bool = True

    def ceilings(self, extensions: int) -> Ceilings:
        """The ceilings after so many granted extensions."""
        return Ceilings(
            calls=self.max_retrieval_tools + extensions * self.budget_increment,
            words=self.hard_word_ceiling + extensions * self.word_increment,
            passages=self.max_rerank_chunks + extensions * self.chunk_increment,
            tokens=self.hard_token_ceiling
            and self.hard_token_ceiling + extensions * self.token_increment,
        )


# Inclusive bounds of the whole numbers; the upper ones keep a slip of the pen from becoming a bill.
BOUNDS: Mapping[str, tuple[int, int]] = {
    "max_retrieval_tools": (1, 1_000),
    "hard_word_ceiling": (100, 1_000_000),
    "max_rerank_chunks": (1, 200),
    "budget_increment": (0, 1_000),
    "word_increment": (0, 1_000_000),
    "chunk_increment": (0, 200),
    "hard_token_ceiling": (0, 1_000_000_000),
    "token_increment": (0, 100_000_000),
    "max_extensions": (0, 10),
}


def harness_from(section: Mapping[str, Any]) -> Harness:
    """The harness of a configuration; what it leaves out keeps its default. Raises BadNumber."""
    known = {field.name for field in fields(Harness)}
    for name, value in section.items():
        if name not in known:
            raise BadNumber(
                f"search_harness has no setting {name!r}; it has {', '.join(sorted(known))}."
            )
        _check(name, value)
    return Harness(**section)


def _check(name: str, value: object) -> None:
    if name == "hitl_enabled":
        if not isinstance(value, bool):
            raise BadNumber(f"search_harness.{name} must be true or false, not {value!r}.")
    elif name == "soft_word_ratio":
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 < float(value) <= 1:  # type: ignore[arg-type]  # a number by the line above
            raise BadNumber(f"search_harness.{name} must be above 0 and at most 1, not {value!r}.")
    else:
        low, high = BOUNDS[name]
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise BadNumber(
                f"search_harness.{name} must be a whole number from {low} to {high}, not {value!r}."
            )


def admit(counted: Sequence[bool], *, used: int, limit: int, words_spent: bool) -> tuple[int, ...]:
    """Numbers for a turn's calls in the model's order: from 1 for an admitted counted call, else 0.

    Calls that are not counted (`counted` false) run all the same; a counted call with 0 is blocked.
    """
    numbers = []
    for is_counted in counted:
        admitted = is_counted and used < limit and not words_spent
        used += admitted
        numbers.append(used if admitted else 0)
    return tuple(numbers)


def sentences_that_fit(sentence_words: Sequence[int], room: int) -> int:
    """How many sentences from the start stay within the room."""
    kept = 0
    for words in sentence_words:
        if words > room:
            break
        room -= words
        kept += 1
    return kept


def notice(
    *, call_number: int, words_used: int, ceilings: Ceilings, soft_word_ratio: float, cut: bool
) -> str:
    """How near the ceilings are, beside a result; empty while there is room."""
    parts = []
    if cut:
        parts.append("The text was cut at a sentence: the word ceiling is reached.")
    if call_number == ceilings.calls - 1:
        parts.append(f"Call {call_number} of {ceilings.calls}: one call is left.")
    elif call_number == ceilings.calls:
        parts.append(f"Call {call_number} of {ceilings.calls}: no call is left.")
    if words_used >= soft_word_ratio * ceilings.words and not cut:
        parts.append(f"{words_used} of {ceilings.words} words are used.")
    return " ".join(parts)


def block_notice(ceilings: Ceilings, *, words_spent: bool) -> str:
    """What stands instead of a result."""
    what = f"{ceilings.words} words" if words_spent else f"{ceilings.calls} calls"
    return f"Blocked: the ceiling of {what} is reached and this call was not made."


def advised(notice: str) -> str:
    """The notice as the agent gets it: what it can do now is nothing that a person would read."""
    return f"{notice} {ADVICE}" if notice else ""
