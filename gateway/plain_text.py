"""Text that is safe on a terminal.

Text of a library is untrusted: nothing in it reaches a terminal that the terminal would obey.
"""

import sys
import textwrap
from collections.abc import Iterator

WIDTH = 76


def clean(text: str) -> str:
    """The text without control characters other than line ends and tabs."""
    return "".join(
        letter if letter in "\n\t" or letter.isprintable() else " "
        for letter in text.replace("\r\n", "\n")
    )


def one_line(text: str, characters: int) -> str:
    """The text on one line, cut at a length."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= characters else f"{flat[: characters - 1]}…"


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def indented(text: str) -> list[str]:
    """A text on one line, wrapped to lines under a heading."""
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")


def paragraphs(text: str) -> Iterator[str]:
    """A text of several lines, each wrapped under a heading."""
    for line in clean(text).strip().split("\n"):
        yield from indented(line.expandtabs(4)) or [""]


def complain(text: str) -> None:
    """One sentence on standard error."""
    print(f"zocrates: {clean(text)}", file=sys.stderr)
