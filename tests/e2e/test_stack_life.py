"""How the local stack starts, stops, and comes back after being killed."""

import asyncio
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import httpx
import psutil
import pytest

from deploy.ports import USUAL_PORTS
from deploy.running import StackFailed, command, wait_until
from deploy.running import stack as running_stack
from gateway.client import Client
from gateway.location import Location
from gateway.sse import ServerEvent
from tests.e2e.conftest import Stack, reachable_folder

GREETING = "Hello!"
PROCESSES = {"search", "rerank", "synth", "orchestrator", "gateway", "postgres", "nats", "stack"}

pytestmark = pytest.mark.timeout(300)


def client(stack: Stack) -> httpx.Client:
    headers = {"X-API-Key": stack.api_key}
    return httpx.Client(base_url=stack.base_url, headers=headers, timeout=30, trust_env=False)


def greet(stack: Stack) -> str:
    """A turn that needs no search, asked with a client's patience; returns its session."""

    async def ask() -> list[ServerEvent]:
        async with Client(Location(base_url=stack.base_url, api_key=stack.api_key)) as client:
            return [event async for event in client.ask(GREETING)]

    events = asyncio.run(ask())
    assert events[-1].data["state"] == "COMPLETED"
    return str(events[0].data["session_id"])


def sessions(stack: Stack) -> list[str]:
    with client(stack) as http:
        return [one["id"] for one in http.get("/sessions").json()["sessions"]]


def alive(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Those that still run; one that ended and was not yet asked about does not."""
    living = []
    for process in processes:
        try:
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                living.append(process)
        except psutil.NoSuchProcess:
            continue
    return living


def is_ready(stack: Stack) -> bool:
    try:
        with client(stack) as http:
            return http.get("/readiness").status_code == 200
    except httpx.TransportError:
        return False


class Lives:
    """Stacks on one data folder, one after the other; a test may leave its own to the next."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self._open = ExitStack()
        self._running: Stack | None = None

    def running(self) -> Stack:
        """The stack that runs, or one that is started."""
        if self._running is None or self._running.supervisor.poll() is not None:
            return self.start()
        wait_until(partial(is_ready, self._running), 30, self._running.said)
        return self._running

    def start(self, *, any_ports: bool = True) -> Stack:
        """Start a stack; the former one ends before, unless it has."""
        self.end()
        started = running_stack(data=self.data, quiet=False, any_ports=any_ports)
        self._running = self._open.enter_context(started)
        return self._running

    def end(self) -> None:
        """End the stack that runs."""
        self._open.close()


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    for data in reachable_folder():
        made = Lives(data)
        yield made
        made.end()


def test_ctrl_c_stops_everything_and_the_next_start_finds_the_data(lives: Lives) -> None:
    first = lives.running()
    assert set(first.pids) == PROCESSES
    everything, session, key = first.everything(), greet(first), first.api_key
    assert first.stop() == 0
    assert alive(everything) == []
    assert not (lives.data / "run.json").exists()
    second = lives.start()
    assert session in sessions(second)
    assert second.api_key == key


def test_a_start_after_everything_was_killed_works_and_leaves_no_orphan(lives: Lives) -> None:
    first = lives.running()
    everything, session = first.everything(), greet(first)
    for process in everything:
        # The first deaths may take others with them.
        with suppress(psutil.NoSuchProcess):
            process.kill()
    first.supervisor.wait(10)
    second = lives.start()
    assert alive(everything) == []
    assert session in sessions(second)


def test_a_start_after_the_supervisor_alone_was_killed_works_and_leaves_no_orphan(
    lives: Lives,
) -> None:
    first = lives.running()
    everything, session = first.everything(), greet(first)
    first.supervisor.kill()
    first.supervisor.wait(10)
    second = lives.start()
    assert alive(everything) == []
    assert session in sessions(second)


def test_a_taken_port_is_replaced_and_told(lives: Lives) -> None:
    lives.end()
    taken = USUAL_PORTS["gateway"]
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            holder.bind(("127.0.0.1", taken))
            holder.listen()
        except OSError:
            # Another program of this machine holds it already, which is the same to the stack.
            holder.close()
        stack = lives.start(any_ports=False)
        used = stack.ports["gateway"]
        assert used != taken
        assert f"Port {taken} is taken; gateway uses {used} instead" in stack.said()
        wait_until(lambda: is_ready(stack), 30, stack.said)


def test_a_second_stack_on_the_same_data_is_refused_in_one_sentence(lives: Lives) -> None:
    stack = lives.running()
    started = command(data=stack.data, library=None, quiet=False, any_ports=True)
    second = subprocess.run(
        started, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30, check=False
    )
    assert second.returncode == 1
    assert second.stdout == ""
    assert len(second.stderr.splitlines()) == 1
    assert f"Zocrates already runs on {str(stack.data)!r} at {stack.base_url}" in second.stderr
    assert is_ready(stack)


@pytest.mark.parametrize("name", sorted(PROCESSES - {"stack"}))
def test_a_process_that_dies_is_started_again(lives: Lives, name: str) -> None:
    stack = lives.running()
    former = stack.kill(name)
    assert stack.restarted(name, former) != former
    wait_until(lambda: is_ready(stack), 30, stack.said)
    greet(stack)


def test_five_deaths_in_a_minute_end_everything_and_name_the_log(lives: Lives) -> None:
    # A new one: another test may have killed this process within the minute.
    stack = lives.start()
    everything, log = stack.everything(), str(lives.data / "logs" / "rerank.log")
    for _ in range(4):
        former = stack.kill("rerank")
        stack.restarted("rerank", former)
    stack.kill("rerank")
    assert stack.supervisor.wait(60) == 1
    last = stack.said().splitlines()[-1]
    assert last == (
        f"zocrates: rerank stopped 5 times within a minute (killed by signal 9); read {log}"
    )
    assert alive(everything) == []


@pytest.mark.parametrize("ask_to_stop", [signal.SIGINT, signal.SIGTERM])
def test_a_start_can_be_interrupted(own_data: Path, ask_to_stop: signal.Signals) -> None:
    started = command(data=own_data, library=None, quiet=False, any_ports=True)
    with subprocess.Popen(
        started, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as supervisor:
        wait_until(lambda: (own_data / "run.json").exists(), 30)
        children = psutil.Process(supervisor.pid).children(recursive=True)
        supervisor.send_signal(ask_to_stop)
        said, _ = supervisor.communicate(timeout=60)
        assert supervisor.returncode == 0, said
    assert said.splitlines()[-1] == "Everything has stopped."
    assert alive(children) == []


def test_the_stack_ends_with_the_program_that_uses_it(lives: Lives) -> None:
    stack = lives.running()
    everything = stack.everything()
    assert stack.supervisor.stdin is not None
    stack.supervisor.stdin.close()
    assert stack.supervisor.wait(60) == 0
    assert alive(everything) == []


def test_a_missing_library_is_one_sentence_at_once(own_data: Path) -> None:
    started = time.monotonic()
    with (
        pytest.raises(StackFailed, match=r"^zocrates: There is no zotero.sqlite in '/nowhere'; "),
        running_stack(data=own_data, library=Path("/nowhere")),
    ):
        raise AssertionError("It must not start")
    assert time.monotonic() - started < 10
