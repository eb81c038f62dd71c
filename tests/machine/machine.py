"""Everything that can happen to runs, in any order, against a model and a real database."""

import asyncio
from typing import Any
from uuid import uuid4

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from sqlalchemy import text

from services.orchestrator.errors import (
    CheckpointExpired,
    IdempotencyMismatch,
    NotInThisState,
    PendingCheckpoint,
    RunActive,
    StaleInterrupt,
)
from services.orchestrator.store.checkpoints import Checkpoints, Decided
from services.orchestrator.store.control import Control, Target
from services.orchestrator.store.pausing import Pausing
from services.orchestrator.store.runs import Runs
from tests.machine.model import FINISHED, PAUSES_LATER, Given, Leads, RunModel
from tests.machine.replica import Dies, End, Replica
from tests.machine.requests import answer, helpful, replies, turn
from tests.machine.rows import check, check_growth, check_sessions
from tests.machine.scene import Scene

SESSIONS = 2
LEASE_IS_OVER = text("UPDATE run SET lease_until = now() - interval '1 s' WHERE id = :id")
EXPIRES_NOW = text("UPDATE checkpoint SET expires_at = now() WHERE run_id = :id AND state = :state")


class Machine(Scene):
    """Runs of two sessions, the replicas that hold or held them, and whoever decides."""

    # Starting and working

    @initialize(questions=st.sampled_from([0, 1, 2, 1]))
    def begin(self, questions: int) -> None:
        """A run that has come to its first or second question, or none."""
        self.rows_agree_with_the_model()
        if questions:
            self.start(0)
            self.go_on(times=12, has_gaps=True)
        if questions > 1:
            (model,) = self._all()
            self._decide(model, answer(model, extends=True, guidance="Naps."))
            self.go_on(times=12, has_gaps=True)

    @rule(number=st.integers(0, SESSIONS - 1))
    def start(self, number: int) -> None:
        """A turn in a session; refused while another is active in it."""
        session_id = self.sessions[number] if number < len(self.sessions) else ""
        active = next((one for one in self._in(session_id) if one.state not in FINISHED), None)
        question = turn(self.owner, session_id)
        if session_id and active is not None:
            waits = active.state == "AWAITING_INPUT"
            refusal = PendingCheckpoint if waits else RunActive
            self.refused(refusal, Runs(self.database).start_turn(question))
            return
        started = self.wait(Runs(self.database).start_turn(question))
        if not session_id:
            self.sessions.append(started.session_id)
        target = Target(owner=self.owner, session_id=started.session_id, run_id=started.run_id)
        ordinal = len(self._in(started.session_id)) + 1
        self.runs[started.run_id] = RunModel(target=target, ordinal=ordinal)
        again = self.wait(Runs(self.database).start_turn(question))
        assert (again.run_id, again.replayed) == (started.run_id, True)

    @precondition(lambda self: self._is_due())
    @rule()
    def claim(self) -> None:
        """A replica takes the oldest run that is due, whoever still works on it."""
        (run,) = self.wait(Runs(self.database).claim(uuid4().hex, limit=1, lease_s=600))
        model = self.runs[run.id]
        due = next(one for one in self.runs.values() if one.is_claimable)
        assert model is due, "not the oldest one"
        assert run.pass_number == model.pass_number
        model.state, model.epoch, model.lease_is_over = "RUNNING", model.epoch + 1, False
        assert run.lease.epoch == model.epoch

        async def begin() -> Replica:
            replica = Replica(run, self.database)
            await replica.settled()
            return replica

        replica = self.wait(begin())
        self.replicas.append(replica)
        self._may_hold(replica, model, ())
        model.follow(replica, self._look()[run.id], Leads.FROM_RECORD)
        self._leave_ended()

    @precondition(lambda self: any(one.desk.held for one in self.replicas))
    @rule(data=st.data())
    def reply(self, data: st.DataObject) -> None:
        """A peer answers a holder, whether or not it still is the holder."""
        replica = data.draw(st.sampled_from([one for one in self.replicas if one.desk.held]))
        call = data.draw(st.sampled_from(replica.desk.held))
        self._give(replica, call, *data.draw(replies(call)))

    @precondition(lambda self: self._holder() is not None or self._is_due())
    @rule(times=st.sampled_from([12, 3, 1, 2, 12]), has_gaps=st.sampled_from([True, True, False]))
    def go_on(self, times: int, has_gaps: bool) -> None:
        """Nothing goes wrong for a while."""
        for _ in range(times):
            replica = self._holder()
            if replica is not None:
                call = replica.desk.held[0]
                is_done = (
                    f"pass_{self.runs[replica.run.id].pass_number}/turn_1"
                    in self.rows[replica.run.id].turns
                )
                self._give(replica, call, *helpful(call, is_done=is_done, has_gaps=has_gaps))
            elif self._is_due():
                self.claim()
            else:
                return
            self.rows_agree_with_the_model()

    # Deciding

    @precondition(lambda self: self._any("AWAITING_INPUT"))
    @rule(
        data=st.data(),
        extends=st.sampled_from([True, True, False]),
        guidance=st.sampled_from(["", "Naps."]),
    )
    def decide(self, data: st.DataObject, extends: bool, guidance: str) -> None:
        """A person decides."""
        model = self._pick(data, "AWAITING_INPUT")
        self._decide(model, answer(model, extends=extends, guidance=guidance))

    @precondition(lambda self: self._any("AWAITING_INPUT"))
    @rule(data=st.data())
    def two_answers_race(self, data: st.DataObject) -> None:
        """Two persons decide differently at the same moment."""
        model = self._pick(data, "AWAITING_INPUT")
        answers = [answer(model, extends=extends) for extends in (True, False)]

        async def race() -> list[Any]:
            deciding = (Checkpoints(self.database).decide(one) for one in answers)
            return await asyncio.gather(*deciding, return_exceptions=True)

        results = self.wait(race())
        won = [place for place, one in enumerate(results) if isinstance(one, Decided)]
        (winner,) = won
        assert isinstance(results[1 - winner], StaleInterrupt)
        self._decided(model, answers[winner], results[winner])

    @precondition(lambda self: any(one.given for one in self.runs.values()))
    @rule(data=st.data(), how=st.sampled_from(["same key", "other key", "other body"]))
    def answer_again(self, data: st.DataObject, how: str) -> None:
        """The decision comes once more."""
        model = data.draw(st.sampled_from([one for one in self.runs.values() if one.given]))
        name, given = data.draw(st.sampled_from(list(model.given.items())))
        extends = given.extends == (how != "other body")
        known = given.key if how != "other key" else ""
        again = answer(model, name=name, extends=extends, guidance=given.guidance, key=known)
        deciding = Checkpoints(self.database).decide(again)
        if given.expired:
            self.refused(CheckpointExpired, deciding)
        elif how == "same key":
            decided = self.wait(deciding)
            assert (decided.replayed, decided.after_sequence) == (True, given.after_sequence)
        else:
            self.refused(StaleInterrupt if how == "other key" else IdempotencyMismatch, deciding)

    @precondition(lambda self: self._any("AWAITING_INPUT"))
    @rule(data=st.data())
    def expire(self, data: st.DataObject) -> None:
        """The time to answer is over, and the system answers."""
        model = self._pick(data, "AWAITING_INPUT")
        run_id = model.target.run_id
        self.wait(self.database.fetch(EXPIRES_NOW, {"id": run_id, "state": "PENDING"}))
        late = answer(model, extends=True)
        self.refused(CheckpointExpired, Checkpoints(self.database).decide(late))
        assert self.wait(Checkpoints(self.database).expire(limit=10)) == 1
        model.answer(Given(key="", extends=False, guidance="", after_sequence=0, expired=True))

    # Controlling

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), goes_on=st.booleans())
    def pause(self, data: st.DataObject, goes_on: bool) -> None:
        """Stop before the next step."""
        model = data.draw(st.sampled_from(list(self.runs.values())))
        pausing = Pausing(self.database).pause(model.target)
        if model.state == "QUEUED":
            self.wait(pausing)
            model.state = "PAUSED"
        elif model.state in PAUSES_LATER and not model.is_pausing:
            self.wait(pausing)
            model.is_pausing = True
            self.rows_agree_with_the_model()
            if goes_on:
                self.go_on(times=2, has_gaps=True)
        else:
            self.refused(NotInThisState, pausing)

    @precondition(lambda self: any(one.is_pausing or one.state == "PAUSED" for one in self._all()))
    @rule(data=st.data())
    def unpause(self, data: st.DataObject) -> None:
        """Go on after all."""
        model = data.draw(st.sampled_from(self._all()))
        resuming = Pausing(self.database).resume(model.target)
        if model.state == "PAUSED":
            self.wait(resuming)
            model.state = "QUEUED"
        elif model.is_pausing:
            self.wait(resuming)
            model.is_pausing = False
        else:
            self.refused(NotInThisState, resuming)

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), takes_back=st.booleans())
    def cancel_or_rewind(self, data: st.DataObject, takes_back: bool) -> None:
        """End a run from outside, or take it and all later ones back."""
        model = data.draw(st.sampled_from(self._all()))
        control = Control(self.database)
        if takes_back:
            self.wait(control.rewind(model.target))
            gone = [] if model.state == "REWOUND" else self._in(model.target.session_id)
            for one in gone:
                if one.ordinal >= model.ordinal and one.state != "REWOUND":
                    one.change("REWOUND")
        elif model.state in FINISHED:
            self.refused(NotInThisState, control.cancel(model.target))
        else:
            self.wait(control.cancel(model.target))
            model.change("CANCELLED")

    @precondition(lambda self: any(one.state in ("CANCELLED", "FAILED") for one in self._all()))
    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        """Take an ended run up again; only the last one of its session can be."""
        model = self._pick(data, "CANCELLED", "FAILED")
        later = [one for one in self._in(model.target.session_id) if one.ordinal > model.ordinal]
        later = [one for one in later if one.state != "REWOUND"]
        retrying = Control(self.database).retry(model.target)
        if later:
            active = any(one.state not in FINISHED for one in later)
            self.refused(RunActive if active else NotInThisState, retrying)
        else:
            self.wait(retrying)
            model.change("QUEUED")

    # Dying

    @precondition(lambda self: self.replicas)
    @rule(data=st.data(), how=st.sampled_from(["crashes", "stops", "asks", *Dies]))
    def lose(self, data: st.DataObject, how: str) -> None:
        """A holder is gone at once, at a write or at a step's border, or hears that it is none."""
        replica = data.draw(st.sampled_from(self.replicas))
        match how:
            case "crashes":
                self.wait(replica.drop(End.DIED))
            case "stops":
                replica.stop()
            case "asks":
                self._renew(replica)
            case _:
                replica.die_at_next_write(Dies(how))
        self._leave_ended()

    @precondition(lambda self: self._any("RUNNING"))
    @rule(data=st.data(), is_taken=st.sampled_from([True, True, False]))
    def lease_ends(self, data: st.DataObject, is_taken: bool) -> None:
        """Nobody renewed a lease in time, be the holder dead or only slow; others may take all."""
        model = self._pick(data, "RUNNING")
        self.wait(self.database.fetch(LEASE_IS_OVER, {"id": model.target.run_id}))
        model.lease_is_over = True
        while is_taken and model.lease_is_over:
            self.claim()

    @precondition(lambda self: self._late_comers())
    @rule(data=st.data(), has_gaps=st.booleans())
    def reply_late(self, data: st.DataObject, has_gaps: bool) -> None:
        """A peer answers one whose run was taken from it, while another works on it or nobody."""
        replica = data.draw(st.sampled_from(self._late_comers()))
        call = replica.desk.held[0]
        self._give(replica, call, *helpful(call, is_done=has_gaps, has_gaps=has_gaps))

    # What must be true after each of them

    @invariant()
    def rows_agree_with_the_model(self) -> None:
        """The database holds what the model says, and nothing that was written is lost."""
        now = self._look()
        assert set(now) == set(self.runs)
        check_sessions(now)
        for run_id, rows in now.items():
            model = self.runs[run_id]
            stored = (rows.run["state"], rows.run["is_pausing"], rows.run["pass"])
            assert stored == (model.state, model.is_pausing, model.pass_number)
            assert rows.run["lease_epoch"] == model.epoch
            check(rows)
            if run_id in self.rows:
                check_growth(self.rows[run_id], rows)
        self.rows = now
