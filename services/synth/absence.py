"""Which things that a question is about the library says nothing of.

A word that no text holds may be another word for what the texts say, or name something that they do
not deal with. Similarity tells the two apart: without a word for something foreign, the question
comes nearer to the library; without a word for something known, it moves away. Where that is not
clear, the word's place in the question decides.
"""

import re
from collections.abc import Iterable
from enum import Enum

from services.synth.languages import UNSPACED
from services.synth.terms import NAME_WEIGHT, Term

# How much nearer the question comes without a foreign word. Paraphrases in the questions about the
# demonstration library stay below 0.025, foreign things reach from -0.02 to 0.10.
CLEARLY_FOREIGN = 0.0275
HARDLY_KNOWN = -0.025
# So near is the library to another word for something that it deals with.
KNOWN_BY_ITSELF = 0.38
MOST_PROBED = 3

# Before these stands what is done or felt, behind them who or what it is about.
# Behind these stands who or what a question is about: "in older airline pilots".
_CIRCUMSTANCE = {
    "en": "in among with for of against",
    "de": "in im bei mit für von vom gegen unter beim",
    "fr": "dans chez avec pour de du des d en contre parmi",
    "es": "en con para de del contra entre",
    "it": "in nei nelle con per di del della dei delle contro tra",
    "pt": "em no na nos nas com para de do da dos das contra entre",
    "nl": "in bij met voor van tegen onder",
    "ru": "в у при с со для от против среди",
    "ar": "في عند مع من لدى ضد",
}
# Right behind these stands what acts: "does a siesta help".
_OPENING = {
    "en": "does do did can could is are was were help helps",
    "de": "hat haben kann können hilft helfen wirkt verbessert",
    "nl": "helpt kan heeft hebben",
}
_ARTICLES = frozenset("a an the ein eine einen der die das een de het".split())  # noqa: SIM905
_ACTS_OR_QUALITIES = {
    "en": r"(?:ing|ed|ly|ous|ful|able|ible|ive|less|er|est)$",
    "de": r"(?:en|lich|ig|isch|bar)$",
    "fr": r"(?:er|ir|ment|eux|euse|ant)$",
    "es": r"(?:ar|er|ir|mente|ando|iendo|ado|ido)$",
    "it": r"(?:are|ere|ire|mente|ando|endo|ato|ito)$",
    "pt": r"(?:ar|er|ir|mente|ando|endo|ado|ido)$",
    "nl": r"(?:en|lijk|ig)$",
    "ru": r"(?:ть|ет|ют|но|ый|ая|ое|ые)$",
}
_WORD = re.compile(r"[^\W_]+")
# Between the small word and the thing: "in older airline pilots".
_REACH = 3


class Standing(Enum):
    """What a word that no text holds is to the library."""

    KNOWN = "known"
    """Another word for something that the texts say."""
    DOUBTFUL = "doubtful"
    """Perhaps that, perhaps not."""
    FOREIGN = "foreign"
    """The name of something that the texts do not deal with."""


def without_term(question: str, term: Term) -> str:
    """The question without the word."""
    cut = re.sub(rf"(?<!\w){re.escape(term.surface)}(?:['’]s)?(?!\w)", " ", question)
    return " ".join(cut.split())


def most_telling(missing: Iterable[Term]) -> list[Term]:
    """The missing words worth a look of their own; names first, then in their order."""
    spaced = [term for term in missing if not re.match(f"[{UNSPACED}]", term.surface)]
    return sorted(spaced, key=lambda term: -term.weight)[:MOST_PROBED]


def standing(
    term: Term, question: str, language: str, *, lift: float | None, alone: float | None
) -> Standing:
    """What a word that no text holds is to the library.

    `lift` says how much nearer the library is to the question without the word, `alone` how near it
    is to the word itself; None where that is not known.
    """
    if is_name(term, question):
        return Standing.FOREIGN
    # Without similarities nothing speaks against a synonym.
    if lift is None or (alone is not None and alone >= KNOWN_BY_ITSELF):
        return Standing.KNOWN
    if lift >= CLEARLY_FOREIGN:
        return Standing.FOREIGN
    if lift < HARDLY_KNOWN:
        return Standing.KNOWN
    return _by_its_place(term, question, language)


def is_name(term: Term, question: str) -> bool:
    """Whether the word is a number or a name, which other languages write the same."""
    first = _WORD.search(question)
    begins = first is not None and term.surface.startswith(first.group())
    return term.surface[0].isdigit() or (term.weight >= NAME_WEIGHT and not begins)


def _by_its_place(term: Term, question: str, language: str) -> Standing:
    shape = _ACTS_OR_QUALITIES.get(language)
    # A capital marks a noun in German, and elsewhere a name, which was seen to before.
    if shape and term.surface[0].islower() and re.search(shape, term.surface):
        return Standing.KNOWN
    words = [word.lower() for word in _WORD.findall(question)]
    surface = term.surface.lower()
    before = words[: words.index(surface)] if surface in words else []
    if set(before[-_REACH:]) & set(_CIRCUMSTANCE.get(language, "").split()):
        return Standing.FOREIGN
    nearest = next((word for word in reversed(before) if word not in _ARTICLES), "")
    acts = nearest in _OPENING.get(language, "").split()
    return Standing.DOUBTFUL if acts else Standing.KNOWN
