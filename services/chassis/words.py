"""Counting words and finding sentences, the same way in every process and for every script."""

import re
from itertools import pairwise

# Scripts written without spaces, one word a character: Han, Hiragana, Katakana and extensions.
CJK = (
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
LETTER = rf"[^\W_{CJK}]"
# A word has a letter or digit; apostrophes, points, commas and hyphens inside do not split it.
# Possessive runs halve the time: this is counted for every passage of every answer.
WORD = re.compile(
    rf"[{CJK}]|{LETTER}++(?:(?:[\u0300-\u036f]++|['’.,\-‐‑](?={LETTER})){LETTER}*+)*+"
)

# The same for ASCII, which most text is or becomes: joined words are joined by deleting what joins
# them, the rest separates. Only two such characters in a row may separate after all.
JOINING = b"'.,-"
ASCII_WORDS = bytes(
    byte if chr(byte).isascii() and chr(byte).isalnum() else ord(" ") for byte in range(256)
)
JOINING_ALIKE = bytes.maketrans(JOINING, JOINING[:1] * len(JOINING))
AS_ASCII = (
    *(("’", "'"), ("‐", "-"), ("‑", "-")),
    *((mark, " ") for mark in "“”„‘–—…•·×±≥≤°−\u00a0"),
)

_ABBREVIATIONS = """
al approx art ca cap cf ch chap col cols dept dr ed eds eq eqs etc exp ff fig figs gen
inc jr ltd max min mr mrs ms no nos nr op pp prof ref refs resp sec sect ser sp spp sr
st suppl tab viz vol vols vs bzw usw abb
"""
ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())
# Where a sentence may end: punctuation, then white space or, after a full-width mark, anything.
END = re.compile(r"[.!?؟۔]+[\"'”’»)\]]*(?=\s|$)|[。！？｡]+[」』”）]*|\n\s*\n")
LOOK_AHEAD = 40
LAST_WORD = re.compile(r"([^\W\d_][\w.]*)[.!?]+\W*$")


def count_words(text: str) -> int:
    """The number of words: Unicode words with a letter or digit, a CJK character being one."""
    plain = text
    if not plain.isascii():
        for mark, ascii_mark in AS_ASCII:
            plain = plain.replace(mark, ascii_mark)
    if not plain.isascii():
        return len(WORD.findall(text))
    content = plain.encode()
    if JOINING[:1] * 2 in content.translate(JOINING_ALIKE):
        return len(WORD.findall(text))
    return len(content.translate(ASCII_WORDS, JOINING).split())


def sentences(text: str) -> list[tuple[int, int]]:
    """Half-open code point ranges of the sentences, in order, without surrounding white space."""
    ends = [match.span() for match in END.finditer(text)]
    cuts = [0, *(end for start, end in ends if not _inside_sentence(text, start, end)), len(text)]
    spans = []
    for start, stop in pairwise(cuts):
        piece = text[start:stop]
        left = start + len(piece) - len(piece.lstrip())
        right = start + len(piece.rstrip())
        if right > left:
            spans.append((left, right))
    return spans


def _inside_sentence(text: str, start: int, end: int) -> bool:
    """Whether the full stop belongs to an abbreviation, an initial or a number, or the blank line
    to the end of a column."""
    following = text[end : end + LOOK_AHEAD].lstrip()[:1]
    if text[start].isspace():
        before = text[max(0, start - LOOK_AHEAD) : start].rstrip()[-1:]
        return following.islower() and (before.isalnum() or before in (",", "-", "‐"))
    if text[start] != ".":
        return False
    if following and following.islower():
        return True
    word = LAST_WORD.search(text[max(0, start - 20) : end])
    if word is None:
        return False
    plain = word.group(1).rstrip(".").lower()
    if len(plain) == 1 and plain.isalpha():
        return bool(following)  # an initial such as "J." is followed by a name
    return plain in ABBREVIATIONS or ("." in plain and bool(following) and not following.isupper())


def cut_at_sentence(text: str, max_words: int) -> str:
    """The leading sentences that fit max_words; a first one that does not is cut at a word."""
    kept = 0
    used = 0
    for start, end in sentences(text):
        used += count_words(text[start:end])
        if used > max_words:
            break
        kept = end
    if kept:
        return text[:kept]
    ends = [word.end() for word in WORD.finditer(text)]
    return (
        text[: ends[max_words - 1]]
        if 0 < max_words <= len(ends)
        else text[: 0 if ends else len(text)]
    )
