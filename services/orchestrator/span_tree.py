"""A run as the tree of spans that people see, from its recorded events. Pure.

The containers of the tree (the coordinator, the search, each pass, each wait) outlast calls and
processes: their ids follow from the run, and they are written when a pause is over or the run ends.
What happens inside them, the calls of models and tools, is told at once by whoever does it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from services.chassis import gen_ai
from services.chassis.gen_ai import Attributes, Kind
from services.orchestrator.events import StoredEvent
from services.orchestrator.run import Stage

COORDINATOR = "coordinator_agent"
LIBRARY = "search_library"
PIPELINE = "search_library_pipeline_node"
PLAN = "plan_review"
WRITER = "synthesizer_agent"
ASK = "adk_request_input"
INITIAL = "search_initial"
EXTENSION = "search_extension_{number}"
STAGE = "STAGE_"
CHANGE = "RUN_STATE_CHANGE_"
ENDS = ("CANCELLED", "EXPIRED", "REWOUND")


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A span of the tree; the outermost has no parent in it."""

    key: str
    name: str
    parent: str
    start: datetime
    end: datetime
    attributes: Attributes
    error: str = ""


@dataclass(slots=True, kw_only=True)
class _Open:
    name: str
    parent: str
    start: datetime
    attributes: Attributes
    error: str = ""


def key_of(stage: Stage, pass_number: int) -> str:
    """The container that the work of a stage belongs to."""
    match stage:
        case Stage.CONVERSE:
            return COORDINATOR
        case Stage.PLAN:
            return PLAN
        case Stage.SEARCH:
            return EXTENSION.format(number=pass_number) if pass_number else INITIAL
        case Stage.SYNTHESIZE:
            return WRITER
        case _:
            return PIPELINE


def is_boundary(event: StoredEvent) -> bool:
    """Whether containers are due with this event: a pause is over, or the run."""
    return event.type in ("checkpoint_answered", "answer", "error") or _is_end(event)


def due(session_id: str, events: Sequence[StoredEvent], sequence: int) -> Sequence[Container]:
    """The containers that are over and due with the event of this sequence, earliest first.

    Each is due once; a run that was taken up again after a failure tells those that hold the rest
    anew, under the same ids.
    """
    tree = _Tree(session_id)
    for event in events:
        if event.sequence > sequence:
            break
        _take(tree, event)
        if is_boundary(event):
            if event.sequence == sequence:
                return sorted(tree.over, key=lambda one: (one.start, -one.end.timestamp()))
            tree.over.clear()
    return ()


@dataclass(slots=True)
class _Tree:
    session_id: str
    open: dict[str, _Open] = field(default_factory=dict)
    begun: dict[str, datetime] = field(default_factory=dict)
    # Closed since the last boundary.
    over: list[Container] = field(default_factory=list)
    prompt: str = ""
    # The container of the stage, and the wait, that are open now.
    stage: str = ""
    wait: str = ""

    def begin(self, key: str, name: str, parent: str, kind: Kind, at: datetime) -> _Open:
        """Open a container, unless it is."""
        if key not in self.open:
            attributes = gen_ai.of_kind(kind, self.session_id)
            start = self.begun.setdefault(key, at)
            self.open[key] = _Open(name=name, parent=parent, start=start, attributes=attributes)
            if kind is Kind.AGENT:
                self.open[key].attributes |= gen_ai.agent(name)
        return self.open[key]

    def tell(self, key: str, attributes: Attributes) -> None:
        """Add to an open container."""
        if key in self.open:
            self.open[key].attributes |= attributes

    def close(self, key: str, at: datetime, error: str = "") -> None:
        """Close a container, if it is open."""
        if (one := self.open.pop(key, None)) is not None:
            self.over.append(
                Container(
                    key=key,
                    name=one.name,
                    parent=one.parent,
                    start=one.start,
                    end=at,
                    attributes=one.attributes,
                    error=error,
                )
            )

    def close_wait(self, at: datetime) -> None:
        """The person, the clock or the end of the run ended the wait: never an error."""
        if self.wait:
            self.close(f"{self.wait}/{ASK}", at)
            self.close(self.wait, at)
            self.wait = ""

    def close_all(self, at: datetime, error: str = "") -> None:
        """The run is over."""
        self.close_wait(at)
        for key in list(self.open):
            self.close(key, at, error)
        self.stage = ""


def _take(tree: _Tree, event: StoredEvent) -> None:
    payload, at = event.payload, event.time
    match event.type:
        case "run_started":
            tree.prompt = str(payload.get("prompt", ""))
            _coordinate(tree, at)
        case "stage":
            _enter(tree, str(payload["stage"]), int(payload.get("pass", 0)), at)
        case "report":
            told = {name: payload[name] for name in ("covered_summary", "gaps") if name in payload}
            tree.tell(tree.stage, gen_ai.gave(told))
        case "request_input":
            _ask(tree, event)
        case "checkpoint_answered":
            _answered(tree, event)
        case "answer":
            _finish(tree, payload)
            tree.close_all(at)
        case "error":
            tree.close_all(at, str(payload.get("code", "INTERNAL")))
        case "run_state" if _is_end(event):
            tree.close_all(at)


def _coordinate(tree: _Tree, at: datetime) -> None:
    tree.begin(COORDINATOR, COORDINATOR, "", Kind.AGENT, at)
    tree.tell(COORDINATOR, gen_ai.took(tree.prompt))


def _enter(tree: _Tree, stage_name: str, number: int, at: datetime) -> None:
    stage = Stage[stage_name.removeprefix(STAGE)]
    _coordinate(tree, at)
    if tree.stage not in ("", COORDINATOR, PIPELINE):
        tree.close(tree.stage, at)
    key = key_of(stage, number)
    tree.stage = key
    if key == COORDINATOR:
        return
    library = tree.begin(LIBRARY, LIBRARY, COORDINATOR, Kind.TOOL, at)
    library.attributes |= gen_ai.tool(LIBRARY, LIBRARY) | gen_ai.took(tree.prompt)
    tree.begin(PIPELINE, PIPELINE, LIBRARY, Kind.CHAIN, at)
    if key != PIPELINE:
        tree.begin(key, key, PIPELINE, Kind.CHAIN if key == PLAN else Kind.AGENT, at)


def _ask(tree: _Tree, event: StoredEvent) -> None:
    payload, at = event.payload, event.time
    tree.close_wait(at)
    interrupt_id = str(payload.get("interrupt_id", ""))
    # A plan stays open for its rounds; a pass is over, and what waits is between the passes.
    parent = PLAN if tree.stage == PLAN else PIPELINE
    if parent == PIPELINE and tree.stage not in ("", COORDINATOR, PIPELINE):
        tree.close(tree.stage, at)
    tree.wait = f"{interrupt_id}/{payload.get('version', 1)}"
    name = f"checkpoint_{_number(interrupt_id)}"
    tree.begin(tree.wait, name, parent if parent in tree.open else COORDINATOR, Kind.CHAIN, at)
    asked = tree.begin(f"{tree.wait}/{ASK}", ASK, tree.wait, Kind.TOOL, at)
    asked.attributes |= gen_ai.tool(ASK, interrupt_id)
    budget = payload.get("budget", {})
    told = {name: budget[name] for name in ("covered_summary", "gaps") if name in budget}
    asked.attributes |= gen_ai.took({"interrupt_id": interrupt_id, **told})


def _number(interrupt_id: str) -> str:
    """Waits for an extension are counted from 0, as passes are; others are called what they are."""
    last = interrupt_id.rpartition("_")[2]
    return str(int(last) - 1) if last.isdigit() else interrupt_id.removeprefix("interrupt_")


def _answered(tree: _Tree, event: StoredEvent) -> None:
    payload = event.payload
    if tree.wait:
        names = ("action", "guidance", "answered_by")
        told = {name: payload[name] for name in names if payload.get(name)}
        for key in (tree.wait, f"{tree.wait}/{ASK}"):
            tree.tell(key, gen_ai.gave(told))
    tree.close_wait(event.time)


def _finish(tree: _Tree, payload: Mapping[str, Any]) -> None:
    markdown = str(payload.get("markdown", ""))
    told = {
        "answered": payload.get("answered", False),
        "citations": [one.get("passage_id", "") for one in payload.get("citations", ())],
        "gaps": payload.get("gaps", []),
    }
    tree.tell(COORDINATOR, gen_ai.gave(markdown))
    tree.tell(LIBRARY, gen_ai.gave(told))


def _is_end(event: StoredEvent) -> bool:
    change = str(event.payload.get("change", "")).removeprefix(CHANGE)
    return event.type == "run_state" and change in ENDS
