"""Who takes part: the runs as a model has them, the rows, the replicas that hold or held a run."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, ClassVar, TypeVar
from uuid import uuid4

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine
from sqlalchemy import text

from services.orchestrator.checkpoint import Choice
from services.orchestrator.store.answers import Answer
from services.orchestrator.store.checkpoints import Checkpoints, Decided
from services.orchestrator.store.database import Database
from services.orchestrator.store.runs import Runs
from tests.machine.desk import HeldCall
from tests.machine.model import Given, Leads, RunModel
from tests.machine.replica import End, Replica
from tests.machine.rows import RunRows, rows_of, same

FORGET = text("DELETE FROM session WHERE owner = :owner")

Result = TypeVar("Result")


class Scene(RuleBasedStateMachine):
    """What the rules act on."""

    # Set by the test: a database that no other test uses, and the loop that its connections are of.
    database: ClassVar[Database]
    loop: ClassVar[asyncio.AbstractEventLoop]

    def __init__(self) -> None:
        super().__init__()
        self.owner = uuid4().hex
        self.sessions: list[str] = []
        self.runs: dict[str, RunModel] = {}
        self.replicas: list[Replica] = []
        self.rows: dict[str, RunRows] = {}

    def wait(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run in the loop of the database's connections."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(timeout=30)

    def refused(self, kind: type[Exception], coroutine: Coroutine[Any, Any, object]) -> Exception:
        """The refusal of what must be refused."""
        try:
            result = self.wait(coroutine)
        except kind as error:
            return error
        raise AssertionError(f"{kind.__name__} was expected, not {result!r}")

    def teardown(self) -> None:
        """Leave nothing behind that another example could claim."""

        async def leave() -> None:
            for replica in self.replicas:
                await replica.drop(End.DIED)
            await self.database.fetch(FORGET, {"owner": self.owner})

        self.wait(leave())

    def _look(self) -> dict[str, RunRows]:
        return self.wait(rows_of(self.database, self.owner))

    def _all(self) -> list[RunModel]:
        return list(self.runs.values())

    def _in(self, session_id: str) -> list[RunModel]:
        return [one for one in self.runs.values() if one.target.session_id == session_id]

    def _any(self, *states: str) -> bool:
        return any(one.state in states for one in self.runs.values())

    def _pick(self, data: st.DataObject, *states: str) -> RunModel:
        return data.draw(st.sampled_from([one for one in self._all() if one.state in states]))

    def _is_due(self) -> bool:
        return any(one.is_claimable for one in self.runs.values())

    def _holder(self) -> Replica | None:
        """One whose writes count and that waits for a reply."""
        holding = (
            one for one in self.replicas if one.desk.held and self.runs[one.run.id].is_held_by(one)
        )
        return next(holding, None)

    def _late_comers(self) -> list[Replica]:
        """Those whose writes do not count any more, and who do not know it."""
        return [
            one
            for one in self.replicas
            if one.desk.held and not self.runs[one.run.id].is_held_by(one)
        ]

    def _give(self, replica: Replica, call: HeldCall, value: object, leads: Leads) -> None:
        """Reply to a call; whether that changes anything depends on who holds the run now."""
        model, before = self.runs[replica.run.id], self.rows[replica.run.id]
        counts, held = model.is_held_by(replica), list(replica.desk.held)
        if counts:
            self._check_question(model, call)

        async def deliver() -> None:
            if isinstance(value, Exception):
                call.reply.set_exception(value)
            else:
                call.reply.set_result(value)
            await replica.settled()

        self.wait(deliver())
        now = self._look()[replica.run.id]
        if counts:
            self._may_hold(replica, model, held)
            model.follow(replica, now, leads)
        else:
            assert same(before, now), "a late write changed something"
            assert replica.end is not End.LEFT
        self._leave_ended()

    def _leave_ended(self) -> None:
        self.replicas = [one for one in self.replicas if one.end is None]

    def _decide(self, model: RunModel, given: Answer) -> None:
        decided = self.wait(Checkpoints(self.database).decide(given))
        assert not decided.replayed
        self._decided(model, given, decided)

    def _decided(self, model: RunModel, given: Answer, decided: Decided) -> None:
        model.answer(
            Given(
                key=given.idempotency_key,
                extends=given.choice is Choice.EXTEND_BUDGET,
                guidance=given.guidance,
                after_sequence=decided.after_sequence,
            )
        )

    def _check_question(self, model: RunModel, call: HeldCall) -> None:
        """The agent sees this run's record and the stored decision, and nothing else."""
        if call.kind == "investigate":
            brief, transcript, left = call.asked
            rows = self.rows[model.target.run_id]
            assert brief.number == model.pass_number
            assert brief.guidance == model.guidance.get(model.pass_number, "")
            assert len(transcript) == len(rows.turns)
            assert left.calls == brief.ceilings.calls - rows.run["usage"].get("calls", 0)

    @staticmethod
    def _may_hold(replica: Replica, model: RunModel, before: Sequence[HeldCall]) -> None:
        """A run that shall stop begins nothing new."""
        if model.is_pausing or replica.is_stopping:
            assert not [one for one in replica.desk.held if one not in before]

    def _renew(self, replica: Replica) -> None:
        model = self.runs[replica.run.id]
        kept = self.wait(Runs(self.database).renew([replica.run.lease], lease_s=600))
        assert bool(kept) == model.is_held_by(replica)
        if kept:
            model.lease_is_over = False
        else:
            self.wait(replica.drop(End.LOST))
