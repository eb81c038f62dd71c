"""An orchestrator that is killed at each point of a whole run: nothing that is told changes.

The points are structural: the beginning and the end of every call that the process makes to its
store, its peers and its bus.
"""

import importlib
import inspect
import json
import pkgutil
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

import grpc
import pytest

from services.chassis.bus import Bus, open_bus
from services.orchestrator import peers as peers_package
from services.orchestrator import store as store_package
from services.orchestrator.store.database import Database
from tests.crash.lane import Lane
from tests.crash.matrix import lanes, single_deaths, tell
from tests.crash.seams import calls_of
from tests.integration.orchestrator_stage import eventually
from tests.servers import NatsServer, PostgresServer, free_port

LANES = 5
# Not part of the stories, and where a death there is proven instead.
ELSEWHERE = {
    # Reads: of a second turn, and of a quote that does not stand there letter by letter.
    "History.conversation": "test_orchestrator_pipeline",
    "SearchPeer.find_quote": "test_orchestrator_pipeline",
    # A read that no run makes.
    "ModelsPeer.describe": "test_orchestrator_models",
    "Census.take": "a look at how much there is, for whoever measures",
    "Pausing.pause": "tests/machine, test_orchestrator_pausing",
    "Pausing.resume": "tests/machine, test_orchestrator_pausing",
    "Runs.release": "tests/machine, test_orchestrator_crashes",
    # After a planner that failed; and reads of why something was refused.
    "Reviews.release": "tests/machine, test_orchestrator_review_service",
    "Reviews.refusal": "test_orchestrator_review_service",
    "Checkpoints.refusal": "test_orchestrator_plan_reviews",
    # A read for spans, which the stories have none of.
    "Stories.until": "test_trace; a death there loses a span of a run that is over",
    # A read before consent is decided on.
    "Sessions.session_of": "test_orchestrator_consent",
}


@pytest.mark.timeout(600)
async def test_a_kill_at_any_point_of_a_run_changes_nothing_that_is_told(
    postgres: PostgresServer, nats_server: NatsServer, tmp_path: Path
) -> None:
    async with lanes(postgres, [nats_server.url] * LANES, tmp_path) as opened:
        outcome = await tell(opened, await single_deaths(opened[0]))
        assert not outcome.failures
        for lane in opened:
            await lane.published()
        await assert_published(opened, nats_server)
    killed = {death.call for case in outcome.reached for death in case.deaths}
    ways = [*ways_of(store_package), *ways_of(peers_package)]
    calls = {call for way in ways for call in calls_of(way)}
    assert not calls - killed - set(ELSEWHERE), "a way out of the process where nothing was killed"


async def test_a_run_survives_the_death_of_its_process_also_without_nats(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    nobody = f"nats://127.0.0.1:{free_port()}"
    async with lanes(postgres, [nobody], tmp_path) as (lane,):
        cases = [case for case in await single_deaths(lane) if "Checkpoints.decide" in str(case)]
        outcome = await tell([lane], cases)
    assert not outcome.failures
    assert len(outcome.reached) == len(cases) >= 4


def ways_of(package: ModuleType) -> Iterator[type]:
    """The classes of a package that are given a connection."""
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if module.ispkg or module.name.endswith(".migrate"):
            continue
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            given = inspect.signature(kind.__init__).parameters.values()
            takes = {one.annotation for one in given}
            if kind.__module__ == module.name and takes & {Database, grpc.aio.Channel}:
                yield kind


async def is_connected(bus: Bus) -> bool:
    return bus.is_connected


async def assert_published(opened: list[Lane], nats_server: NatsServer) -> None:
    """NATS was told every event of every run once, in sequence."""
    told: dict[str, list[int]] = defaultdict(list)
    async with open_bus(nats_server.url, "test") as bus:
        await eventually(partial(is_connected, bus), "NATS")
        for body in await bus.retained("zocrates.events.>", limit=1_000_000):
            event = json.loads(body)
            told[event["run_id"]].append(int(event["sequence"]))
    runs = {run_id: last for lane in opened for run_id, last in lane.kept_runs.items()}
    assert len(runs) > 100
    assert {run_id: told[run_id] for run_id in runs} == {
        run_id: list(range(1, last + 1)) for run_id, last in runs.items()
    }
