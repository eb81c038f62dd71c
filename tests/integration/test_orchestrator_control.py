"""Cancel, rewind, rename, delete: at once, in every state, and nothing written late."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest
from sqlalchemy import text

from services.orchestrator.errors import (
    NotInThisState,
    PendingCheckpoint,
    RunActive,
    Stale,
    UnknownRun,
    UnknownSession,
)
from services.orchestrator.run import Action, Lease, State
from services.orchestrator.settings import Settings
from services.orchestrator.store.control import Control, Target
from services.orchestrator.store.database import Database
from services.orchestrator.store.history import History
from services.orchestrator.store.sessions import Sessions
from tests.fakes.deep_question import QUESTION
from tests.fakes.research_peers import ResearchPeers
from tests.integration.orchestrator_stage import (
    Chat,
    eventually,
    orchestrator,
    refusal,
    settings_for,
)
from tests.integration.waiting_runs import (
    ACTIVE,
    ENDED,
    asking,
    entry,
    run_in,
    start_run,
    state_of,
    told,
)
from tests.servers import NatsServer
from zocrates.events.v1 import event_pb2
from zocrates.orchestrator.v1 import chat_pb2 as pb


async def holder_of(database: Database, target: Target) -> Lease:
    """The lease of whoever holds or held the run last."""
    (row,) = await database.fetch(
        text("SELECT lease_epoch FROM run WHERE id = :id"), {"id": target.run_id}
    )
    return Lease(run_id=target.run_id, epoch=row.lease_epoch)


async def assert_nothing_pending(database: Database) -> None:
    rows = await database.fetch(text("SELECT state FROM checkpoint WHERE state = 'PENDING'"))
    assert not rows


@pytest.mark.parametrize("state", ACTIVE)
async def test_cancel_ends_an_active_run_and_late_writes_fail(
    database: Database, state: str
) -> None:
    target = await run_in(database, state)
    lease = await holder_of(database, target)
    await Control(database).cancel(target)
    assert await state_of(database, target) == "CANCELLED"
    for late in (entry(), entry(leaving=Action.COMPLETE), asking(version=9)):
        with pytest.raises(Stale):
            await History(database).record(lease, late)
    assert (await told(database, target))[-1] == "run_state"
    await assert_nothing_pending(database)


@pytest.mark.parametrize("state", ENDED)
async def test_a_run_that_has_ended_cannot_be_cancelled(database: Database, state: str) -> None:
    target = await run_in(database, state)
    before = await told(database, target)
    with pytest.raises(NotInThisState) as caught:
        await Control(database).cancel(target)
    assert caught.value.facts["state"] == state
    assert "rewind" in caught.value.facts["allowed"]
    assert await told(database, target) == before


@pytest.mark.parametrize("state", [*ACTIVE, *ENDED])
async def test_rewind_takes_a_run_and_all_later_ones_out_of_the_history(
    database: Database, state: str
) -> None:
    first = await run_in(database, "COMPLETED")
    second = await run_in(database, "FAILED", first.session_id)
    third = await run_in(database, state, first.session_id)
    lease = await holder_of(database, third)
    assert await Control(database).rewind(second) == [second.run_id, third.run_id]
    conversation = await Sessions(database).get("ada", first.session_id)
    assert [message.run_id for message in conversation.messages] == [first.run_id]
    with pytest.raises(Stale):
        await History(database).record(lease, entry())
    assert (await told(database, third))[-1] == "run_state"
    await assert_nothing_pending(database)
    # The place of the active run is free again.
    fourth = await run_in(database, "QUEUED", first.session_id)
    # A late repetition is answered as the first request was, and takes nothing more along.
    assert await Control(database).rewind(second) == [second.run_id, third.run_id]
    assert await state_of(database, fourth) == "QUEUED"


async def test_a_session_whose_runs_were_all_taken_back_is_still_listed(
    database: Database,
) -> None:
    target = await run_in(database, "AWAITING_INPUT")
    await Control(database).rewind(target)
    page = await Sessions(database).list("ada", query="", cursor="", limit=10)
    assert [(one.id, one.state) for one in page.sessions] == [(target.session_id, None)]
    assert not (await Sessions(database).get("ada", target.session_id)).messages


async def test_what_belongs_to_another_owner_cannot_be_touched(database: Database) -> None:
    target = await run_in(database, "AWAITING_INPUT")
    foreign = Target(owner="bob", session_id=target.session_id, run_id=target.run_id)
    control = Control(database)
    actions: list[Callable[[Target], Awaitable[object]]] = [
        control.cancel,
        control.rewind,
        control.retry,
    ]
    for action in actions:
        with pytest.raises(UnknownRun):
            await action(foreign)
    with pytest.raises(UnknownSession):
        await control.delete("bob", target.session_id)
    with pytest.raises(UnknownSession):
        await control.rename("bob", target.session_id, "Mine")
    assert await state_of(database, target) == State.AWAITING_INPUT


@pytest.mark.parametrize("state", [*ACTIVE, *ENDED])
async def test_delete_forgets_everything_and_late_writes_bring_nothing_back(
    database: Database, state: str
) -> None:
    target = await run_in(database, state)
    lease = await holder_of(database, target)
    await Control(database).delete("ada", target.session_id)
    with pytest.raises(Stale):
        await History(database).record(lease, entry())
    for table in ("session", "run", "step", "evidence", "checkpoint", "event", "request_key"):
        assert not await database.fetch(text(f"SELECT 1 FROM {table}"))
    with pytest.raises(UnknownSession):
        await Control(database).delete("ada", target.session_id)


async def test_new_turns_and_rewinds_at_once_leave_one_order(database: Database) -> None:
    first = await run_in(database, "AWAITING_INPUT")
    barrier = asyncio.Barrier(6)

    async def rewind() -> None:
        await barrier.wait()
        await Control(database).rewind(first)

    async def turn() -> Target:
        await barrier.wait()
        return await start_run(database, session_id=first.session_id)

    outcomes = await asyncio.gather(
        *(rewind() for _ in range(3)), *(turn() for _ in range(3)), return_exceptions=True
    )
    started = [one for one in outcomes if isinstance(one, Target)]
    refused = [one for one in outcomes if isinstance(one, RunActive | PendingCheckpoint)]
    assert (len(started) <= 1, len(started) + len(refused)) == (True, 3), outcomes
    for target in started:
        assert await state_of(database, target) == "QUEUED"
    assert await state_of(database, first) == "REWOUND"
    assert (await told(database, first)).count("run_state") == 1


async def test_cancel_ends_a_long_model_call_within_a_second(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.synth.asking_gate = asyncio.Event()
    turn = await chat.start(QUESTION)

    async def is_thinking() -> bool:
        return len(peers.synth.investigations) == 1

    await eventually(is_thinking, "the model call")
    began = time.monotonic()
    await chat.cancel(turn)
    page = await chat.page(turn)
    assert page.state == pb.RUN_STATE_CANCELLED
    assert page.events[-1].run_state.change == event_pb2.RUN_STATE_CHANGE_CANCELLED
    assert page.events[-1].run_state.by == "ada"

    async def call_has_ended() -> bool:
        return peers.synth.cancelled == 1

    await eventually(call_has_ended, "the end of the call", within_s=1)
    assert time.monotonic() - began < 1.5
    peers.synth.asking_gate.set()
    assert (await chat.page(turn)).last_sequence == page.last_sequence


async def test_a_worker_elsewhere_notices_within_a_second_without_nats(
    settings: Settings, peers: ResearchPeers, database_url: str, nats_server: NatsServer
) -> None:
    peers.synth.asking_gate = asyncio.Event()
    usual = settings.model_copy(update={"renew_s": 0.75, "lease_s": 5.0})
    async with orchestrator(usual) as chat:
        turn = await chat.start(QUESTION)

        async def is_thinking() -> bool:
            return len(peers.synth.investigations) == 1

        await eventually(is_thinking, "the model call")
        nats_server.kill()
        other = settings_for(database_url, nats_server.url, peers, max_runs=1)
        async with orchestrator(other) as second:
            await second.cancel(turn)

            async def call_has_ended() -> bool:
                return peers.synth.cancelled == 1

            await eventually(call_has_ended, "the end of the call", within_s=1)


async def test_a_deleted_session_ends_its_call_and_is_gone(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.synth.asking_gate = asyncio.Event()
    turn = await chat.start(QUESTION)

    async def is_thinking() -> bool:
        return len(peers.synth.investigations) == 1

    await eventually(is_thinking, "the model call")
    await chat.delete(turn)

    async def call_has_ended() -> bool:
        return peers.synth.cancelled == 1

    await eventually(call_has_ended, "the end of the call", within_s=1)
    assert (await refusal(chat.page(turn))).reason == "UNKNOWN_RUN"
    assert (await refusal(chat.session(turn))).reason == "UNKNOWN_SESSION"
    assert not await chat.listed()
    assert (await chat.answer("hello")).markdown == "Hello."


async def test_a_turn_that_was_taken_back_is_not_heard_by_later_ones(
    chat: Chat, peers: ResearchPeers
) -> None:
    kept = await chat.start("hello")
    await chat.finished(kept)
    peers.synth.script = []
    gone = await chat.start(QUESTION, session_id=kept.session_id)
    await chat.finished(gone)
    await chat.rewind(gone)
    await chat.finished(await chat.start("Once more?", session_id=kept.session_id))
    assert [one.prompt for one in peers.synth.conversations[-1].history] == ["hello"]


async def test_a_session_is_renamed_in_its_place(chat: Chat) -> None:
    turn = await chat.start("hello")
    await chat.finished(turn)
    before = (await chat.listed())[0]
    renamed = await chat.rename(turn, "  Naps\nand more ")
    assert renamed.title == "Naps and more"
    assert renamed.update_time == before.update_time
    assert await chat.listed() == [renamed]
    for title in ("  ", "x" * 201, "a\0"):
        assert (await refusal(chat.rename(turn, title))).reason == "INVALID_REQUEST"
