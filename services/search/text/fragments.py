"""Characters put together to pieces of lines: what the layout of a page is read from."""

import math
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field

# A wider gap than this many times the type size may be a gutter, so it ends a fragment.
WIDEST_GAP = 1.0
NARROWEST_SPACE = 0.12
# In a right-to-left line embedded numbers and names run the other way, so the pen jumps about.
WIDEST_JUMP = 14.0
# A line is bold when nearly all of it is: a bold name at the start of a paragraph is not enough.
MOSTLY = 0.85
# Accents that old typesetting sets as glyphs of their own over or under a letter.
ACCENTS = {
    "\u0060": "\u0300",
    "\u00b4": "\u0301",
    "\u02c6": "\u0302",
    "\u005e": "\u0302",
    "\u02dc": "\u0303",
    "\u00af": "\u0304",
    "\u02c9": "\u0304",
    "\u02d8": "\u0306",
    "\u02d9": "\u0307",
    "\u00a8": "\u0308",
    "\u02da": "\u030a",
    "\u02dd": "\u030b",
    "\u02c7": "\u030c",
    "\u00b8": "\u0327",
    "\u02db": "\u0328",
}
# Where the scripts are that are written from the right: most texts have none of them.
RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff]")
DOTLESS = {"\u0131": "i", "\u0237": "j"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """A stretch of characters on one base line without a wide gap."""

    text: str
    x0: float
    x1: float
    y: float
    """The base line; it grows upwards."""
    size: float
    """The type size in points, as printed."""
    bold: bool = False

    @property
    def centre(self) -> float:
        """The middle in reading direction."""
        return (self.x0 + self.x1) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The part of the paper that is seen, in the direction of its text."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def height(self) -> float:
        """From the lower to the upper edge."""
        return self.y1 - self.y0


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContent:
    """What a physical page holds before its layout is understood."""

    frame: Frame
    fragments: tuple[Fragment, ...]
    characters: int
    """Visible characters, those that could not be mapped included."""
    unmapped: int
    """Characters without a meaning in Unicode."""
    picture: bool = False
    """Whether a picture covers most of the page."""
    cut: bool = False
    """Whether the page holds more characters than are read."""


@dataclass(slots=True, kw_only=True)
class _Run:
    """A fragment in the making; letters, or whole words, and their edges run in parallel."""

    y: float
    chars: list[str] = field(default_factory=list)
    edges: list[tuple[float, float]] = field(default_factory=list)
    sizes: dict[tuple[float, bool], int] = field(default_factory=dict)
    glyph_start: int = 0
    """Where the letters of the last glyph begin."""
    words: dict[int, int] = field(default_factory=dict)
    """Which of the letters are several, and where the first of them stands in the file."""

    def append(self, char: str, x0: float, x1: float) -> None:
        self.chars.append(char)
        self.edges.append((x0, x1))

    def put(self, index: int, char: str, x0: float, x1: float) -> None:
        self.chars[index] = char
        self.edges[index] = (x0, x1)

    def fragment(self) -> Fragment:
        size, _ = max(self.sizes, key=lambda style: self.sizes[style])
        letters = sum(self.sizes.values())
        bold = sum(count for (_, is_bold), count in self.sizes.items() if is_bold)
        return Fragment(
            text=unicodedata.normalize("NFC", "".join(self.chars)).strip(),
            x0=min(x0 for x0, _ in self.edges),
            x1=max(x1 for _, x1 in self.edges),
            y=self.y,
            size=size,
            bold=bold >= MOSTLY * letters,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """Letters of one style that stand side by side from left to right."""

    text: str
    first: tuple[float, float]
    last: tuple[float, float]
    """The edges of the first and of the last letter."""
    index: int
    """The place of the first letter in the file."""


class FragmentBuilder:
    """Takes characters in the order of the file and gives the fragments they form."""

    def __init__(self, edges_of: Callable[[int], tuple[float, float]]) -> None:
        """`edges_of` looks up a letter of a word by its place in the file."""
        self._edges_of = edges_of
        self._runs: list[_Run] = []
        self._run: _Run | None = None
        self._x0 = self._x1 = self._y = self._size = 0.0  # of the last glyph
        self._space = self._line_end = self._is_after_mark = False
        self._left = -math.inf  # the left edge of what last ran from left to right
        self._marks: list[tuple[str, float]] = []  # with their centres, waiting for their letter

    def space(self) -> None:
        """There is a space between the last character and the next."""
        self._space = True

    def line_end(self) -> None:
        """The file says that a line ends here, which raised and lowered characters belie."""
        self._line_end = True

    def add(self, char: str, x0: float, x1: float, y: float, size: float, bold: bool) -> None:
        """The next visible character."""
        if char > "\u02ff" and unicodedata.combining(char):
            self._add_mark(char, x0, x1)
            return
        self._judge_space(x0, x1, size)
        marks = self._marks_over(x0, x1, size) if self._marks else ""
        run = self._run
        if run is not None:
            if self._compose(run, char, x0, x1):
                return
            rtl = is_right_to_left(char)
            if rtl and not self._space and (self._x0, self._x1, self._y) == (x0, x1, y):
                # One glyph for two letters, given in drawing order: the second is written first.
                run.chars.insert(run.glyph_start, char)
                run.edges.insert(run.glyph_start, (x0, x1))
                return
            if rtl and self._left - x1 > NARROWEST_SPACE * size:
                self._space = True  # after a name or a number that runs the other way
            steps_back = char in ACCENTS and x0 < self._x1 - 0.2 * size
            if steps_back or not self._continues(run, x0, x1, y, size, rtl):
                run = None
        if run is None:
            run = self._run = _Run(y=y)
            self._runs.append(run)
            self._left = math.inf
        elif self._space or (self._line_end and self._is_apart(x0, x1, size)):
            run.append(" ", x0, x1)
        self._space = self._line_end = False
        run.glyph_start = len(run.chars)
        run.append(char, x0, x1)
        for mark in marks:
            run.append(mark, x0, x1)
        style = (size, bold)
        run.sizes[style] = run.sizes.get(style, 0) + 1
        if is_right_to_left(char):
            self._left = -math.inf
        else:
            self._left = x0 if self._left == -math.inf else min(self._left, x0)
        self._x0, self._x1, self._y, self._size = x0, x1, y, size

    def add_word(self, word: Word, y: float, size: float, bold: bool) -> bool:
        """The next characters together; False if they must be added one by one."""
        run = self._run
        if self._marks or (run is not None and run.chars[-1] in ACCENTS):
            return False
        x0 = word.first[0]
        self._judge_space(*word.first, size)
        if run is None or not self._continues(run, x0, word.first[1], y, size, False):
            run = self._run = _Run(y=y)
            self._runs.append(run)
            self._left = math.inf
        elif self._space or (self._line_end and self._is_apart(x0, word.first[1], size)):
            run.append(" ", *word.first)
        self._space = self._line_end = False
        if len(word.text) > 1:
            run.words[len(run.chars)] = word.index
            run.append(word.text[:-1], x0, word.last[0])
        run.glyph_start = len(run.chars)
        run.append(word.text[-1], *word.last)
        style = (size, bold)
        run.sizes[style] = run.sizes.get(style, 0) + len(word.text)
        self._left = x0 if self._left == -math.inf else min(self._left, x0)
        (self._x0, self._x1), self._y, self._size = word.last, y, size
        return True

    def finish(self) -> list[Fragment]:
        """The fragments in the order of the file."""
        lone = [run for run in self._runs if len(run.chars) == 1 and run.chars[0] in ACCENTS]
        placed = {id(accent) for accent in lone if self._place(accent)}
        return [run.fragment() for run in self._runs if id(run) not in placed]

    def _continues(self, run: _Run, x0: float, x1: float, y: float, size: float, rtl: bool) -> bool:
        lowest = max(y - 0.25 * size, self._y - 0.25 * self._size)
        highest = min(y + 0.75 * size, self._y + 0.75 * self._size)
        if highest - lowest < 0.4 * min(size, self._size):
            return False
        larger = max(size, self._size)
        if -1.0 * larger <= x0 - self._x1 <= WIDEST_GAP * larger:
            return True
        apart = max(x0 - self._x1, self._x0 - x1)
        return apart <= WIDEST_JUMP * larger and (rtl or any(map(is_right_to_left, run.chars)))

    def _judge_space(self, x0: float, x1: float, size: float) -> None:
        """A space that the file tells after a mark may be only the way on from the mark."""
        if self._is_after_mark:
            self._space = self._space and self._is_apart(x0, x1, size)
            self._is_after_mark = False

    def _is_apart(self, x0: float, x1: float, size: float) -> bool:
        return max(x0 - self._x1, self._x0 - x1) > NARROWEST_SPACE * size

    def _compose(self, run: _Run, char: str, x0: float, x1: float) -> bool:
        """Join an accent with the letter that it is printed over; whether that was done."""
        last = run.chars[-1]
        if char in ACCENTS and self._x0 <= (x0 + x1) / 2 <= self._x1:
            return _accented(run, len(run.chars) - 1, char)
        if last in ACCENTS and char.isalpha() and x0 <= (self._x0 + self._x1) / 2 <= x1:
            run.put(-1, char, x0, x1)
            if _accented(run, len(run.chars) - 1, last):
                self._x0, self._x1, self._space = x0, x1, False
                return True
            run.put(-1, last, self._x0, self._x1)
        return False

    def _add_mark(self, char: str, x0: float, x1: float) -> None:
        """A vowel sign or accent with a code of its own: it belongs to the letter it is over."""
        centre = (x0 + x1) / 2
        if self._run is not None and self._x0 <= centre <= self._x1:
            self._run.append(char, self._x0, self._x1)
            self._is_after_mark = True
        else:
            self._marks.append((char, centre))
            self._space = False  # that space was only the way to the mark

    def _marks_over(self, x0: float, x1: float, size: float) -> str:
        """The waiting marks if they are over the letter at these edges; else the last one's."""
        marks = "".join(char for char, _ in self._marks)
        is_over = all(x0 - 0.1 * size <= centre <= x1 + 0.1 * size for _, centre in self._marks)
        self._marks = []
        if not is_over and self._run is not None:
            self._run.append(marks, self._x0, self._x1)
        # The marks have hidden how far this letter is from the last.
        self._space = self._is_apart(x0, x1, size)
        return marks if is_over else ""

    def _place(self, accent: _Run) -> bool:
        """Put an accent that came out of turn on the letter under it; whether there was one."""
        x = (accent.edges[0][0] + accent.edges[0][1]) / 2
        size = next(iter(accent.sizes))[0]
        for run in self._runs:
            if run is accent or abs(run.y - accent.y) > 0.5 * size:
                continue
            for index, (x0, x1) in enumerate(run.edges):
                if x0 <= x <= x1 and self._accent(run, index, accent.chars[0], x):
                    return True
        return False

    def _accent(self, run: _Run, index: int, accent: str, x: float) -> bool:
        """Put the accent on the letter at the place, or on the one of its letters at `x`."""
        first = run.words.get(index)
        if first is None:
            return _accented(run, index, accent)
        word = run.chars[index]
        for offset, letter in enumerate(word):
            x0, x1 = self._edges_of(first + offset)
            if x0 <= x <= x1 and (composed := _composed(letter, accent)):
                run.chars[index] = word[:offset] + composed + word[offset + 1 :]
                return True
        return False


def _accented(run: _Run, index: int, accent: str) -> bool:
    """Put the accent on a letter of the run if the two make one letter."""
    composed = _composed(run.chars[index], accent)
    if composed:
        run.chars[index] = composed
    return bool(composed)


def _composed(letter: str, accent: str) -> str:
    """The one letter that the two make; empty if they make none."""
    composed = unicodedata.normalize("NFC", DOTLESS.get(letter, letter) + ACCENTS[accent])
    return composed if len(composed) == 1 and composed.isalpha() else ""


def is_right_to_left(char: str) -> bool:
    """Whether the character belongs to a script that is written from the right."""
    return char > "\u0590" and unicodedata.bidirectional(char) in ("R", "AL")


def reads_right_to_left(text: str) -> bool:
    """Whether most letters of the text are of such a script."""
    if RIGHT_TO_LEFT.search(text) is None:
        return False
    letters = [char for char in text if char.isalpha()]
    return 2 * sum(map(is_right_to_left, letters)) > len(letters)
