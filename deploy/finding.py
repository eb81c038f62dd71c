"""What an examination found: one line about one part, with what to do when it is not well."""

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """How a part is."""

    WELL = "ok"
    NOTE = "note"
    """It works, and somebody may want to know something."""
    WRONG = "WRONG"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line."""

    part: str
    verdict: Verdict
    text: str

    def __str__(self) -> str:
        return f"{self.verdict.value:<5}  {self.part:<14} {self.text}"


def well(part: str, text: str) -> Finding:
    """It is as it should be."""
    return Finding(part=part, verdict=Verdict.WELL, text=text)


def note(part: str, text: str) -> Finding:
    """It works, with a remark."""
    return Finding(part=part, verdict=Verdict.NOTE, text=text)


def wrong(part: str, text: str) -> Finding:
    """It does not work; the text says what to do."""
    return Finding(part=part, verdict=Verdict.WRONG, text=text)
