"""Where one client stands in a run, and which live messages it may see next. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

POSITION = re.compile(
    r"(?P<sequence>0|[1-9]\d{0,17})(?:\.(?P<attempt>\d{1,9})\.(?P<offset>\d{1,9}))?"
)
WRITING_STAGES = frozenset({"synthesize", "verify"})


class InvalidPosition(ValueError):
    """The text names no position of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The last row a client has; `in_text` when it also has pieces of the answer after that row."""

    sequence: int
    in_text: bool


START = Position(sequence=0, in_text=False)


def after(sequence: int) -> Position:
    """The position behind a row."""
    return Position(sequence=sequence, in_text=False)


def parse_position(text: str) -> Position:
    """Read a `Last-Event-ID`: a row's `<sequence>` or a delta's `<sequence>.<attempt>.<offset>`."""
    # fullmatch with ASCII digits only: int() would also take "１" and "1_0".
    found = POSITION.fullmatch(text) if text.isascii() else None
    if found is None:
        raise InvalidPosition(f"{text[:60]!r} is no position of a run")
    return Position(sequence=int(found["sequence"]), in_text=found["attempt"] is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A recorded event, ready to be sent."""

    sequence: int
    name: str
    body: Mapping[str, object]
    frame: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """A piece of the answer while it is written; `offset` counts the characters before it."""

    after_sequence: int
    attempt: int
    offset: int
    text: str


class Cursor:
    """One client's place in the rows and in the streamed text."""

    def __init__(self, sequence: int) -> None:
        self.sequence = sequence
        self.attempt = 0
        self.is_writing = False
        """Whether the rows passed so far leave the run in the middle of its answer."""
        self._written = 0
        self._stalled = False

    def is_next(self, sequence: int) -> bool:
        """Whether the row follows the last one without a hole."""
        return sequence == self.sequence + 1

    def is_old(self, sequence: int) -> bool:
        """Whether the client has the row already."""
        return sequence <= self.sequence

    def pass_row(self, row: Row) -> None:
        """Move behind the row."""
        self.sequence = row.sequence
        match row.name:
            case "answer_reset":
                self.restart(_whole_number(row.body.get("attempt")))
            case "answer":
                self._stalled = False
                self.is_writing = False
            case "stage":
                self.is_writing = row.body.get("stage") in WRITING_STAGES

    def pass_snapshot(self, sequence: int, stage: str | None) -> None:
        """Move behind all rows that a snapshot stands for; it has none of the streamed text."""
        self.sequence = sequence
        self.is_writing = stage in WRITING_STAGES
        self.restart(0)

    def restart(self, attempt: int) -> None:
        """The client's text is void; the next piece it can use is the first one of this attempt."""
        self.attempt = attempt
        self._written = 0
        self._stalled = False

    def is_ahead(self, delta: Delta) -> bool:
        """Whether rows that belong before the piece are still missing."""
        return delta.after_sequence > self.sequence

    def admit(self, delta: Delta) -> Delta | None:
        """The part of the piece that continues the client's text, or None.

        Pieces of an older attempt and repeated ones are dropped; after a gap nothing passes
        until a reset.
        """
        if delta.attempt < self.attempt:
            return None
        if delta.attempt > self.attempt:
            self.restart(delta.attempt)
        end = delta.offset + len(delta.text)
        if self._stalled or end <= self._written:
            return None
        if delta.offset > self._written:
            self._stalled = True
            return None
        fresh = delta.text[self._written - delta.offset :]
        admitted = Delta(
            after_sequence=self.sequence, attempt=delta.attempt, offset=self._written, text=fresh
        )
        self._written = end
        return admitted


def joined(deltas: list[Delta]) -> Delta | None:
    """The text of the newest attempt from its beginning up to the first gap, as one piece."""
    if not deltas:
        return None
    attempt = max(delta.attempt for delta in deltas)
    cursor = Cursor(0)
    cursor.restart(attempt)
    pieces = [piece for delta in deltas if (piece := cursor.admit(delta)) is not None]
    if not pieces:
        return None
    text = "".join(piece.text for piece in pieces)
    after = max(delta.after_sequence for delta in deltas if delta.attempt == attempt)
    return Delta(after_sequence=after, attempt=attempt, offset=0, text=text)


def _whole_number(value: object) -> int:
    return value if isinstance(value, int) else 0
