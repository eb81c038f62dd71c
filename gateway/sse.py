"""Reading an event stream, however the network cuts it; pure."""

import json
from dataclasses import dataclass, field
from typing import Any

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DEFAULT_NAME = "message"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEvent:
    """An event as it came: its position (empty when it has none), its name, its data."""

    id: str
    name: str
    data: dict[str, Any]

    def as_line(self) -> str:
        """The event as one line of JSON, without a character that a terminal would obey."""
        content = {"id": self.id, "event": self.name, "data": self.data}
        return "".join(map(_harmless, json.dumps(content, ensure_ascii=False)))


@dataclass(slots=True)
class EventParser:
    """Takes bytes in any pieces and gives whole events.

    Lines end with LF, CR LF or CR. Only whole lines are decoded, so no character is ever cut.
    """

    end_mark: str = ""
    """What some streams write instead of an object at their end."""
    _rest: bytes = b""
    _at_start: bool = True
    _after_cr: bool = False
    _name: str = ""
    _data: list[str] = field(default_factory=list)
    _id: str = ""

    def feed(self, piece: bytes) -> list[ServerEvent]:
        """The events that this piece completes; raises ValueError on data that is no object."""
        self._rest += piece
        if self._at_start and len(self._rest) >= len(BYTE_ORDER_MARK):
            self._rest = self._rest.removeprefix(BYTE_ORDER_MARK)
            self._at_start = False
        events = []
        for line in self._whole_lines():
            if line:
                self._take(line.decode("utf-8", errors="replace"))
            elif (event := self._complete()) is not None:
                events.append(event)
        return events

    def _whole_lines(self) -> list[bytes]:
        if self._after_cr and self._rest.startswith(b"\n"):
            # The second half of a CR LF that was cut; the line was already taken.
            self._rest = self._rest[1:]
        self._after_cr = self._rest.endswith(b"\r") or (self._after_cr and not self._rest)
        text = self._rest.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, self._rest = text.split(b"\n")
        return lines

    def _take(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "event":
                self._name = value
            case "data":
                self._data.append(value)
            case "id" if "\0" not in value:
                self._id = value
            case _:
                # A comment (no name) or a field of a later version.
                return

    def _complete(self) -> ServerEvent | None:
        name, text, position = self._name, "\n".join(self._data), self._id
        self._name, self._data, self._id = "", [], ""
        if not text:
            return None
        data = {} if text == self.end_mark else json.loads(text)
        if not isinstance(data, dict):
            raise ValueError(f"The data of event {name!r} is no JSON object")
        return ServerEvent(id=position, name=name or DEFAULT_NAME, data=data)


def _harmless(letter: str) -> str:
    return letter if letter.isprintable() or letter == " " else f"\\u{ord(letter):04x}"
