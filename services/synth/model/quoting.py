"""Finding the stretch of a passage that a written sentence rests on. Pure."""

import math
import re
import unicodedata
from collections.abc import Iterator

from services.chassis.words import WORD, sentences

# Typographic variants that models write for one another.
SAME = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'"})
DASHES = re.compile("[‐‑‒–—−]")
FEWEST_CHARACTERS = 8


def verbatim(quote: str, text: str) -> tuple[int, int] | None:
    """Where the text holds the quote, white space and typography aside; None if it does not."""
    wanted = "".join(letter for letter, _ in _letters(quote))
    if len(wanted) < FEWEST_CHARACTERS:
        return None
    held = list(_letters(text))
    at = "".join(letter for letter, _ in held).find(wanted)
    if at < 0:
        return None
    return held[at][1], held[at + len(wanted) - 1][1] + 1


def nearest_sentence(statement: str, text: str) -> tuple[int, int]:
    """The sentence of the text that shares most with the statement, the longer words first."""
    wanted = _weights(statement)
    spans = sentences(text) or [(0, len(text))]

    def share(span: tuple[int, int]) -> float:
        found = _weights(text[span[0] : span[1]])
        common = sum(weight for word, weight in found.items() if word in wanted)
        return common / math.sqrt(1.0 + sum(found.values()))

    return max(spans, key=share)


def _weights(text: str) -> dict[str, int]:
    """The words and numbers; the length stands for how telling a word is."""
    words = {match.group().casefold() for match in WORD.finditer(text)}
    return {word: len(word) for word in words if len(word) > 2 or not word.isascii()}


def _letters(text: str) -> Iterator[tuple[str, int]]:
    """What is left of the text to compare, letter by letter with its place in the original."""
    for place, character in enumerate(text):
        plain = unicodedata.normalize("NFKC", DASHES.sub("-", character.translate(SAME)))
        for letter in plain.casefold():
            if not letter.isspace():
                yield letter, place
