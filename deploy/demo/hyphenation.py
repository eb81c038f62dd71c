"""Where a long English word may be broken at the end of a printed line."""

import re

_VOWELS = frozenset("aeiouy")
_INSEPARABLE = frozenset(
    {"ch", "ck", "gh", "ph", "sh", "th", "wh", "qu", "bl", "br", "cl", "cr", "dr", "fl", "fr"}
    | {"gl", "gr", "pl", "pr", "sl", "sc", "sk", "sp", "st", "tr", "tw", "ng", "dg"}
)
# An ending takes no letter from its stem: not "retur-ned", "star-ting".
_BEFORE_ENDING = re.compile(r"[^aeiouy](ed|es|er|ers|ened|ing)")
_SHORTEST_WORD = 7
_SHORTEST_PART = 3


def break_points(word: str) -> list[int]:
    """Return the offsets at which a plain word may be divided, between two syllables."""
    if len(word) < _SHORTEST_WORD or not word.isalpha() or not word.isascii() or word.isupper():
        return []
    low = word.lower()
    offsets = range(_SHORTEST_PART, len(low) - _SHORTEST_PART + 1)
    return [offset for offset in offsets if _divides(low, offset)]


def _divides(word: str, offset: int) -> bool:
    if _BEFORE_ENDING.fullmatch(word[offset:]):
        return False
    before, left, right, after = (word[offset + step] for step in (-2, -1, 0, 1))
    if left + right in _INSEPARABLE or left in _VOWELS or right in _VOWELS:
        return False
    return before in _VOWELS and after in _VOWELS
