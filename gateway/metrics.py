"""The gateway's counters, written as Prometheus text."""

from collections import Counter


class Count:
    """A number with a name, by labels; a counter that only grows, or a gauge."""

    def __init__(self, name: str, text: str, *, kind: str = "counter") -> None:
        self._name = name
        self._text = text
        self._kind = kind
        self._values: Counter[tuple[tuple[str, str], ...]] = Counter()

    def add(self, amount: int = 1, **labels: str) -> None:
        """Add to the number with these labels."""
        self._values[tuple(sorted(labels.items()))] += amount

    def value(self, **labels: str) -> int:
        """The number with these labels."""
        return self._values[tuple(sorted(labels.items()))]

    def lines(self) -> list[str]:
        """The number in the Prometheus text format."""
        head = [f"# HELP {self._name} {self._text}", f"# TYPE {self._name} {self._kind}"]
        if not self._values:
            return [*head, f"{self._name} 0"]
        return head + [
            f"{self._name}{_labels(labels)} {value}"
            for labels, value in sorted(self._values.items())
        ]


class Metrics:
    """What the gateway counts."""

    def __init__(self) -> None:
        self.requests = Count(
            "zocrates_gateway_requests_total", "Requests by method, route and status."
        )
        self.open_streams = Count(
            "zocrates_gateway_open_streams", "Event streams open now.", kind="gauge"
        )
        self.events_forwarded = Count(
            "zocrates_gateway_events_forwarded_total", "Frames of runs sent, by event."
        )
        self.streams_resumed = Count(
            "zocrates_gateway_streams_resumed_total",
            "Streams begun at a Last-Event-ID.",
        )
        self.catch_ups = Count(
            "zocrates_gateway_catch_ups_total", "Reads of a run's record by open streams."
        )
        self.inbox_overflows = Count(
            "zocrates_gateway_inbox_overflows_total", "Times a slow client's inbox was dropped."
        )
        self.bus_losses = Count(
            "zocrates_gateway_bus_losses_total", "Losses of the connection to NATS."
        )
        self.limited_requests = Count(
            "zocrates_gateway_limited_requests_total", "Requests over their key's limit, by window."
        )
        self.uncounted_requests = Count(
            "zocrates_gateway_uncounted_requests_total",
            "Requests let in because NATS could not count them.",
        )

    def text(self) -> str:
        """All numbers in the Prometheus text format."""
        counts = (
            self.requests,
            self.open_streams,
            self.events_forwarded,
            self.streams_resumed,
            self.catch_ups,
            self.inbox_overflows,
            self.bus_losses,
            self.limited_requests,
            self.uncounted_requests,
        )
        return "\n".join(line for count in counts for line in count.lines()) + "\n"


def _labels(labels: tuple[tuple[str, str], ...]) -> str:
    if not labels:
        return ""
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{pairs}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
