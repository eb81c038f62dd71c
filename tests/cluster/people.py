"""People who ask a cluster questions."""

import asyncio
import json
from collections.abc import AsyncIterator

from deploy.demo.location import QUESTIONS
from gateway import wire
from gateway.client import Client, RunId
from gateway.location import Location
from gateway.sse import ServerEvent
from tests.cluster.system import RunningCluster

QUESTION_LIST = [one["text"] for one in json.loads(QUESTIONS.read_text("utf-8"))["questions"]]
OUTSIDE_THE_LIBRARY = QUESTION_LIST[-2]
INDEXED_S = 120
COMPLETED = "COMPLETED"
STRAIGHT_ON = wire.TurnOptions(hitl_enabled=False)


def client(cluster: RunningCluster) -> Client:
    """A person with the cluster's key."""
    return Client(Location(base_url=cluster.base_url, api_key=cluster.key))


async def paused(ours: Client) -> ServerEvent:
    """Ask what the library does not answer; the question that the run then waits with."""
    asked = [event async for event in ours.ask(OUTSIDE_THE_LIBRARY)]
    waiting = next((event for event in asked if event.name == "request_input"), None)
    assert waiting is not None, [event.name for event in asked]
    return waiting


async def indexed(ours: Client) -> None:
    """Wait until the library can be searched in full."""
    async with asyncio.timeout(INDEXED_S):
        while True:
            library = await ours.library()
            if library.synced_at and 0 < library.vectors.total == library.vectors.done:
                return
            await asyncio.sleep(0.2)


async def turns(cluster: RunningCluster, place: int, stop: asyncio.Event) -> list[str]:
    """Ask one question after the other until told to stop; how each ended."""
    ends: list[str] = []
    async with client(cluster) as ours:
        while not stop.is_set():
            question = QUESTION_LIST[(place + len(ends)) % len(QUESTION_LIST)]
            events = [event async for event in ours.ask(question, options=STRAIGHT_ON)]
            errors = [str(event.data) for event in events if event.name == "error"]
            ends.append(" ".join([str(events[-1].data["state"]), *errors]))
    return ends


def decided(ours: Client, waiting: ServerEvent) -> AsyncIterator[ServerEvent]:
    """Have the waiting run answer with what it has."""
    run = RunId(
        session_id=str(waiting.data["session_id"]),
        invocation_id=str(waiting.data["invocation_id"]),
    )
    return ours.resume(run, str(waiting.data["interrupt_id"]), action="synthesize")
