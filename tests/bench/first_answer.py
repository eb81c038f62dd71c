"""Start-up, first answer and memory of the whole stack: `make bench-first-answer`."""

import json
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from deploy.demo.location import QUESTIONS
from deploy.running import RunningStack, stack, wait_until
from tests.bench.machine import machine, spread

IDLE_S = 5.0
MIB = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When the first of each kind of event came, in seconds after the request was sent."""

    event: float
    tool_result: float
    answer: float


def ask(running: RunningStack, prompt: str) -> Timing:
    """Ask one question and take the times."""
    first: dict[str, float] = {}
    headers = {"X-API-Key": running.api_key}
    with httpx.Client(base_url=running.base_url, headers=headers, timeout=60) as client:
        client.get("/library")  # the connection stands before the clock starts
        begun = time.perf_counter()
        # Nobody sits at a measurement to answer a checkpoint.
        body = {"prompt": prompt, "options": {"hitl_enabled": False}}
        with client.stream("POST", "/chat", json=body) as response:
            for line in response.iter_lines():
                if line.startswith("event: "):
                    first.setdefault(line.removeprefix("event: "), time.perf_counter() - begun)
    return Timing(
        event=min(first.values()), tool_result=first["tool_result"], answer=first["answer"]
    )


def vectors_are_done(running: RunningStack) -> bool:
    """Whether every passage of the library has its vector."""
    reply = httpx.get(
        f"{running.base_url}/library", headers={"X-API-Key": running.api_key}, timeout=20
    )
    assert reply.status_code == 200, reply.text
    vectors = reply.json()["vectors"]
    return bool(vectors["total"]) and vectors["done"] == vectors["total"]


def memory(running: RunningStack) -> Mapping[str, tuple[float, float]]:
    """Resident and proportional MiB by process, child processes included."""
    shares = {}
    for name, pid in running.pids.items():
        family = [psutil.Process(pid)]
        if name != "stack":
            family += family[0].children(recursive=True)
        infos = [process.memory_full_info() for process in family]
        shares[name] = (sum(i.rss for i in infos) / MIB, sum(i.pss for i in infos) / MIB)
    return shares


def loads_torch(running: RunningStack) -> list[str]:
    """The processes that have torch in memory."""
    return [
        name
        for name, pid in running.pids.items()
        if any("libtorch" in one.path for one in psutil.Process(pid).memory_maps())
    ]


def measure(data: Path) -> None:
    """Print the figures of one stack on the demonstration library."""
    with stack(data=data) as running:
        wait_until(lambda: vectors_are_done(running), 120)
    begun = time.perf_counter()
    with stack(data=data) as running:
        print(f"start to ready, library indexed: {time.perf_counter() - begun:.1f} s")
        print(f"processes with torch: {', '.join(loads_torch(running)) or 'none'}")
        questions = [one["text"] for one in json.loads(QUESTIONS.read_text("utf-8"))["questions"]]
        ask(running, questions[0])
        timings = [ask(running, question) for question in questions]
        print(f"question to first event: {spread([one.event for one in timings])}")
        print(f"question to first tool result: {spread([one.tool_result for one in timings])}")
        print(f"question to final answer: {spread([one.answer for one in timings])}")
        time.sleep(IDLE_S)
        shares = memory(running)
        for name, (resident, proportional) in sorted(shares.items()):
            print(f"memory {name}: {resident:.0f} MiB resident, {proportional:.0f} MiB its share")
        total = [sum(values) for values in zip(*shares.values(), strict=True)]
        print(f"memory of all: {total[0]:.0f} MiB resident, {total[1]:.0f} MiB shared pages once")


def main() -> None:
    """Measure everything and print it."""
    print(f"machine: {machine()}")
    data = Path(tempfile.mkdtemp(prefix="zocrates-bench-"))
    try:
        measure(data)
    finally:
        shutil.rmtree(data, ignore_errors=True)


if __name__ == "__main__":
    main()
