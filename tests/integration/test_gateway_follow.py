"""Following a run: recorded rows, then live ones, each once and in order."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise

import httpx
import pytest

from gateway.openapi import EVENT_DATA
from tests.fakes.gateway_stage import (
    Stage,
    frames,
    names,
    rest,
    stage_with_nats,
    until,
    upcoming,
)
from zocrates.events.v1 import event_pb2 as ev
from zocrates.orchestrator.v1 import chat_pb2 as chat

SEARCHING = {"stage": ev.StageEntered(stage=ev.STAGE_SEARCH)}
WRITING = {"stage": ev.StageEntered(stage=ev.STAGE_SYNTHESIZE)}
ANSWER = {"answer": ev.Answered(markdown="Because.", answered=True)}


@pytest.fixture(scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """One gateway for all tests here; each follows runs of its own."""
    async with stage_with_nats(tmp_path_factory.mktemp("nats"), silence_s=0.2) as lit:
        yield lit


async def test_a_finished_run_is_replayed_whole_and_ends_with_done(stage: Stage) -> None:
    run = stage.orchestrator.add()
    run.record(**SEARCHING)
    run.record(**ANSWER)
    async with stage.follow(run.path) as stream:
        seen = await rest(stream)
    assert names(seen) == ["run_started", "stage", "answer", "done"]
    assert [frame.position for frame in seen] == ["1", "2", "3", "3"]
    assert seen[-1].data["state"] == "COMPLETED"
    assert all(
        frame.data["session_id"] == run.session_id and frame.data["invocation_id"] == run.run_id
        for frame in seen
    )


async def test_live_rows_follow_recorded_ones(stage: Stage) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as stream:
        assert (await upcoming(stream)).name == "run_started"
        await stage.subscribed()
        await run.tell(stage.bus, **SEARCHING)
        assert (await upcoming(stream)).name == "stage"
        await run.tell(stage.bus, **ANSWER)
        assert names(await rest(stream)) == ["answer", "done"]


async def test_a_position_resumes_after_its_row_as_often_as_one_likes(stage: Stage) -> None:
    run = stage.orchestrator.add()
    run.record(**SEARCHING)
    run.record(**ANSWER)
    for _ in range(2):
        async with stage.follow(run.path, after="1") as stream:
            assert [frame.position for frame in await rest(stream)] == ["2", "3", "3"]
    assert await stage.metric("zocrates_gateway_streams_resumed_total") >= 2


async def test_a_position_past_the_end_replays_nothing(stage: Stage) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path, after="99") as stream:
        await stage.subscribed()
        await run.tell(stage.bus, **ANSWER)
        assert [frame.position for frame in await rest(stream)] == ["2", "2"]


@pytest.mark.parametrize("position", ["x", "-1", "1.1", "01", "1.1.1.1", "1,1", "9" * 30])
async def test_what_is_no_position_is_refused(stage: Stage, position: str) -> None:
    run = stage.orchestrator.add()
    reply = await stage.http.get(run.path, headers={"Last-Event-ID": position})
    assert (reply.status_code, reply.json()["code"]) == (400, "INVALID_POSITION")


async def test_rows_come_in_pages(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage.orchestrator, "page_size", 3)
    run = stage.orchestrator.add()
    for _ in range(9):
        run.record(**SEARCHING)
    run.record(**ANSWER)
    async with stage.follow(run.path) as stream:
        positions = [frame.position for frame in await rest(stream)]
    assert positions == [*(str(n) for n in range(1, 12)), "11"]


async def test_a_hole_is_filled_from_the_record(stage: Stage) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        await stage.subscribed()
        run.record(**SEARCHING)
        run.record(**SEARCHING)
        await run.tell(stage.bus, **ANSWER)
        assert [frame.position for frame in await rest(stream)] == ["2", "3", "4", "4"]


async def test_repeated_and_late_messages_are_dropped(stage: Stage) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        await stage.subscribed()
        for _ in range(3):
            await run.publish(stage.bus, run.events[0])
        await run.tell(stage.bus, **SEARCHING)
        await run.publish(stage.bus, run.events[1])
        await run.tell(stage.bus, **ANSWER)
        assert [frame.position for frame in await rest(stream)] == ["2", "3", "3"]


async def test_garbage_on_the_bus_changes_nothing(stage: Stage) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        await stage.subscribed()
        subject = f"{run.session_id}.{run.run_id}"
        for body in (b"\xff", b"[]", b'{"sequence": "x"}'):
            await stage.bus.publish(f"zocrates.events.{subject}.stage", body)
            await stage.bus.publish(f"zocrates.deltas.{subject}", body)
        await run.tell(stage.bus, **ANSWER)
        assert names(await rest(stream)) == ["answer", "done"]


async def test_a_kind_of_event_that_is_not_known_is_passed(stage: Stage) -> None:
    run = stage.orchestrator.add()
    run.record()
    run.record(**ANSWER)
    async with stage.follow(run.path) as stream:
        assert [frame.position for frame in await rest(stream)] == ["1", "3", "3"]


async def test_two_clients_share_a_subscription_and_see_the_same(stage: Stage) -> None:
    run = stage.orchestrator.add()
    before = stage.orchestrator.listings
    async with stage.follow(run.path) as one, stage.follow(run.path) as two:
        await upcoming(one)
        await upcoming(two)
        await until(lambda: stage.orchestrator.listings >= before + 4)
        await run.tell(stage.bus, **ANSWER)
        assert names(await rest(one)) == ["answer", "done"]
        assert names(await rest(two)) == ["answer", "done"]


async def test_a_client_that_goes_away_frees_all_that_its_stream_held_and_leaves_the_run(
    stage: Stage,
) -> None:
    run = stage.orchestrator.add()
    # Connections and channels that stay are made before tasks are counted.
    await stage.metric("zocrates_gateway_open_streams")
    before = len(asyncio.all_tasks())
    for _ in range(3):
        async with stage.follow(run.path) as stream:
            await upcoming(stream)
            await stage.subscribed()
            assert await stage.has_open_streams(1)
        await until(lambda: stage.has_open_streams(0))
    await until(lambda: len(asyncio.all_tasks()) <= before)
    assert run.state == chat.RUN_STATE_RUNNING


async def test_a_cancelled_run_ends_the_stream_by_its_state(stage: Stage) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        run.state = chat.RUN_STATE_CANCELLED
        [done] = await rest(stream)
    assert (done.name, done.data["state"]) == ("done", "CANCELLED")


async def test_a_run_that_was_deleted_ends_its_streams_for_good(stage: Stage) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        del stage.orchestrator.runs[run.run_id]
        [done] = await rest(stream)
    assert (done.name, done.position, done.data["state"]) == ("done", "1", "DELETED")
    gone = await stage.http.get(run.path)
    assert (gone.status_code, gone.json()["code"]) == (404, "UNKNOWN_RUN")


async def test_a_waiting_run_ends_the_reply_to_a_question_but_not_a_followed_stream(
    stage: Stage,
) -> None:
    async with stage.http.stream("POST", "/chat", json={"prompt": "Why?"}) as reply:
        stream = frames(reply)
        await upcoming(stream)
        run = list(stage.orchestrator.runs.values())[-1]
        run.state = chat.RUN_STATE_AWAITING_INPUT
        [done] = await rest(stream)
    assert done.data["state"] == "AWAITING_INPUT"
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        await stage.subscribed()
        await run.tell(stage.bus, **ANSWER)
        assert names(await rest(stream)) == ["answer", "done"]


async def test_many_clients_that_come_and_go_see_every_row_once(stage: Stage) -> None:
    run = stage.orchestrator.add()

    async def watch() -> list[int]:
        seen: list[int] = []
        while not seen or seen[-1] < 41:
            after = str(seen[-1]) if seen else None
            async with stage.follow(run.path, after=after) as stream:
                async for frame in stream:
                    if frame.name != "done":
                        seen.append(frame.data["sequence"])
                    if len(seen) % 7 == 0:
                        break
        return seen

    async def happen() -> None:
        for number in range(39):
            event = run.record(**SEARCHING)
            # Some messages get lost, some come twice.
            for _ in range(number % 3):
                await run.publish(stage.bus, event)
            await asyncio.sleep(0.005)
        await run.tell(stage.bus, **ANSWER)

    async with asyncio.timeout(60):
        *watched, _ = await asyncio.gather(*(watch() for _ in range(8)), happen())
    for seen in watched:
        assert all(later == earlier + 1 for earlier, later in pairwise(seen or [0]))


async def test_a_run_of_somebody_else_is_not_there(stage: Stage) -> None:
    run = stage.orchestrator.add(owner="bob")
    reply: httpx.Response = await stage.http.get(run.path)
    assert (reply.status_code, reply.json()["code"]) == (404, "UNKNOWN_RUN")


async def test_instead_of_rows_that_are_no_longer_kept_comes_the_run_as_its_session_shows_it(
    stage: Stage,
) -> None:
    run = stage.orchestrator.add()
    run.record(**SEARCHING)
    run.record(**ANSWER)
    run.forgotten = 3
    session = (await stage.http.get(f"/sessions/{run.session_id}")).json()
    for position in (None, "2", "2.1.5"):
        async with stage.follow(run.path, after=position) as stream:
            snapshot, done = await rest(stream)
        assert (snapshot.name, snapshot.position) == ("snapshot", "3")
        assert (done.position, done.data["state"]) == ("3", "COMPLETED")
        head = {name: snapshot.data.pop(name) for name in ("session_id", "sequence", "time")}
        assert (head["session_id"], head["sequence"]) == (run.session_id, 3)
        assert snapshot.data == session["messages"][0]
        EVENT_DATA["snapshot"].model_validate(snapshot.data)
    async with stage.follow(run.path, after="3") as stream:
        assert names(await rest(stream)) == ["done"]


async def test_rows_that_follow_a_snapshot_follow_it_live(stage: Stage) -> None:
    run = stage.orchestrator.add()
    run.record(error=ev.Failed(code="PEER_DOWN", message="Away.", retryable=True))
    run.forgotten = 2
    run.change("RETRIED", chat.RUN_STATE_RUNNING)
    run.record(**WRITING)
    async with stage.follow(run.path) as stream:
        assert (await upcoming(stream)).position == "4"
        await stage.subscribed()
        await run.write(stage.bus, "Bec", offset=0)
        assert (await upcoming(stream)).name == "answer_delta"
        await run.tell(stage.bus, **ANSWER)
        assert [frame.position for frame in await rest(stream)] == ["5", "5"]
