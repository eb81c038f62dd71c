"""Where a long English word may be broken at the end of a printed line."""

_VOWELS = frozenset("aeiouy")
_INSEPARABLE = frozenset(
    {"ch", "ck", "gh", "ph", "sh", "th", "wh", "qu", "bl", "br", "cl", "cr", "dr", "fl", "fr"}
    | {"gl", "gr", "pl", "pr", "sl", "sc", "sk", "sp", "st", "tr", "tw", "ng", "dg"}
)
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
    before, left, right, after = word[offset - 2], word[offset - 1], word[offset], word[offset + 1]
    if offset >= len(word) - _SHORTEST_PART and word.endswith(("ed", "es")):
        return False  # a silent ending is no syllable: "returned" has no "ned"
    if left + right in _INSEPARABLE or left in _VOWELS or right in _VOWELS:
        return False
    return before in _VOWELS and after in _VOWELS
