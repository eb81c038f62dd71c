"""What a person's sentences want of a plan: steps added, left out, kept alone or replaced."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from services.chassis.words import sentences
from services.synth.coordination import LISTING
from services.synth.languages import FALLBACK, UNSPACED, language_of
from services.synth.plan_phrases import WORDS, RevisionWords

QUESTION_MARKS = ("?", "？", "؟")
BUT = ("but", "then", "aber", "mais", "pero", "ma", "mas", "maar", "но", "dann", "puis", "luego")
_NUMBER = re.compile(r"(?<!\d)(\d{1,2})(?![\d.]?\d)")
_EDGES = " ,;:.。、，"
_UNSPACED = re.compile(f"[{UNSPACED}]")


class Wish(Enum):
    """What a clause asks for."""

    ADD = "add"
    REMOVE = "remove"
    ONLY = "only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One wish: the topic it names, and the numbers of steps if it names those alone."""

    wish: Wish
    topic: str
    numbers: tuple[int, ...] = ()


def changes_in(message: str, languages: Collection[str]) -> tuple[Change, ...]:
    """The changes that a message asks for, in its order.

    `languages` are those the message may be in besides the one that it looks to be in.
    """
    known = dict.fromkeys([language_of(message), *languages, FALLBACK])
    words = [WORDS[language] for language in known if language in WORDS]
    return tuple(
        change for clause in _clauses(message, words) for change in _changes_of(clause, words)
    )


def _clauses(message: str, words: list[RevisionWords]) -> Iterator[str]:
    """Sentences, cut once more where a joining word is followed by another wish."""
    wishes = _pattern(tuple(w for one in words for w in (*one.remove, *one.only, *one.replace)))
    additions = _pattern(tuple(w for one in words for w in one.add))
    joints = "|".join(map(re.escape, [*BUT, *(w for one in LISTING.values() for w in one)]))
    cut = re.compile(
        rf"[;\n]+|[,，、]?\s*\b(?:{joints})\s+(?={wishes.pattern}|{additions.pattern})"
        rf"|[,，、]\s*(?={wishes.pattern}|{additions.pattern})",
        re.IGNORECASE,
    )
    for start, end in sentences(message):
        yield from (piece for piece in cut.split(message[start:end]) if piece and piece.strip())


def _changes_of(clause: str, words: list[RevisionWords]) -> Iterator[Change]:
    # A question is a wish to know, whatever words it asks with.
    if clause.rstrip().endswith(QUESTION_MARKS):
        yield _change(Wish.ADD, clause, words)
        return
    if (replaced := _replacement(clause, words)) is not None:
        yield _change(Wish.REMOVE, replaced[0], words)
        yield _change(Wish.ADD, replaced[1], words)
        return
    tellers = {
        Wish.ADD: tuple(w for one in words for w in one.add),
        Wish.REMOVE: tuple(w for one in words for w in one.remove),
        Wish.ONLY: tuple(w for one in words for w in one.only),
    }
    found = {
        wish: match.start()
        for wish, told in tellers.items()
        if (match := _pattern(told).search(clause)) is not None
    }
    yield _change(min(found, key=lambda wish: found[wish], default=Wish.ADD), clause, words)


def _replacement(clause: str, words: list[RevisionWords]) -> tuple[str, str] | None:
    """What is replaced, and what comes in its place."""
    verb = _pattern(tuple(w for one in words for w in one.replace)).search(clause)
    if verb is None:
        return None
    rest = clause[verb.end() :]
    between = _pattern(tuple(w for one in words for w in one.by)).search(rest)
    return None if between is None else (rest[: between.start()], rest[between.end() :])


def _change(wish: Wish, clause: str, words: list[RevisionWords]) -> Change:
    """The clause without the words that only tell what it wants."""
    spent = _pattern(
        tuple(
            w for one in words for w in (*one.add, *one.remove, *one.only, *one.agree, *one.replace)
        )
    )
    polite = _pattern(tuple(w for one in words for w in one.polite))
    beside = _pattern(tuple(w for one in words for w in (*one.step, *one.polite)))
    # A question asks with all its words but the first ones, which may only join it on.
    asks = clause.rstrip().endswith(QUESTION_MARKS)
    topic = _without_first(clause, spent) if asks else spent.sub(" ", clause)
    numbers = tuple(int(number) for number in _NUMBER.findall(topic))
    rest = beside.sub(" ", _NUMBER.sub(" ", topic))
    if numbers and wish is not Wish.ADD and not _says_more(rest):
        return Change(wish=wish, topic="", numbers=numbers)
    return Change(wish=wish, topic=_trimmed(topic, polite))


def _without_first(clause: str, words: re.Pattern[str]) -> str:
    match = words.match(clause.lstrip())
    return clause.lstrip()[match.end() :] if match is not None else clause


def _trimmed(topic: str, polite: re.Pattern[str]) -> str:
    """The topic without words at its edges that only make the wish a polite one."""
    topic = " ".join(topic.split()).strip(_EDGES)
    while (match := polite.match(topic)) is not None:
        topic = topic[match.end() :].lstrip(_EDGES)
    while (ends := [m for m in polite.finditer(topic) if m.end() == len(topic)]) and topic:
        topic = topic[: ends[-1].start()].rstrip(_EDGES)
    return topic


def _says_more(rest: str) -> bool:
    """Whether more than joints and single letters is left beside the numbers."""
    joints = {word for one in LISTING.values() for word in one}
    return any(
        word.casefold() not in joints and (len(word) > 3 or _UNSPACED.match(word))
        for word in re.findall(r"[^\W\d_]+", rest)
    )


@lru_cache(maxsize=256)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the words; in a script without spaces wherever its characters stand."""
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    parts = [
        re.escape(word) if _UNSPACED.match(word) else rf"\b{re.escape(word)}\b" for word in ordered
    ]
    return re.compile("|".join(parts) or r"(?!)", re.IGNORECASE)
