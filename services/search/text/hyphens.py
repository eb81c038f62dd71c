"""Putting lines together to running text, with the words that were divided made whole."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

HYPHENS = "-\u2010\u00ad"
ENDS = tuple(HYPHENS)
LONGEST_WORD = 80
WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
HEAD = re.compile(r"([^\W\d_]+(?:[-\u2010][^\W\d_]+)*)[-\u2010\u00ad]$")
TAIL = re.compile(r"[^\W\d_]+")
# Scripts written without spaces are joined without one.
UNSPACED = re.compile(
    r"[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)


class Joiner:
    """Joins lines by what the rest of the document says about the words at their ends."""

    def __init__(self, lines: Iterable[str]) -> None:
        """`lines` are all the lines of the document."""
        self._words: Counter[str] = Counter()
        for line in lines:
            # The pieces of divided words are no words.
            whole = HEAD.sub("", line) if line.endswith(ENDS) else line
            self._words.update(word.group().lower() for word in WORD.finditer(whole))

    def join(self, lines: Sequence[str]) -> str:
        """The lines as one paragraph."""
        text = ""
        for line in lines:
            text = self.append(text, line)
        return text

    def append(self, text: str, line: str) -> str:
        """The text continued by a line."""
        if not text or not line:
            return text + line
        if text[-1] not in HYPHENS:
            unspaced = UNSPACED.match(text[-1]) and UNSPACED.match(line[0])
            return text + ("" if unspaced else " ") + line
        if len(text) > 1 and text[-2].isspace():
            return f"{text} {line}"  # a dash, not a hyphen
        return (text[:-1] if self._is_division(text, line) else text) + line

    def _is_division(self, text: str, line: str) -> bool:
        """Whether the hyphen at the end only says that the word goes on."""
        if text[-1] == "\u00ad":
            return True
        head, tail = HEAD.search(text, max(0, len(text) - LONGEST_WORD)), TAIL.match(line)
        if head is None or tail is None:
            return False
        first, second = head.group(1).lower(), tail.group().lower()
        whole, compound = self._words[first + second], self._words[f"{first}-{second}"]
        if whole or compound:
            return whole >= compound
        return tail.group()[0].islower() and not (
            self._words[first] and self._words[second] and min(len(first), len(second)) > 2
        )
