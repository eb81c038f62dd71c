"""The answer while it is written: pieces in order, gaps, attempts, coming back in the middle."""

from collections.abc import AsyncIterator

import pytest

from services.chassis.bus import Stream
from tests.fakes.gateway_peers import RecordedRun
from tests.fakes.gateway_stage import Frame, Stage, names, rest, stage_with_nats, until, upcoming
from zocrates.events.v1 import event_pb2 as ev

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


@pytest.fixture(scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """One gateway for all tests here; each follows runs of its own."""
    async with stage_with_nats(tmp_path_factory.mktemp("nats")) as lit:
        await lit.bus.ensure(DELTAS)
        yield lit


async def writing_run(stage: Stage) -> RecordedRun:
    run = stage.orchestrator.add()
    run.record(**WRITING)
    return run


async def test_text_is_streamed_with_positions_of_its_own(stage: Stage) -> None:
    run = await writing_run(stage)
    async with stage.follow(run.path) as stream:
        await upcoming(stream)
        await upcoming(stream)
        await stage.subscribed()
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
        await stage.subscribed()
        await run.write(stage.bus, "abc", offset=0)
        assert (await first_text(stream)).data["text"] == "abc"
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
        await stage.subscribed()
        await run.write(stage.bus, "old", offset=0)
        assert (await first_text(stream)).data["text"] == "old"
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


async def first_text(stream: AsyncIterator[Frame]) -> Frame:
    """The first piece: live, or with a reset before it from what was retained meanwhile."""
    frame = await upcoming(stream)
    return await upcoming(stream) if frame.name == "answer_reset" else frame


async def until_retained(stage: Stage, run: RecordedRun, count: int) -> None:
    subject = f"zocrates.deltas.{run.session_id}.{run.run_id}"

    async def is_retained() -> bool:
        return len(await stage.bus.retained(subject)) >= count

    await until(is_retained)
