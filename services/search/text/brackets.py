"""Brackets of right-to-left text, which files keep either by what they mean or by how they look."""

from collections.abc import Sequence
from dataclasses import replace

from services.search.text.columns import Column, Line
from services.search.text.fragments import reads_right_to_left

PAIRS = ("()", "[]", "{}", "«»", "‹›")
MIRRORED = str.maketrans({one: pair[1 - place] for pair in PAIRS for place, one in enumerate(pair)})
CLOSED_BY = {pair[0]: pair[1] for pair in PAIRS}
CLOSING = frozenset(CLOSED_BY.values())


def with_meant_brackets(pages: Sequence[Sequence[Column]]) -> list[tuple[Column, ...]]:
    """The pages with every bracket turned in right-to-left lines if more of them pair up so."""
    texts = [
        line.text
        for page in pages
        for column in page
        for line in column.lines
        if _has_brackets(line.text)
    ]
    lone = sum(map(lone_brackets, texts))
    turned = sum(lone_brackets(text.translate(MIRRORED)) for text in texts)
    if turned >= lone:
        return [tuple(page) for page in pages]
    return [
        tuple(Column(lines=tuple(map(_turned, column.lines))) for column in page) for page in pages
    ]


def _has_brackets(text: str) -> bool:
    return any(map(text.__contains__, "()[]{}«»‹›")) and reads_right_to_left(text)


def _turned(line: Line) -> Line:
    if not _has_brackets(line.text):
        return line
    return replace(line, text=line.text.translate(MIRRORED))


def lone_brackets(text: str) -> int:
    """How many brackets of the text have no partner."""
    expected: list[str] = []
    lone = 0
    for char in text:
        if char in CLOSED_BY:
            expected.append(CLOSED_BY[char])
        elif char in CLOSING:
            if expected and expected[-1] == char:
                expected.pop()
            else:
                lone += 1
    return lone + len(expected)
