"""The client and the command line against a real gateway on a socket."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest

from gateway.client import Client, RunId
from gateway.connection import NothingThere, Refused, WrongKey
from gateway.location import Location
from gateway.sse import ServerEvent
from gateway.watching import WatchedRun, after
from tests.fakes.gateway_peers import RecordedRun, refusal
from tests.fakes.gateway_stage import ADA, Stage, until
from tests.servers import NatsServer, free_port
from zocrates.events.v1 import event_pb2
from zocrates.search.v1 import search_pb2

ANSWER = event_pb2.Answered(markdown="Sleep helps.", answered=True)


@pytest.fixture
async def stage(nats_server: NatsServer) -> AsyncIterator[Stage]:
    async with Stage(nats_server.url).lit() as lit:
        yield lit


def at(stage: Stage, key: str = ADA) -> Location:
    return Location(base_url=str(stage.http.base_url), api_key=key)


@asynccontextmanager
async def connected(stage: Stage, **more: Any) -> AsyncIterator[Client]:
    async with Client(at(stage), **more) as client:
        yield client


async def the_run(stage: Stage) -> RecordedRun:
    await until(lambda: bool(stage.orchestrator.runs))
    return next(iter(stage.orchestrator.runs.values()))


async def collected(client: Client, prompt: str = "Why?") -> list[ServerEvent]:
    return [event async for event in client.ask(prompt)]


async def test_a_question_is_told_to_its_end(stage: Stage) -> None:
    async with connected(stage) as client, asyncio.TaskGroup() as group:
        asking = group.create_task(collected(client))
        run = await the_run(stage)
        await run.tell(stage.bus, answer=ANSWER)
    assert [event.name for event in asking.result()] == ["run_started", "answer", "done"]
    assert asking.result()[1].data["markdown"] == "Sleep helps."


async def test_an_orchestrator_that_goes_away_loses_and_repeats_nothing(stage: Stage) -> None:
    async with connected(stage) as client, asyncio.TaskGroup() as group:
        asking = group.create_task(collected(client))
        run = await the_run(stage)
        await stage.subscribed()
        await stage.stop_orchestrator()
        run.record(stage=event_pb2.StageEntered(stage=event_pb2.STAGE_SEARCH))
        await stage.start_orchestrator()
        await run.tell(stage.bus, answer=ANSWER)
    names = [event.name for event in asking.result()]
    assert names == ["run_started", "stage", "answer", "done"]
    assert len(stage.orchestrator.turns) == 1


async def test_a_client_that_comes_back_too_late_for_the_events_gets_the_run_at_once(
    stage: Stage,
) -> None:
    run = stage.orchestrator.add()
    run.record(answer=ANSWER)
    run.forgotten = 2
    known = RunId(session_id=run.session_id, invocation_id=run.run_id)
    watched = WatchedRun()
    async with connected(stage) as client:
        async for event in client.follow(known, last_id="1"):
            watched = after(watched, event)
    assert (watched.state, watched.last_id) == ("COMPLETED", "2")
    assert watched.answer is not None
    assert watched.answer.markdown == "Sleep helps."


async def test_reading_waits_for_a_process_that_is_started_again(stage: Stage) -> None:
    run = stage.orchestrator.add()
    await stage.stop_orchestrator()
    async with connected(stage) as client:
        reading = asyncio.create_task(client.session(run.session_id))
        await asyncio.wait([reading], timeout=0.2)
        await stage.start_orchestrator()
        assert (await reading).id == run.session_id


async def test_nothing_at_the_address_is_one_sentence_at_once() -> None:
    nowhere = Location(base_url=f"http://127.0.0.1:{free_port()}", api_key="key")
    async with Client(nowhere) as client:
        with pytest.raises(NothingThere, match="start Zocrates with: zocrates up"):
            await collected(client)


async def test_a_wrong_key_is_one_sentence_that_says_where_the_right_one_is(stage: Stage) -> None:
    async with Client(at(stage, "not-a-key-0123456789")) as client:
        with pytest.raises(WrongKey, match="zocrates env"):
            await client.library()


async def test_a_refusal_carries_its_code(stage: Stage) -> None:
    stage.orchestrator.refuses = refusal(
        grpc.StatusCode.FAILED_PRECONDITION, "RUN_ACTIVE", "A run is active."
    )
    async with connected(stage) as client:
        with pytest.raises(Refused, match="A run is active") as refused:
            await collected(client)
    assert (refused.value.code, refused.value.status) == ("RUN_ACTIVE", 409)


async def test_a_process_that_stays_away_ends_the_patience(stage: Stage) -> None:
    await stage.stop_orchestrator()
    async with connected(stage, patience_s=0.5) as client:
        with pytest.raises(Refused) as refused:
            await collected(client)
    assert refused.value.status == 503


async def zocrates(stage: Stage, *words: str) -> subprocess.CompletedProcess[str]:
    location = at(stage)
    variables = {"ZOCRATES_URL": location.base_url, "ZOCRATES_API_KEY": location.api_key}
    return await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", "from deploy.command import main; raise SystemExit(main())", *words],
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, **variables},
        check=False,
    )


async def test_the_command_asks_and_prints_plainly_into_a_pipe(stage: Stage) -> None:
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(zocrates(stage, "ask", "Why?"))
        await (await the_run(stage)).tell(stage.bus, answer=ANSWER)
    done = asking.result()
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "Sleep helps.")
    assert "\x1b" not in done.stdout + done.stderr


async def test_a_failed_run_has_its_own_exit_code(stage: Stage) -> None:
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(zocrates(stage, "ask", "Why?"))
        failure = event_pb2.Failed(code="PEER_TIMEOUT", message="synth was too slow.")
        await (await the_run(stage)).tell(stage.bus, error=failure)
    done = asking.result()
    assert done.returncode == 3
    assert "zocrates: the run failed: synth was too slow." in done.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [(["library"], 0), (["sessions"], 0), (["link"], 0), (["env"], 0), (["ask"], 2)],
)
async def test_every_command_ends_with_its_code(stage: Stage, words: list[str], code: int) -> None:
    done = await zocrates(stage, *words)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("phases", "code", "said"),
    [
        (["SYNC_PHASE_TEXT", "SYNC_PHASE_DONE"], 0, "The index is up to date."),
        (["SYNC_PHASE_TEXT", "SYNC_PHASE_FAILED"], 1, "zocrates: the disk is full"),
        (["SYNC_PHASE_TEXT"], 1, "zocrates: The sync did not end; run it again."),
    ],
)
async def test_a_sync_ends_with_what_became_of_it(
    stage: Stage, phases: list[str], code: int, said: str
) -> None:
    stage.library.progress = [
        search_pb2.SyncProgress(phase=phase, done=7, total=7, error="the disk is full")
        for phase in phases
    ]
    done = await zocrates(stage, "sync")
    assert (done.returncode, (done.stdout + done.stderr).strip()) == (code, said)


async def test_the_printed_variables_are_taken_by_a_shell(stage: Stage) -> None:
    printed = (await zocrates(stage, "env")).stdout
    shell = await asyncio.to_thread(
        subprocess.run,
        ["sh", "-c", f'{printed}\nprintf \'%s %s\' "$ZOCRATES_URL" "$ZOCRATES_API_KEY"'],
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    assert shell.stdout == f"{at(stage).base_url} {ADA}"
