"""What a run must be after what was done to it, worked out without the code under test."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from services.orchestrator.store.control import Target
from tests.machine.replica import End, Replica
from tests.machine.rows import RunRows

EXTENSIONS = 2
FINISHED = ("COMPLETED", "FAILED", "CANCELLED", "EXPIRED", "REWOUND")
PAUSES_LATER = ("RUNNING", "AWAITING_INPUT")


class Leads(Enum):
    """What a reply leads to."""

    ON = auto()
    TO_GAPS = auto()
    TO_NO_GAPS = auto()
    TO_FAILURE = auto()
    # To more calls, or to the end of the pass by a rule that is not modelled.
    SOMEWHERE = auto()
    # Nothing was replied: the run was only taken up.
    FROM_RECORD = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A decision that was taken."""

    key: str
    extends: bool
    guidance: str
    after_sequence: int
    expired: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class RunModel:
    """One run."""

    target: Target
    ordinal: int
    state: str = "QUEUED"
    is_pausing: bool = False
    pass_number: int = 0
    epoch: int = 0
    # Nobody renews the lease of a dead holder, and the clock is ours.
    lease_is_over: bool = False
    asked: dict[str, int] = field(default_factory=dict)
    given: dict[str, Given] = field(default_factory=dict)

    @property
    def question(self) -> str:
        """The question that comes after the current pass."""
        return f"interrupt_ext_{self.pass_number + 1}"

    @property
    def may_ask(self) -> bool:
        """Whether gaps lead to a question, not on to the answer."""
        return self.pass_number < EXTENSIONS

    @property
    def is_claimable(self) -> bool:
        """Whether the next claim may take it."""
        return self.state == "QUEUED" or (self.state == "RUNNING" and self.lease_is_over)

    def is_held_by(self, replica: Replica) -> bool:
        """Whether this holder's writes count."""
        return self.state == "RUNNING" and replica.run.lease.epoch == self.epoch

    def change(self, state: str) -> None:
        """Move from outside, which ends the holder's right to write."""
        self.state, self.is_pausing, self.lease_is_over = state, False, False
        self.epoch += 1

    def give_back(self) -> None:
        """What becomes of it when its holder stops at the border of a step."""
        self.state = "PAUSED" if self.is_pausing else "QUEUED"
        self.is_pausing = False

    def follow(self, replica: Replica, now: RunRows, leads: Leads) -> None:
        """Take over what the holder came to, where it could come to that."""
        state = now.run["state"]
        match replica.end:
            case None:
                assert state == "RUNNING"
                assert leads is not Leads.TO_FAILURE
                assert not (leads is Leads.TO_GAPS and self.may_ask), "went on without asking"
            case End.DIED:
                assert state == ("FAILED" if self._has_failed(now, leads) else "RUNNING")
            case End.GAVE_BACK:
                assert self.is_pausing or replica.is_stopping
                self.give_back()
                return
            case End.LEFT if state == "AWAITING_INPUT":
                assert self.may_ask
                assert leads in (Leads.TO_GAPS, Leads.SOMEWHERE, Leads.FROM_RECORD)
                self.ask()
                return
            case _:
                ending = "FAILED" if leads is Leads.TO_FAILURE else "COMPLETED"
                assert (replica.end, state) == (End.LEFT, ending)
                assert ending == "FAILED" or "synthesize" in now.done()
        if state in FINISHED:
            self.state, self.is_pausing = state, False

    @staticmethod
    def _has_failed(now: RunRows, leads: Leads) -> bool:
        return leads is Leads.TO_FAILURE and now.events[-1]["type"] == "error"

    def ask(self) -> None:
        """The holder has left it with a question."""
        self.state = "AWAITING_INPUT"
        self.asked[self.question] = self.asked.get(self.question, 0) + 1

    def answer(self, given: Given) -> None:
        """A decision was taken on the question that waits."""
        self.given[self.question] = given
        self.pass_number += given.extends
        self.give_back()

    @property
    def guidance(self) -> Mapping[int, str]:
        """By pass, the word of guidance that it was extended with."""
        return {
            int(name.removeprefix("interrupt_ext_")): one.guidance
            for name, one in self.given.items()
            if one.extends
        }
