"""Which things that a question is about the library says nothing of.

A word that no text holds may be another word for what the texts say, or name something that they do
not deal with. Similarity tells the two apart: without a word for something foreign, the question
comes nearer to the library; without a word for something known, it moves away. Where that is not
clear, the word's place in the question decides.
"""

import re
from collections.abc import Iterable

from services.synth.languages import UNSPACED
from services.synth.stop_words import STOP_WORDS
from services.synth.terms import NAME_WEIGHT, Term

# How much nearer the question comes without a foreign word. Paraphrases in the questions about the
# demonstration library stay below 0.025, foreign things reach from -0.02 to 0.10.
CLEARLY_FOREIGN = 0.03
HARDLY_KNOWN = -0.025
MOST_PROBED = 3

# Before these stands what is done or felt, behind them who or what it is about.
_BEFORE_A_THING = {
    "en": "in among with for of by on from against does do did can could is are was were help",
    "de": "in im bei mit für von vom gegen unter an durch beim zur zum hat haben kann können hilft",
    "fr": "dans chez avec pour de du des d en par contre parmi le la les l",
    "es": "en con para de del contra por entre el la los las",
    "it": "in nei nelle con per di del della dei delle contro tra il la i gli le",
    "pt": "em com para de do da dos das contra por entre o a os as",
    "nl": "in bij met voor van tegen onder door helpt kan heeft",
    "ru": "в у при с со для от против среди на",
    "ar": "في عند مع من على لدى ضد",
}
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


def without_term(question: str, term: Term) -> str:
    """The question without the word."""
    cut = re.sub(rf"(?<!\w){re.escape(term.surface)}(?:['’]s)?(?!\w)", " ", question)
    return " ".join(cut.split())


def most_telling(missing: Iterable[Term]) -> list[Term]:
    """The missing words worth a look of their own; names first, then in their order."""
    spaced = [term for term in missing if not re.match(f"[{UNSPACED}]", term.surface)]
    return sorted(spaced, key=lambda term: -term.weight)[:MOST_PROBED]


def is_foreign(term: Term, question: str, language: str, lift: float | None) -> bool:
    """Whether a word that no text holds names something that the library does not deal with."""
    if lift is not None and lift >= CLEARLY_FOREIGN:
        return True
    if lift is not None and lift < HARDLY_KNOWN:
        return False
    if is_name(term, question):
        return True
    # Without similarities nothing speaks against a synonym.
    return lift is not None and _stands_for_a_thing(term, question, language)


def is_name(term: Term, question: str) -> bool:
    """Whether the word is a number or a name, which other languages write the same."""
    first = _WORD.search(question)
    begins = first is not None and term.surface.startswith(first.group())
    return term.surface[0].isdigit() or (term.weight >= NAME_WEIGHT and not begins)


def _stands_for_a_thing(term: Term, question: str, language: str) -> bool:
    shape = _ACTS_OR_QUALITIES.get(language)
    if shape and re.search(shape, term.surface.lower()):
        return False
    words = [word.lower() for word in _WORD.findall(question)]
    surface = term.surface.lower()
    at = words.index(surface) if surface in words else 0
    before = frozenset(_BEFORE_A_THING.get(language, "").split())
    for word in reversed(words[max(0, at - _REACH) : at]):
        if word in before:
            return True
        if word in STOP_WORDS.get(language, frozenset()) and len(word) > 3:
            return False
    return False
