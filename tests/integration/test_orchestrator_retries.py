"""Retry: the last run goes on with what it recorded, once for each request."""

import asyncio

import pytest

from services.orchestrator.errors import IdempotencyMismatch, NotInThisState, RunActive
from services.orchestrator.run import Action
from services.orchestrator.store.control import Control
from services.orchestrator.store.database import Database
from services.orchestrator.store.history import History
from tests.fakes.deep_question import QUESTION
from tests.fakes.research_peers import ResearchPeers
from tests.integration.orchestrator_stage import (
    EXTEND,
    SYNTHESIZE,
    Chat,
    assert_told_once,
    eventually,
    kinds,
    refusal,
)
from tests.integration.waiting_runs import ACTIVE, claim, entry, run_in, state_of, told
from zocrates.orchestrator.v1 import chat_pb2 as pb


@pytest.mark.parametrize("state", ["FAILED", "CANCELLED"])
async def test_retry_lets_the_last_run_go_on_with_its_steps(database: Database, state: str) -> None:
    target = await run_in(database, state)
    steps = set((await History(database).load(target.run_id)).steps)
    after = (await Control(database).retry(target)).after_sequence
    assert (await told(database, target))[after:] == ["run_state"]
    run = await claim(database, target)
    assert set((await History(database).load(target.run_id)).steps) == steps
    await History(database).record(run.lease, entry(key="more"))


@pytest.mark.parametrize("state", [*ACTIVE, "COMPLETED"])
async def test_only_a_failed_or_cancelled_run_is_retried(database: Database, state: str) -> None:
    target = await run_in(database, state)
    with pytest.raises(NotInThisState) as caught:
        await Control(database).retry(target)
    assert caught.value.facts["state"] == state


async def test_the_same_retry_twenty_times_attaches_to_one(database: Database) -> None:
    target, control = await run_in(database, "FAILED"), Control(database)
    outcomes = await asyncio.gather(
        *(control.retry(target, key="click", body_hash="h") for _ in range(20))
    )
    assert sum(not one.replayed for one in outcomes) == 1
    (after,) = {one.after_sequence for one in outcomes}
    assert (await told(database, target))[after:] == ["run_state"]
    with pytest.raises(IdempotencyMismatch):
        await control.retry(target, key="click", body_hash="other")
    # Failed once more, it is not let go on by the old request.
    run = await claim(database, target)
    await History(database).record(run.lease, entry(leaving=Action.FAIL, key="again"))
    assert (await control.retry(target, key="click", body_hash="h")).replayed
    assert await state_of(database, target) == "FAILED"


async def test_only_the_last_run_of_a_session_is_retried(database: Database) -> None:
    control = Control(database)
    first = await run_in(database, "FAILED")
    second = await run_in(database, "RUNNING", first.session_id)
    with pytest.raises(RunActive) as active:
        await control.retry(first)
    assert active.value.facts == {"run_id": second.run_id, "state": "RUNNING"}
    await control.cancel(second)
    with pytest.raises(NotInThisState, match="last run of a session"):
        await control.retry(first)
    await control.rewind(second)
    await control.retry(first)


async def test_a_run_cancelled_while_it_waited_asks_again_when_it_is_retried(
    chat: Chat, peers: ResearchPeers
) -> None:
    turn = await chat.start(QUESTION)
    first = await chat.waiting(turn)
    await chat.cancel(turn)
    failure = await refusal(chat.decide(turn))
    assert (failure.reason, failure.facts["state"]) == ("STALE_INTERRUPT", "WITHDRAWN")
    after = await chat.retry(turn)
    second = await chat.waiting(turn)
    assert (first.version, second.version) == (1, 2)
    assert second.budget == first.budget
    assert kinds(await chat.page(turn))[after:] == ["run_state", "request_input"]
    late = await refusal(chat.decide(turn, expected_version=1))
    assert (late.reason, late.facts) == ("VERSION_CONFLICT", {"version": "2"})
    await chat.decide(turn, SYNTHESIZE, expected_version=2)
    page = await chat.finished(turn)
    assert page.state == pb.RUN_STATE_COMPLETED
    assert peers.search.calls["sleep"] == 1


async def test_a_run_cancelled_in_an_extension_goes_on_there_when_it_is_retried(
    chat: Chat, peers: ResearchPeers
) -> None:
    peers.search.gates["memory"] = asyncio.Event()
    turn = await chat.start(QUESTION)
    await chat.waiting(turn)
    await chat.decide(turn, EXTEND, guidance="Naps.")

    async def is_searching() -> bool:
        return peers.search.calls["memory"] == 1

    await eventually(is_searching, "the extension's search")
    await chat.cancel(turn)
    peers.search.gates["memory"].set()
    await chat.retry(turn)
    await chat.waiting(turn, "interrupt_ext_2")
    await chat.decide(turn, SYNTHESIZE, "interrupt_ext_2")
    page = await chat.finished(turn)
    assert_told_once(page)
    assert peers.search.calls["sleep"] == 1
    assert page.events[-1].answer.usage.calls == 2
    assert peers.synth.investigations[-1].guidance == "Naps."
