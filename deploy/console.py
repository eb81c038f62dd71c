"""What the person at the terminal sees of the local stack."""

import os
import sys
from typing import TextIO

from deploy.log_lines import LogLine, Severity

NAME_WIDTH = 12
BOLD, DIM, YELLOW, RED, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[33m", "\x1b[31m", "\x1b[0m"


class Console:
    """Writes short lines, in colour on a terminal only; a reader that went away is no error."""

    def __init__(self, stream: TextIO, *, quiet: bool = False) -> None:
        self._stream = stream
        self._quiet = quiet
        self._hushed = False
        is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._coloured = is_terminal and not os.environ.get("NO_COLOR")

    @property
    def is_quiet(self) -> bool:
        """Whether nobody reads."""
        return self._quiet

    def say(self, text: str = "") -> None:
        """A line of the stack itself."""
        if not self._quiet:
            self._write(text)

    def say_bold(self, text: str) -> None:
        """A line that should be found again among others."""
        self.say(self._painted(text, BOLD))

    def trouble(self, name: str, text: str) -> None:
        """Something that the stack noticed about a process."""
        if not self._quiet:
            self._write(f"{self._prefix(name)} {self._painted(text, YELLOW)}")

    def hush(self) -> None:
        """Relay no more: while everything stops, every process misses some other one."""
        self._hushed = True

    def relay(self, name: str, line: LogLine) -> None:
        """A warning or an error that a process wrote; anything milder stays in its log."""
        if self._quiet or self._hushed or line.severity < Severity.WARNING:
            return
        colour = RED if line.severity >= Severity.ERROR else YELLOW
        self._write(f"{self._prefix(name)} {self._painted(line.text, colour)}")

    def _prefix(self, name: str) -> str:
        return self._painted(f"{name:>{NAME_WIDTH}} |", DIM)

    def _painted(self, text: str, colour: str) -> str:
        return f"{colour}{text}{PLAIN}" if self._coloured else text

    def _write(self, text: str) -> None:
        try:
            print(text, file=self._stream, flush=True)
        except (OSError, ValueError):
            # The terminal was closed or a pipe's reader ended: the stack itself goes on.
            self._quiet = True


def refuse(text: str) -> int:
    """Tell why the command cannot do what was asked; returns the exit code for it."""
    print(f"zocrates: {text}", file=sys.stderr, flush=True)
    return 1
