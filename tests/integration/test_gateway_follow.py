"""Following a run: recorded rows, live rows and text, whatever goes away in between."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise

import httpx
import pytest

from services.chassis.bus import Stream
from tests.fakes.gateway_peers import RecordedRun
from tests.fakes.gateway_stage import PATIENCE_S, Frame, Stage, frames, until
from tests.servers import NatsServer
from zocrates.events.v1 import event_pb2 as ev
from zocrates.orchestrator.v1 import chat_pb2 as chat

SEARCHING = {"stage": ev.StageEntered(stage=ev.STAGE_SEARCH)}
WRITING = {"stage": ev.StageEntered(stage=ev.STAGE_SYNTHESIZE)}
ANSWER = {"answer": ev.Answered(markdown="Because.", answered=True)}

DELTAS = Stream(
    name="ZOCRATES_DELTAS",
    subjects=("zocrates.deltas.>",),
    in_memory=True,
    max_age_s=900,
    max_bytes=1_000_000,
)


@pytest.fixture
async def stage(nats_server: NatsServer) -> AsyncIterator[Stage]:
    async with Stage(nats_server.url).lit() as lit:
        await lit.bus.ensure(DELTAS)
        yield lit


async def upcoming(stream: AsyncIterator[Frame]) -> Frame:
    return await asyncio.wait_for(anext(stream), PATIENCE_S)


async def rest(stream: AsyncIterator[Frame]) -> list[Frame]:
    async with asyncio.timeout(PATIENCE_S):
        return [frame async for frame in stream]


def names(seen: list[Frame]) -> list[str]:
    return [frame.name for frame in seen]


async def has_open_streams(stage: Stage, count: int) -> bool:
    return await stage.metric("zocrates_gateway_open_streams") == count


async def subscribed(stage: Stage) -> None:
    """Wait until the latest stream read the record twice: the second time it is subscribed."""
    await until(lambda: stage.orchestrator.listings >= stage.listings_before + 2)


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
        await subscribed(stage)
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
    assert await stage.metric("zocrates_gateway_streams_resumed_total") == 2


async def test_a_position_past_the_end_replays_nothing(stage: Stage) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path, after="99") as stream:
        await subscribed(stage)
        await run.tell(stage.bus, **ANSWER)
        assert [frame.position for frame in await rest(stream)] == ["2", "2"]


@pytest.mark.parametrize("position", ["x", "-1", "1.1", "01", "1.1.1.1", "1,1", "9" * 30])
async def test_what_is_no_position_is_refused(stage: Stage, position: str) -> None:
    run = stage.orchestrator.add()
    reply = await stage.http.get(run.path, headers={"Last-Event-ID": position})
    assert (reply.status_code, reply.json()["code"]) == (400, "INVALID_POSITION")


async def test_rows_come_in_pages(stage: Stage) -> None:
    stage.orchestrator.page_size = 3
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
        await subscribed(stage)
        run.record(**SEARCHING)
        run.record(**SEARCHING)
        await run.tell(stage.bus, **ANSWER)
        assert [frame.position for frame in await rest(stream)] == ["2", "3", "4", "4"]


async def test_repeated_and_late_messages_are_dropped(stage: Stage) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        await subscribed(stage)
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
        await subscribed(stage)
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


async def test_rows_arrive_without_nats(stage: Stage, nats_server: NatsServer) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        await subscribed(stage)
        nats_server.kill()
        run.record(**SEARCHING)
        assert (await upcoming(stream)).position == "2"
        run.record(**ANSWER)
        assert names(await rest(stream)) == ["answer", "done"]
    assert await stage.metric("zocrates_gateway_bus_losses_total") >= 1


async def test_live_messages_come_again_after_nats_was_away(
    stage: Stage, nats_server: NatsServer
) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        await subscribed(stage)
        nats_server.kill()
        await until(lambda: not stage.bus.is_connected)
        nats_server.start()
        await until(lambda: stage.bus.is_connected)
        await until(stage.is_live)
        await run.tell(stage.bus, **WRITING)
        assert (await upcoming(stream)).position == "2"
        await run.write(stage.bus, "Bec", offset=0)
        assert (await upcoming(stream)).name == "answer_delta"


async def test_a_gateway_that_started_without_nats_gets_live_messages_later(
    nats_server: NatsServer,
) -> None:
    nats_server.kill()
    async with Stage(nats_server.url, needs_nats=False).lit() as stage:
        run = stage.orchestrator.add()
        async with stage.follow(run.path) as stream:
            await upcoming(stream)
            nats_server.start()
            await until(lambda: stage.bus.is_connected)
            run.record(**WRITING)
            assert (await upcoming(stream)).position == "2"

            async def write_until_seen() -> Frame:
                coming = asyncio.ensure_future(anext(stream))
                while not coming.done():
                    await run.write(stage.bus, "Bec", offset=0)
                    await asyncio.wait({coming}, timeout=0.1)
                return coming.result()

            seen = await asyncio.wait_for(write_until_seen(), PATIENCE_S)
            assert seen.data["text"] == "Bec"


async def test_a_stream_outlives_an_orchestrator_that_restarts(stage: Stage) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        await subscribed(stage)
        await stage.stop_orchestrator()
        # A hole makes the stream ask the orchestrator, which is not there.
        run.record(**SEARCHING)
        await run.tell(stage.bus, **ANSWER)
        await stage.start_orchestrator()
        assert [frame.position for frame in await rest(stream)] == ["2", "3", "3"]


async def test_patience_ends_with_an_error_that_moves_no_position(
    nats_server: NatsServer,
) -> None:
    async with Stage(nats_server.url, peer_patience_s=0.1).lit() as stage:
        run = stage.orchestrator.add()
        async with stage.follow(run.path) as stream:
            await upcoming(stream)
            await subscribed(stage)
            await stage.stop_orchestrator()
            [error] = await rest(stream)
        assert (error.name, error.position, error.data["code"]) == ("error", None, "PEER_DOWN")
        assert error.data["retryable"] is True


async def test_a_slow_client_loses_its_inbox_but_no_row(nats_server: NatsServer) -> None:
    async with Stage(nats_server.url, inbox_messages=4).lit() as stage:
        run = stage.orchestrator.add()
        bulk = ev.Thought(agent="search", text="x" * 400_000)
        async with stage.follow(run.path) as stream:
            await upcoming(stream)
            await subscribed(stage)
            # Nothing is read until the sockets between gateway and client are full.
            while not await stage.metric("zocrates_gateway_inbox_overflows_total"):
                for _ in range(4):
                    await run.tell(stage.bus, thought=bulk)
            await run.tell(stage.bus, **ANSWER)
            positions = [int(frame.position or 0) for frame in await rest(stream)]
        assert positions == [*range(2, len(run.events) + 1), len(run.events)]


async def test_two_clients_share_a_subscription_and_see_the_same(stage: Stage) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as one, stage.follow(run.path) as two:
        await upcoming(one)
        await upcoming(two)
        await until(lambda: stage.orchestrator.listings == 4)
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
            await subscribed(stage)
            assert await has_open_streams(stage, 1)
        await until(lambda: has_open_streams(stage, 0))
    await until(lambda: len(asyncio.all_tasks()) <= before)
    assert run.state == chat.RUN_STATE_RUNNING


async def test_a_stopping_gateway_ends_its_streams_at_once(stage: Stage) -> None:
    run = stage.orchestrator.add()
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        stage.stop.set()
        assert await rest(stream) == []


async def test_a_silent_stream_carries_pings(nats_server: NatsServer) -> None:
    async with Stage(nats_server.url, ping_s=0.05).lit() as stage:
        run = stage.orchestrator.add()
        async with stage.http.stream("GET", run.path) as reply:
            raw = reply.aiter_raw()
            seen = b""
            while b": ping\n\n" not in seen:
                seen += await asyncio.wait_for(anext(raw), PATIENCE_S)


async def test_a_cancelled_run_ends_the_stream_by_its_state(nats_server: NatsServer) -> None:
    async with Stage(nats_server.url, silence_s=0.1).lit() as stage:
        run = stage.orchestrator.add()
        async with stage.follow(run.path) as stream:
            await upcoming(stream)
            run.state = chat.RUN_STATE_CANCELLED
            [done] = await rest(stream)
        assert (done.name, done.data["state"]) == ("done", "CANCELLED")


async def test_a_waiting_run_ends_the_reply_to_a_question_but_not_a_followed_stream(
    nats_server: NatsServer,
) -> None:
    async with Stage(nats_server.url, silence_s=0.1).lit() as stage:
        async with stage.http.stream("POST", "/chat", json={"prompt": "Why?"}) as reply:
            stream = frames(reply)
            await upcoming(stream)
            run = next(iter(stage.orchestrator.runs.values()))
            run.state = chat.RUN_STATE_AWAITING_INPUT
            [done] = await rest(stream)
        assert done.data["state"] == "AWAITING_INPUT"
        async with stage.follow(run.path) as stream:
            await upcoming(stream)
            await subscribed(stage)
            await run.tell(stage.bus, **ANSWER)
            assert names(await rest(stream)) == ["answer", "done"]


async def writing_run(stage: Stage) -> RecordedRun:
    run = stage.orchestrator.add()
    run.record(**WRITING)
    return run


async def test_text_is_streamed_with_positions_of_its_own(stage: Stage) -> None:
    run = await writing_run(stage)
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        await upcoming(stream)
        await subscribed(stage)
        await run.write(stage.bus, "Be\u2028", offset=0)
        await run.write(stage.bus, "cause", offset=3)
        first, second = await upcoming(stream), await upcoming(stream)
        assert (first.position, second.position) == ("2.1.0", "2.1.3")
        assert (first.data["text"], second.data["sequence"]) == ("Be\u2028", 2)


async def test_repeated_pieces_are_dropped_and_a_gap_stops_the_text_until_the_answer(
    stage: Stage,
) -> None:
    run = await writing_run(stage)
    async with stage.follow(run.path, after="2") as stream:
        await subscribed(stage)
        await run.write(stage.bus, "abc", offset=0)
        assert (await upcoming(stream)).data["text"] == "abc"
        await run.write(stage.bus, "abc", offset=0)
        await run.write(stage.bus, "bcd", offset=1)
        assert (await upcoming(stream)).data["text"] == "d"
        await run.write(stage.bus, "gap", offset=9)
        await run.write(stage.bus, "after", offset=4)
        await run.tell(stage.bus, **ANSWER)
        assert names(await rest(stream)) == ["answer", "done"]


async def test_a_new_attempt_starts_with_its_reset_even_when_its_text_is_faster(
    stage: Stage,
) -> None:
    run = await writing_run(stage)
    async with stage.follow(run.path, after="2") as stream:
        await subscribed(stage)
        await run.write(stage.bus, "old", offset=0)
        assert (await upcoming(stream)).data["text"] == "old"
        run.record(answer_reset=ev.AnswerReset(attempt=2))
        await run.write(stage.bus, "new", offset=0, attempt=2)
        await run.write(stage.bus, "older", offset=3, attempt=1)
        reset, text = await upcoming(stream), await upcoming(stream)
        assert (reset.name, reset.position) == ("answer_reset", "3")
        assert (text.data["text"], text.position) == ("new", "3.2.0")


async def test_a_position_in_the_text_resumes_with_a_reset_and_the_text_so_far(
    stage: Stage,
) -> None:
    run = await writing_run(stage)
    await run.write(stage.bus, "Bec", offset=0)
    await run.write(stage.bus, "ause", offset=3)
    await until_retained(stage, run, 2)
    async with stage.follow(run.path, after="2.1.0") as stream:
        reset, text = await upcoming(stream), await upcoming(stream)
        assert (reset.name, reset.data["attempt"], reset.position) == ("answer_reset", 1, "2.1.0")
        assert (text.data["text"], text.data["offset"]) == ("Because", 0)
        await run.write(stage.bus, "!", offset=7)
        assert (await upcoming(stream)).position == "2.1.7"


async def test_who_comes_while_the_answer_is_written_gets_the_text_so_far(stage: Stage) -> None:
    run = await writing_run(stage)
    await run.write(stage.bus, "Bec", offset=0)
    await until_retained(stage, run, 1)
    async with stage.follow(run.path) as stream:
        seen = [await upcoming(stream) for _ in range(3)]
    assert names(seen) == ["run_started", "stage", "answer_delta"]


async def until_retained(stage: Stage, run: RecordedRun, count: int) -> None:
    subject = f"zocrates.deltas.{run.session_id}.{run.run_id}"

    async def is_retained() -> bool:
        return len(await stage.bus.retained(subject)) >= count

    await until(is_retained)


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
