"""Deciding from the command line, against a real gateway on a socket."""

import asyncio
import os
import pty
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC
from typing import Any, TypeVar

import psutil
import pytest

from gateway.asking import Manner, NothingToDo, take_up
from gateway.client import Client, RunId
from gateway.connection import Refused
from gateway.deciding import Decision
from gateway.location import Location
from gateway.sse import ServerEvent
from tests.fakes.gateway_peers import AT, RecordedRun, question
from tests.fakes.gateway_stage import ADA, Stage, until
from tests.servers import NatsServer
from zocrates.events.v1 import event_pb2 as ev

ANSWER = {"answer": ev.Answered(markdown="Sleep helps.", answered=True)}
FAILURE = {"error": ev.Failed(code="PEER_TIMEOUT", message="Slow.", retryable=True)}
T = TypeVar("T")
COMMAND = [
    sys.executable,
    "-c",
    "from deploy.command import main; raise SystemExit(main())",
]


@pytest.fixture
async def stage(nats_server: NatsServer) -> AsyncIterator[Stage]:
    async with Stage(nats_server.url, silence_s=0.2).lit() as lit:
        yield lit


def at(stage: Stage) -> Location:
    return Location(base_url=str(stage.http.base_url), api_key=ADA)


def environment(stage: Stage) -> dict[str, str]:
    found = at(stage)
    told = {"ZOCRATES_URL": found.base_url, "ZOCRATES_API_KEY": found.api_key}
    return {**os.environ, **told, "TERM": "xterm-256color", "COLUMNS": "100"}


async def zocrates(stage: Stage, *words: str) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(
        subprocess.run,
        [*COMMAND, *words],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
        env=environment(stage),
        check=False,
    )


class AtTerminal:
    """A command with somebody at its terminal."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        self.process = process
        self._terminal = terminal
        self.screen = ""

    def type(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    async def sees(self, text: str) -> None:
        """Wait until the screen shows a text that it did not show before."""
        async with asyncio.timeout(60):
            while text not in self.screen:
                piece = await asyncio.to_thread(os.read, self._terminal, 4096)
                self.screen += piece.decode(errors="replace")
        self.screen = self.screen.split(text, 1)[1]

    async def is_asked(self) -> None:
        """Wait until the command asks for the decision and reads what is typed."""
        await self.sees("Your decision")
        # A signal between prompt and reading would be noticed with the next key only.
        command = psutil.Process(self.process.pid)
        await until(lambda: command.status() == psutil.STATUS_SLEEPING)

    async def ends(self) -> int:
        """The exit code."""
        return await asyncio.to_thread(self.process.wait, 60)

    async def leave(self) -> None:
        """End the command, if it has not ended, and close its terminal."""
        self.process.kill()
        await self.ends()
        os.close(self._terminal)


def started(stage: Stage, *words: str) -> AtTerminal:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *words],
        env=environment(stage),
        # A session of its own with this terminal, so that Ctrl-C reaches it.
        preexec_fn=lambda: os.login_tty(theirs),
        pass_fds=[theirs],
    )
    os.close(theirs)
    return AtTerminal(process, ours)


@asynccontextmanager
async def at_terminal(stage: Stage, *words: str) -> AsyncIterator[AtTerminal]:
    person = started(stage, *words)
    try:
        yield person
    finally:
        await person.leave()


async def the_run(stage: Stage) -> RecordedRun:
    await until(lambda: bool(stage.orchestrator.runs))
    return next(iter(stage.orchestrator.runs.values()))


async def decided(stage: Stage, count: int = 1) -> None:
    await until(lambda: len(stage.orchestrator.decisions) >= count)


def id_of(run: RecordedRun) -> RunId:
    return RunId(session_id=run.session_id, invocation_id=run.run_id)


def waiting(stage: Stage) -> RecordedRun:
    run = stage.orchestrator.add()
    run.record(request_input=question())
    return run


async def test_a_decision_streams_the_rest_of_the_run_and_has_its_own_key(stage: Stage) -> None:
    run = waiting(stage)
    async with Client(at(stage)) as client, asyncio.TaskGroup() as group:

        async def resumed() -> list[ServerEvent]:
            stream = client.resume(id_of(run), "interrupt_ext_1", action="synthesize")
            return [event async for event in stream]

        going = group.create_task(resumed())
        await decided(stage)
        await run.tell(stage.bus, **ANSWER)
    assert [event.name for event in going.result()] == ["checkpoint_answered", "answer", "done"]
    assert len(stage.orchestrator.decisions[0].idempotency_key) == 32


async def test_a_late_decision_says_who_was_faster(stage: Stage) -> None:
    run = waiting(stage)
    run.answer("synthesize")
    async with Client(at(stage)) as client:
        with pytest.raises(Refused) as refused:
            async for _ in client.resume(id_of(run), "interrupt_ext_1", action="extend_budget"):
                pass
    assert refused.value.code == "STALE_INTERRUPT"
    assert refused.value.detail["answered_by"] == "bob"


async def test_a_command_that_is_too_late_says_who_decided_also_when_the_run_is_over(
    stage: Stage,
) -> None:
    run = waiting(stage)
    run.answer("extend_budget", by="bob")
    run.record(request_input=question(2))
    run.answer("synthesize", by="bob")
    run.record(**ANSWER)

    def connected(work: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        async def with_client() -> T:
            async with Client(at(stage)) as client:
                return await work(client)

        return asyncio.run(with_client())

    decision = Decision(action="extend_budget")
    with pytest.raises(NothingToDo) as late:
        await asyncio.to_thread(take_up, connected, run.session_id, decision, Manner(as_json=True))
    when = AT.ToDatetime(tzinfo=UTC).astimezone()
    assert str(late.value) == (
        "The session waits for no decision: its last run is completed.\n"
        "The checkpoint was answered already: bob chose to synthesize at "
        f"{when:%H:%M:%S on %Y-%m-%d}."
        f"\nSee it with: zocrates sessions {run.session_id}"
    )


async def test_the_stream_of_a_deleted_session_ends(stage: Stage) -> None:
    run = waiting(stage)
    async with Client(at(stage)) as client:
        seen = []
        async for event in client.follow(id_of(run)):
            seen.append(event.name)
            if event.name == "request_input":
                await client.delete(run.session_id)
    assert seen == ["run_started", "request_input", "done"]


async def test_sessions_and_runs_are_changed(stage: Stage) -> None:
    run = waiting(stage)
    async with Client(at(stage)) as client:
        assert (await client.checkpoint(id_of(run))).snapshot.call_count == 10
        assert (await client.rename(run.session_id, "Sleep")).title == "Sleep"
        assert (await client.cancel(id_of(run))).state == "CANCELLED"
        assert (await client.rewind(id_of(run))).rewound == [run.run_id]
        await client.delete(run.session_id)
        with pytest.raises(Refused, match="no such session"):
            await client.session(run.session_id)


@pytest.mark.parametrize("options", [[], ["--json"]])
async def test_a_pipe_gets_the_question_and_the_command_to_decide(
    stage: Stage, options: list[str]
) -> None:
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(zocrates(stage, "ask", "Why?", *options))
        run = await the_run(stage)
        await run.tell(stage.bus, request_input=question())
    done = asking.result()
    assert done.returncode == 4
    assert f"zocrates resume {run.session_id} --extend" in done.stderr
    assert f"zocrates resume {run.session_id} --synthesize" in done.stderr
    assert ("Not covered yet" in done.stderr) == (not options)
    assert ('"event": "request_input"' in done.stdout) == bool(options)


async def test_a_command_decides_and_shows_the_rest(stage: Stage) -> None:
    run = waiting(stage)
    async with asyncio.TaskGroup() as group:
        words = ["resume", run.session_id, "--extend", "--guidance", "Table 3"]
        going = group.create_task(zocrates(stage, *words))
        await decided(stage)
        await run.tell(stage.bus, **ANSWER)
    done = going.result()
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "Sleep helps.")
    assert "Extension granted by ada: Table 3" in done.stderr
    assert stage.orchestrator.decisions[0].expected_version == 1
    late = await zocrates(stage, "resume", run.session_id, "--extend")
    assert late.returncode == 1
    assert "waits for no decision" in late.stderr


@pytest.mark.parametrize(
    "words",
    [["--extend", "--synthesize"], ["--guidance", "x"], ["--synthesize", "--guidance", "x"]],
)
async def test_a_decision_that_contradicts_itself_is_wrong_usage(
    stage: Stage, words: list[str]
) -> None:
    assert (await zocrates(stage, "resume", "a" * 32, *words)).returncode == 2


async def test_a_question_to_a_waiting_session_is_told_the_commands(stage: Stage) -> None:
    run = waiting(stage)
    refused = await zocrates(stage, "ask", "More?", "--session", run.session_id)
    assert refused.returncode == 1
    assert f"zocrates resume {run.session_id}" in refused.stderr
    assert f"zocrates rewind {run.session_id}" in refused.stderr
    shown = await zocrates(stage, "sessions", run.session_id)
    assert "Deep Research: Extension 1 of 2" in shown.stdout
    assert f"zocrates resume {run.session_id}" in shown.stdout


async def test_a_failed_run_is_retried_and_a_run_cancelled_and_taken_back(stage: Stage) -> None:
    run = stage.orchestrator.add()
    run.record(**FAILURE)
    async with asyncio.TaskGroup() as group:
        going = group.create_task(zocrates(stage, "retry", run.session_id))
        await until(lambda: len(run.events) == 3)
        await run.tell(stage.bus, **ANSWER)
    assert going.result().stdout.splitlines()[0] == "Sleep helps."
    other = stage.orchestrator.add()
    cancelled = await zocrates(stage, "cancel", other.session_id)
    assert (cancelled.returncode, cancelled.stdout) == (0, "The run is cancelled.\n")
    rewound = await zocrates(stage, "rewind", other.session_id)
    assert (rewound.returncode, rewound.stdout) == (0, "1 question taken back.\n")
    again = await zocrates(stage, "rewind", other.session_id)
    assert (again.returncode, "has no question" in again.stderr) == (1, True)


async def test_a_person_decides_twice_at_the_terminal(stage: Stage) -> None:
    async with at_terminal(stage, "ask", "Why?") as person:
        run = await the_run(stage)
        await run.tell(stage.bus, request_input=question(1))
        await person.sees("Extension 1 of 2")
        await person.sees("Your decision")
        person.type("e\n")
        await person.sees("Guidance")
        person.type("Table 3\n")
        await decided(stage)
        await run.tell(stage.bus, request_input=question(2))
        await person.sees("Extension 2 of 2")
        await person.sees("Your decision")
        person.type("s\n")
        await decided(stage, 2)
        await run.tell(stage.bus, **ANSWER)
        await person.sees("Sleep helps.")
        await person.sees("--session")
        assert await person.ends() == 0
    first, second = stage.orchestrator.decisions
    assert (first.interrupt_id, first.guidance) == ("interrupt_ext_1", "Table 3")
    assert second.action == ev.DECISION_ACTION_SYNTHESIZE
    assert first.idempotency_key != second.idempotency_key


async def test_a_person_who_is_too_late_sees_who_decided_and_the_rest(stage: Stage) -> None:
    run = waiting(stage)
    async with at_terminal(stage, "resume", run.session_id) as person:
        await person.sees("Your decision")
        run.answer("synthesize", by="bob")
        person.type("s\n")
        await person.sees("bob chose to synthesize")
        await run.tell(stage.bus, **ANSWER)
        await person.sees("Sleep helps.")
        assert await person.ends() == 0


@pytest.mark.parametrize(("keys", "code"), [("l\n", 4), ("\x04", 4), ("\x03", 130)])
async def test_a_decision_can_wait(stage: Stage, keys: str, code: int) -> None:
    run = waiting(stage)
    async with at_terminal(stage, "resume", run.session_id) as person:
        await person.is_asked()
        person.type(keys)
        await person.sees(f"zocrates resume {run.session_id} --extend")
        assert await person.ends() == code
    assert not stage.orchestrator.decisions


async def test_an_interrupted_watcher_is_told_how_to_follow_and_cancel(stage: Stage) -> None:
    async with at_terminal(stage, "ask", "Why?") as person:
        run = await the_run(stage)
        await stage.subscribed()
        await run.tell(stage.bus, stage=ev.StageEntered(stage=ev.STAGE_SEARCH))
        await person.sees("Searching")
        person.type("\x03")
        await person.sees(f"zocrates resume {run.session_id}")
        await person.sees(f"zocrates cancel {run.session_id}")
        assert await person.ends() == 130
