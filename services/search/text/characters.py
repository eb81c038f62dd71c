"""Characters as PDF files give them: which are breaks, and what the others are in plain text."""

import re
import unicodedata
from functools import cache

from services.search.text.fragments import ACCENTS, is_right_to_left

# pdfium gives these in place of a hyphen at the end of a line.
HYPHENS = frozenset({0x2, 0xFFFE, 0xAD})
LINE_ENDS = frozenset("\n\r")
SPACES = frozenset("\t \u00a0\u202f\u205f\u3000") | {chr(code) for code in range(0x2000, 0x200B)}
BREAK = re.compile(f"[{''.join(sorted(SPACES | LINE_ENDS))}]")
# Bullets of the Symbol and Wingdings fonts, the only private codes that have one known meaning.
KNOWN_PRIVATE = {0xF0A7: "•", 0xF0B7: "•", 0xF076: "•", 0xF0D8: "•"}
# Ligatures, Arabic letters by their place in a word, signs of vertical writing, and radicals, which
# fonts often give instead of the ideographs that look the same.
FORMS = ((0xFB00, 0xFDFF), (0xFE70, 0xFEFC), (0xFE10, 0xFE19), (0xFE30, 0xFE4F), (0x2F00, 0x2FDF))
MEANINGLESS = frozenset({"Cc", "Cs", "Co", "Cn"})


@cache
def readable(code: int) -> str:
    """The character of a code, without ligatures and presentation forms; empty if it has none."""
    if code in HYPHENS:
        return "-"
    if code in KNOWN_PRIVATE:
        return KNOWN_PRIVATE[code]
    if code > 0x10FFFF:
        return ""
    char = chr(code)
    if unicodedata.category(char) in MEANINGLESS or code == 0xFFFD:
        return ""
    if any(first <= code <= last for first, last in FORMS):
        return unicodedata.normalize("NFKC", char)
    return char


@cache
def is_plain(char: str) -> bool:
    """Whether the character stands beside its neighbours in the order in which it is read."""
    return not (is_mark(char) or is_right_to_left(char))


@cache
def is_mark(char: str) -> bool:
    """Whether the character may belong over or under another one."""
    return char in ACCENTS or unicodedata.combining(char) > 0
