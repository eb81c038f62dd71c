"""What the orchestrator counts: runs as their events tell of them, and what the database holds."""

from collections.abc import Callable, Iterable
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge

from services.orchestrator.errors import DatabaseDown
from services.orchestrator.events import StoredEvent
from services.orchestrator.store.census import Numbers
from services.orchestrator.tools import TOOLS

KNOWN_TOOLS = frozenset(tool.name for tool in TOOLS)
ENDS = {"answer": "COMPLETED", "error": "FAILED"}
CHANGE = "RUN_STATE_CHANGE_"
ACTION = "DECISION_ACTION_"
# What a person or a clock ends a run by; an answer and an error have rows of their own.
ENDED_BY_CHANGE = frozenset({"CANCELLED", "EXPIRED", "REWOUND"})


class TakesCensus(Protocol):
    """Where the numbers of the moment come from."""

    async def take(self) -> Numbers:
        """Count; raises DatabaseDown."""


class RunMetrics:
    """The numbers of this replica and, the same at every replica, those of the database.

    An event is counted by whoever publishes it: once, and once more when the claim to publish runs
    out or its holder dies before that is noted.
    """

    def __init__(self, registry: CollectorRegistry, census: TakesCensus) -> None:
        self._census = census

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"zocrates_{name}_total", text, labels, registry=registry)

        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(f"zocrates_{name}", text, labels, registry=registry)

        self._started = counter("runs_started", "Runs that began.")
        self._ended = counter("runs_ended", "Runs that ended, by state.", "state")
        self._asked = counter("checkpoints_asked", "Questions to people, by kind.", "kind")
        self._decided = counter("decisions", "Answers to them, by action.", "action")
        self._calls = counter("tool_calls", "Tool calls of agents, by tool.", "tool")
        self._words = counter("tool_words", "Words that tool calls returned.")
        self._tokens = counter(
            "model_tokens", "Tokens of finished runs, by direction.", "direction"
        )
        self._active = gauge("runs_active", "Runs that are not over, by state.", "state")
        self._pending = gauge("checkpoints_pending", "Questions that wait for an answer.")
        self._oldest = gauge("checkpoint_oldest_seconds", "Age of the oldest of them.")
        self._lag = gauge("outbox_lag_seconds", "Age of the oldest event that is not published.")
        self._foreign = gauge("runs_of_newer_code", "Runs that this version leaves to a newer one.")
        self._in_hand = gauge("runs_in_hand", "Runs that this replica works on.")
        self._reachable = gauge("database_reachable", "Whether the numbers could be looked up.")

    def hold(self, count: Callable[[], int]) -> None:
        """Ask this from now on how many runs are in hand."""
        self._in_hand.set_function(count)

    def published(self, events: Iterable[StoredEvent]) -> None:
        """Count what these events tell of."""
        for event in events:
            self._count(event)

    def _count(self, event: StoredEvent) -> None:
        payload = event.payload
        if event.type in ENDS:
            self._ended.labels(ENDS[event.type]).inc()
        match event.type:
            case "run_started":
                self._started.inc()
            case "run_state":
                state = str(payload["change"]).removeprefix(CHANGE)
                if state in ENDED_BY_CHANGE:
                    self._ended.labels(state).inc()
            case "request_input":
                self._asked.labels(str(payload.get("kind", "")).rpartition("KIND_")[2]).inc()
            case "checkpoint_answered":
                self._decided.labels(str(payload["action"]).removeprefix(ACTION)).inc()
            case "tool_call":
                # What a model made up must not make new series.
                tool = str(payload["tool"])
                self._calls.labels(tool if tool in KNOWN_TOOLS else "unknown").inc()
            case "tool_result":
                self._words.inc(int(payload["words"]))
            case "answer":
                usage = payload["usage"]
                self._tokens.labels("input").inc(int(usage["input_tokens"]))
                self._tokens.labels("output").inc(int(usage["output_tokens"]))

    async def look_up(self) -> None:
        """Bring the numbers of the database up to date."""
        try:
            numbers = await self._census.take()
        except DatabaseDown:
            self._reachable.set(0)
            return
        self._reachable.set(1)
        for state, count in numbers.active.items():
            self._active.labels(state).set(count)
        self._pending.set(numbers.pending)
        self._oldest.set(numbers.oldest_s)
        self._lag.set(numbers.outbox_lag_s)
        self._foreign.set(numbers.of_newer_code)
