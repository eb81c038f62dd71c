"""One checkpoint, many answers: one wins, the others hear who did, and nothing is used twice."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import pytest
from sqlalchemy import text

from services.chassis.errors import RpcFailure, failure_of
from services.orchestrator.checkpoint import Choice
from services.orchestrator.errors import (
    ActionNotOffered,
    CheckpointExpired,
    IdempotencyMismatch,
    NoPendingCheckpoint,
    StaleInterrupt,
    UnknownRun,
    VersionConflict,
)
from services.orchestrator.settings import Settings
from services.orchestrator.store.checkpoints import Answer, Checkpoints
from services.orchestrator.store.control import Control, Target
from services.orchestrator.store.database import Database
from services.orchestrator.store.history import History
from services.orchestrator.store.runs import Runs
from services.orchestrator.store.sessions import Sessions
from tests.fakes.deep_question import QUESTION
from tests.fakes.research_peers import ResearchPeers
from tests.integration.orchestrator_stage import (
    EXTEND,
    SYNTHESIZE,
    Chat,
    assert_told_once,
    orchestrator,
    refusal,
    settings_for,
)
from tests.integration.waiting_runs import start_waiting
from tests.servers import NatsServer
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2 as pb

NO_SUCH_ID = "0" * 32


def answer(target: Target, **changes: Any) -> Answer:
    values: dict[str, Any] = {
        "owner": target.owner,
        "session_id": target.session_id,
        "run_id": target.run_id,
        "interrupt_id": "interrupt_ext_1",
        "choice": Choice.EXTEND_BUDGET,
        "guidance": "",
        "expected_version": None,
        "idempotency_key": "",
        "body_hash": "h",
        **changes,
    }
    return Answer(**values)


async def events_of(database: Database, target: Target) -> list[str]:
    page = await Sessions(database).events(
        target.owner, target.session_id, target.run_id, after=0, limit=1_000
    )
    assert [one.sequence for one in page.events] == list(range(1, page.last_sequence + 1))
    return [one.type for one in page.events]


async def test_of_fifty_different_answers_at_once_one_wins_and_the_others_hear_which(
    database: Database,
) -> None:
    target = await start_waiting(database)
    checkpoints = Checkpoints(database)
    barrier = asyncio.Barrier(50)

    async def decide(number: int) -> int:
        await barrier.wait()
        choice = Choice.EXTEND_BUDGET if number % 2 else Choice.SYNTHESIZE
        await checkpoints.decide(
            answer(target, choice=choice, guidance=f"guidance {number}", body_hash=f"h{number}")
        )
        return number

    outcomes = await asyncio.gather(*map(decide, range(50)), return_exceptions=True)
    (winner,) = [one for one in outcomes if isinstance(one, int)]
    losers = [one for one in outcomes if isinstance(one, StaleInterrupt)]
    assert len(losers) == 49
    known = (await History(database).load(target.run_id)).checkpoints["interrupt_ext_1"]
    assert known.decision is not None
    assert known.decision.guidance == f"guidance {winner}"
    chosen = "extend_budget" if winner % 2 else "synthesize"
    for loser in losers:
        assert (loser.facts["action"], loser.facts["answered_by"]) == (chosen, "ada")
        assert (loser.facts["state"], loser.facts["run_state"]) == ("ANSWERED", "QUEUED")
        answered_at = datetime.fromisoformat(loser.facts["answered_at"])
        assert datetime.now(UTC) - answered_at < timedelta(minutes=1)
    assert (await events_of(database, target)).count("checkpoint_answered") == 1


async def test_the_same_request_twenty_times_attaches_to_one_decision(
    database: Database,
) -> None:
    target = await start_waiting(database)
    checkpoints = Checkpoints(database)
    request = answer(target, idempotency_key="click-1")
    outcomes = await asyncio.gather(*(checkpoints.decide(request) for _ in range(20)))
    assert sum(not one.replayed for one in outcomes) == 1
    (after,) = {one.after_sequence for one in outcomes}
    assert (await events_of(database, target))[after] == "checkpoint_answered"
    assert len(await events_of(database, target)) == after + 2
    with pytest.raises(IdempotencyMismatch):
        await checkpoints.decide(answer(target, idempotency_key="click-1", body_hash="other"))


async def test_a_refused_decision_leaves_its_key_free(database: Database) -> None:
    target = await start_waiting(database)
    checkpoints = Checkpoints(database)
    wrong = answer(target, idempotency_key="k", expected_version=7)
    with pytest.raises(VersionConflict) as caught:
        await checkpoints.decide(wrong)
    assert caught.value.facts == {"version": "1"}
    right = answer(target, idempotency_key="k", expected_version=1, body_hash="h2")
    assert not (await checkpoints.decide(right)).replayed


async def test_decisions_and_withdrawals_at_once_leave_one_outcome(database: Database) -> None:
    checkpoints, control = Checkpoints(database), Control(database)
    for _ in range(10):
        target = await start_waiting(database)
        barrier = asyncio.Barrier(3)

        async def after_all(
            operation: Any, barrier: asyncio.Barrier = barrier, target: Target = target
        ) -> None:
            await barrier.wait()
            await operation(target)

        async def decide(target: Target) -> None:
            await checkpoints.decide(answer(target))

        outcomes = await asyncio.gather(
            after_all(decide),
            after_all(control.cancel),
            after_all(control.rewind),
            return_exceptions=True,
        )
        assert outcomes[2] is None
        (row,) = await database.fetch(
            text(
                "SELECT run.state, checkpoint.state AS asked FROM run JOIN checkpoint "
                "ON run_id = id WHERE id = :id"
            ),
            {"id": target.run_id},
        )
        assert row.state == "REWOUND"
        told = await events_of(database, target)
        assert ("checkpoint_answered" in told) == (row.asked == "ANSWERED") == (not outcomes[0])
        assert told.count("run_state") == 1 + (outcomes[1] is None)


async def test_an_answer_is_bound_to_run_session_and_owner(database: Database) -> None:
    target, other = await start_waiting(database), await start_waiting(database)
    checkpoints = Checkpoints(database)
    for changes in (
        {"owner": "bob"},
        {"session_id": other.session_id},
        {"run_id": NO_SUCH_ID},
        {"run_id": NO_SUCH_ID, "idempotency_key": "k"},
    ):
        with pytest.raises(UnknownRun):
            await checkpoints.decide(answer(target, **changes))
    with pytest.raises(StaleInterrupt) as caught:
        await checkpoints.decide(answer(target, interrupt_id="interrupt_ext_2"))
    assert caught.value.facts == {"state": "AWAITING_INPUT", "run_state": "AWAITING_INPUT"}
    assert (await events_of(database, target))[-1] == "request_input"


async def test_an_action_that_is_not_offered_is_refused(database: Database) -> None:
    target = await start_waiting(database)
    with pytest.raises(ActionNotOffered, match="extend_budget, synthesize"):
        await Checkpoints(database).decide(answer(target, choice=None))


async def test_after_the_deadline_only_the_system_answers(database: Database) -> None:
    late = datetime.now(UTC) - timedelta(seconds=1)
    targets = [await start_waiting(database, expires_at=late) for _ in range(7)]
    soon = datetime.now(UTC) + timedelta(hours=1)
    waiting = await start_waiting(database, expires_at=soon)
    endless = await start_waiting(database)
    checkpoints = Checkpoints(database)
    with pytest.raises(CheckpointExpired):
        await checkpoints.decide(answer(targets[0]))
    counts = await asyncio.gather(*(checkpoints.expire(limit=3) for _ in range(4)))
    counts += [await checkpoints.expire(limit=10)]
    assert sum(counts) == len(targets)
    assert max(counts[:4]) <= 3
    for target in targets:
        known = (await History(database).load(target.run_id)).checkpoints["interrupt_ext_1"]
        assert known.decision is not None
        assert known.decision.choice is Choice.SYNTHESIZE
        assert (await events_of(database, target)).count("checkpoint_answered") == 1
        with pytest.raises(CheckpointExpired) as caught:
            await checkpoints.decide(answer(target))
        assert (caught.value.facts["action"], caught.value.facts["answered_by"]) == (
            "synthesize",
            "expiry",
        )
        with pytest.raises(NoPendingCheckpoint):
            await checkpoints.pending(target.owner, target.session_id, target.run_id)
    for target in (waiting, endless):
        await checkpoints.decide(answer(target))
    assert len(await Runs(database).claim("me", limit=20, lease_s=5)) == 9


async def test_a_decision_on_a_run_of_newer_code_is_taken_but_the_run_is_left_to_that(
    database: Database,
) -> None:
    target = await start_waiting(database)
    await database.fetch(text("UPDATE run SET schema_version = 99"))
    await Checkpoints(database).decide(answer(target))
    assert not await Runs(database).claim("me", limit=10, lease_s=5)
    assert await Runs(database).count_unknown_schema() == 1


async def test_a_late_decision_does_not_touch_the_next_question(
    chat: Chat, peers: ResearchPeers
) -> None:
    turn = await chat.start(QUESTION)
    await chat.waiting(turn)
    await chat.decide(turn, EXTEND, guidance="first", idempotency_key="click")
    await chat.waiting(turn, "interrupt_ext_2")
    late = await refusal(chat.decide(turn, SYNTHESIZE))
    assert (late.code, late.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "STALE_INTERRUPT")
    assert (late.facts["action"], late.facts["run_state"]) == ("extend_budget", "AWAITING_INPUT")
    assert "'ada' chose extend_budget at 20" in late.message
    again = await chat.decide(turn, EXTEND, guidance="first", idempotency_key="click")
    assert again.replayed
    mismatch = await refusal(chat.decide(turn, SYNTHESIZE, idempotency_key="click"))
    assert mismatch.reason == "IDEMPOTENCY_MISMATCH"
    assert (await chat.page(turn)).events[-1].request_input.interrupt_id == "interrupt_ext_2"
    await chat.decide(turn, SYNTHESIZE, "interrupt_ext_2")
    await chat.finished(turn)
    for name, action in (("interrupt_ext_1", "extend_budget"), ("interrupt_ext_2", "synthesize")):
        after = await refusal(chat.decide(turn, EXTEND, name))
        assert (after.reason, after.facts["run_state"]) == ("STALE_INTERRUPT", "COMPLETED")
        assert (after.facts["action"], after.facts["answered_by"]) == (action, "ada")
        assert after.facts["answered_at"] in after.message


async def test_two_callers_at_two_replicas_do_not_both_win(
    settings: Settings, peers: ResearchPeers, database_url: str, nats_server: NatsServer
) -> None:
    other = settings_for(database_url, nats_server.url, peers)
    async with orchestrator(settings) as one, orchestrator(other) as two:
        turn = await one.start(QUESTION)
        await one.waiting(turn)

        async def decide(caller: Chat, guidance: str) -> pb.DecideResponse | RpcFailure:
            try:
                return await caller.decide(turn, EXTEND, guidance=guidance)
            except grpc.aio.AioRpcError as error:
                return failure_of(error)

        replies = await asyncio.gather(
            *(decide((one, two)[number % 2], f"g{number}") for number in range(10))
        )
        won = [number for number, one in enumerate(replies) if not isinstance(one, RpcFailure)]
        assert len(won) == 1
        await two.waiting(turn, "interrupt_ext_2")
        page = await two.page(turn)
    assert_told_once(page)
    assert peers.synth.investigations[2].guidance == f"g{won[0]}"


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"interrupt_id": "Drop table"}, "interrupt_id"),
        ({"action": event_pb2.DECISION_ACTION_UNSPECIFIED}, "action"),
        ({"guidance": "x" * 2_001}, "2000"),
        ({"guidance": "a\0b"}, "NUL"),
        ({"idempotency_key": "ä"}, "idempotency_key"),
    ],
)
async def test_a_malformed_decision_is_refused_in_words(
    chat: Chat, fields: dict[str, Any], what: str
) -> None:
    turn = pb.StartTurnResponse(session_id=NO_SUCH_ID, run_id=NO_SUCH_ID)
    values = {"action": EXTEND, "interrupt_id": "interrupt_ext_1", **fields}
    failure = await refusal(chat.decide(turn, **values))
    assert failure.reason == "INVALID_REQUEST"
    assert what in failure.message
