"""A run and its states: what may happen when, as a table."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

# What this code can continue. A run written by newer code is left to a replica that knows it.
SCHEMA_VERSION = 3


class State(StrEnum):
    """States of a run, as stored."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    AWAITING_INPUT = "AWAITING_INPUT"
    PAUSED = "PAUSED"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"
    REWOUND = "REWOUND"


class RunKind(StrEnum):
    """What a run is for: a turn of a chat, of which one is active at a time, or a task."""

    CHAT = "chat"
    TASK = "task"


class Action(StrEnum):
    """What can happen to a run."""

    CLAIM = "claim"
    RELEASE = "release"
    ASK = "ask"
    ANSWER = "answer"
    PAUSE = "pause"
    RESUME = "resume"
    COMPLETE = "complete"
    FAIL = "fail"
    RETRY = "retry"
    CANCEL = "cancel"
    EXPIRE = "expire"
    REWIND = "rewind"


class Stage(StrEnum):
    """Stages of a run, in order; the values are the words of the wire."""

    CONVERSE = "converse"
    PLAN = "plan"
    SEARCH = "search"
    RERANK = "rerank"
    SYNTHESIZE = "synthesize"
    VERIFY = "verify"


# A pause of a run that is held or waits is a flag: the holder stops before its next step, and the
# waiting run still takes its decision, is queued, and pauses from there.
NEXT: Mapping[tuple[State, Action], State] = {
    (State.QUEUED, Action.CLAIM): State.RUNNING,
    (State.RUNNING, Action.CLAIM): State.RUNNING,  # the lease of a dead holder is over
    (State.RUNNING, Action.RELEASE): State.QUEUED,
    (State.RUNNING, Action.ASK): State.AWAITING_INPUT,
    (State.AWAITING_INPUT, Action.ANSWER): State.QUEUED,
    (State.QUEUED, Action.PAUSE): State.PAUSED,
    (State.RUNNING, Action.PAUSE): State.PAUSED,
    (State.PAUSED, Action.RESUME): State.QUEUED,
    (State.RUNNING, Action.COMPLETE): State.COMPLETED,
    (State.RUNNING, Action.FAIL): State.FAILED,
    (State.FAILED, Action.RETRY): State.QUEUED,
    (State.CANCELLED, Action.RETRY): State.QUEUED,
    (State.QUEUED, Action.CANCEL): State.CANCELLED,
    (State.RUNNING, Action.CANCEL): State.CANCELLED,
    (State.AWAITING_INPUT, Action.CANCEL): State.CANCELLED,
    (State.PAUSED, Action.CANCEL): State.CANCELLED,
    (State.AWAITING_INPUT, Action.EXPIRE): State.EXPIRED,
    **{(state, Action.REWIND): State.REWOUND for state in State if state is not State.REWOUND},
}

# Where a pause is noted first and takes effect later.
PAUSING_LATER = (State.RUNNING, State.AWAITING_INPUT)
ACTIVE = (State.QUEUED, State.RUNNING, State.AWAITING_INPUT, State.PAUSED)
FINISHED = tuple(state for state in State if state not in ACTIVE)


class WrongState(Exception):
    """The action is not allowed in the run's state."""

    def __init__(self, run_id: str, state: State, action: Action) -> None:
        self.run_id, self.state, self.action = run_id, state, action
        self.allowed = allowed_in(state)
        moves = ", ".join(self.allowed) or "nothing"
        super().__init__(f"Run {run_id!r} is {state}: {action} is not allowed, only {moves}.")


def allowed_in(state: State) -> tuple[Action, ...]:
    """The actions that the state allows, in the order of the enum."""
    return tuple(action for action in Action if (state, action) in NEXT)


def advance(run_id: str, state: State, action: Action) -> State:
    """The state after the action; raises WrongState."""
    after = NEXT.get((state, action))
    if after is None:
        raise WrongState(run_id, state, action)
    return after


def sources(action: Action) -> tuple[State, ...]:
    """The states that allow the action: the guard of its conditional UPDATE."""
    return tuple(state for state in State if (state, action) in NEXT)


def target(action: Action) -> State:
    """The one state that the action leads to."""
    (state,) = {after for (_, taken), after in NEXT.items() if taken is action}
    return state


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to write to a run: a write with an epoch that is not the run's own does nothing."""

    run_id: str
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimant:
    """Who takes a run with the very write that makes it due, instead of finding it later."""

    name: str
    lease_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a run has used so far."""

    calls: int = 0
    words: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
    """List price of the tokens in US dollars; None once a model without a known price was used."""

    @property
    def tokens(self) -> int:
        """All tokens of language models, in and out."""
        return self.input_tokens + self.output_tokens

    def with_model_call(
        self, *, input_tokens: int, output_tokens: int, cost: float | None
    ) -> "Usage":
        """The same after one more call of a mind; one without tokens costs nothing."""
        if not (input_tokens or output_tokens):
            cost = 0.0
        return replace(
            self,
            input_tokens=self.input_tokens + input_tokens,
            output_tokens=self.output_tokens + output_tokens,
            cost=None if self.cost is None or cost is None else self.cost + cost,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedRun:
    """A run as its holder got it: everything that the stages read besides steps and evidence."""

    lease: Lease
    session_id: str
    ordinal: int
    prompt: str
    # Opaque here: JSON objects of the wire, handed on to the peers.
    active_items: tuple[Mapping[str, Any], ...]
    scope: Mapping[str, Any]
    options: Mapping[str, Any]
    ceilings: Mapping[str, Any]
    stage: Stage
    pass_number: int
    last_sequence: int
    usage: Usage
    trace: Mapping[str, str]
    create_time: datetime
    kind: RunKind = RunKind.CHAT
    # Whether the run shall stop before its next step.
    is_pausing: bool = False

    @property
    def id(self) -> str:
        """The run's id."""
        return self.lease.run_id
