"""Reading the lines that processes write: how serious one is, and its short form; pure."""

import json
import re
from dataclasses import dataclass
from enum import IntEnum

SHORT_CHARACTERS = 240
# Told by every event; of no use to a person who looks at the terminal.
UNTOLD_FIELDS = frozenset({"time", "level", "logger", "event", "trace_id", "traceback"})
NATS_LINE = re.compile(r"^\[\d+\] \S+ \S+ \[(?P<level>[A-Z]{3})\] (?P<text>.*)$")
POSTGRES_LINE = re.compile(r"^(?P<level>[A-Z]+):  (?P<text>.*)$")


class Severity(IntEnum):
    """How much a line concerns the person at the terminal."""

    INFO = 20
    WARNING = 30
    ERROR = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """A line as it is shown."""

    severity: Severity
    text: str


NAMED_LEVELS = {
    "warning": Severity.WARNING,
    "error": Severity.ERROR,
    "critical": Severity.ERROR,
    "WRN": Severity.WARNING,
    "ERR": Severity.ERROR,
    "FTL": Severity.ERROR,
    # An ERROR of Postgres is a refused statement, which its client deals with and tells of.
    "PANIC": Severity.ERROR,
}


def read_line(raw: str) -> LogLine:
    """A line of one of our processes, of NATS, of Postgres, or of anything else."""
    raw = raw.strip()
    if raw.startswith("{") and (event := _event(raw)) is not None:
        return event
    for pattern in (NATS_LINE, POSTGRES_LINE):
        if (match := pattern.match(raw)) is not None:
            severity = NAMED_LEVELS.get(match["level"], Severity.INFO)
            return LogLine(severity=severity, text=_shortened(match["text"]))
    return LogLine(severity=Severity.INFO, text=_shortened(raw))


def _event(raw: str) -> LogLine | None:
    try:
        fields = json.loads(raw)
    except ValueError:
        return None
    if not isinstance(fields, dict) or "event" not in fields:
        return None
    told = [f"{name}={value}" for name, value in fields.items() if name not in UNTOLD_FIELDS]
    if traceback := str(fields.get("traceback", "")).strip():
        told.append(traceback.splitlines()[-1])
    severity = NAMED_LEVELS.get(str(fields.get("level")), Severity.INFO)
    return LogLine(severity=severity, text=_shortened(" ".join([str(fields["event"]), *told])))


def _shortened(text: str) -> str:
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    if len(printable) <= SHORT_CHARACTERS:
        return printable
    return printable[: SHORT_CHARACTERS - 1] + "…"
