"""One orchestrator that dies and is started again, with a database and peers of its own."""

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import grpc
from sqlalchemy import text

from services.orchestrator.store.database import Database, open_database
from tests.crash.caller import OPTIONS, PATIENCE_S, Caller
from tests.crash.peers import calls_by_step, clear_counts, counted_peers
from tests.crash.stories import Story, Told, assert_frugal, assert_same, recorded
from tests.crash.stories import told as events_of
from tests.fakes.research_peers import ResearchPeers
from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
UNPUBLISHED = text("SELECT id FROM run WHERE published_sequence < last_sequence")
# Short leases, so that a death is noticed soon.
PACE = {
    **{"lease_s": 0.4, "renew_s": 0.1, "poll_s": 0.2, "pool_size": 4, "peer_deadline_s": 10},
    **{"planner_deadline_s": 4, "feedback_window_s": 5},
}
# Reached only while a run is held for longer than these scripts take: their search waits.
HELD = ("Runs.renew",)
# Reached when a process starts.
AT_START = ("Retention.forget", "Runs.count_unknown_schema", "Bus.ensure", "Bus.subscribe")


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """A point, and how many times it is reached before the process dies there."""

    point: str
    times: int = 1

    @property
    def call(self) -> str:
        """The call that the point is before, amid or after."""
        return self.point.split(" ")[1]


class Unreached(AssertionError):
    """A death that did not come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undisturbed:
    """A story to which nothing happened."""

    told: Told
    recorded: Told
    calls: Counter[str]
    reached: list[str]


class Supervisor:
    """The process that starts orchestrators, and starts them again."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    def order(self, **order: object) -> None:
        """Start a process, or start one again."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps(order)}\n".encode())


@asynccontextmanager
async def supervisor() -> AsyncIterator[Supervisor]:
    """A supervisor that is ready; its orchestrators end with it."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.crash.supervisor"),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        await asyncio.wait_for(process.stdout.readline(), PATIENCE_S)
        yield Supervisor(process)
    finally:
        process.stdin.close()
        await asyncio.wait_for(process.wait(), PATIENCE_S)


class Lane:
    """Tells stories to its orchestrator, one after the other."""

    def __init__(
        self,
        folder: Path,
        peers: ResearchPeers,
        database: Database,
        channel: grpc.aio.Channel,
        supervising: Supervisor,
        known: dict[str, Undisturbed],
    ) -> None:
        self._folder = folder
        self._peers = peers
        self._database = database
        self._channel = channel
        self._supervisor = supervising
        # Told once for all lanes: their peers play the same.
        self._known = known
        # Runs whose events have to be in NATS in the end, and how many.
        self.kept_runs: dict[str, int] = {}

    async def undisturbed(self, story: Story) -> Undisturbed:
        """The story as it goes when nothing dies."""
        if story.name not in self._known:
            clear_counts(self._peers)
            caller = self._caller()
            told = await story.tell(caller)
            self._known[story.name] = Undisturbed(
                told=told,
                recorded=await recorded(self._database, caller.owner, story),
                calls=calls_by_step(self._peers),
                reached=self.reached(),
            )
        return self._known[story.name]

    async def with_deaths(self, story: Story, deaths: Sequence[Death]) -> list[str]:
        """Tell the story while the process dies; nothing that is told or stored may change.

        Returns the points that the story reached from the first death on.
        """
        expected = await self.undisturbed(story)
        clear_counts(self._peers)
        (self._folder / "reached").write_text("")
        self._arm(deaths)
        caller = self._caller()
        async with self._held(deaths):
            told = await story.tell(caller)
            points = self._after(deaths[0])
            await self._died(len(deaths))
        assert_same(told, expected.told)
        if not story.is_deleted:
            # Deaths after the end changed nothing either.
            page = await caller.events()
            assert_same({"events": events_of(page)}, {"events": told["events"]})
            self.kept_runs[caller.turn.run_id] = page.last_sequence
        assert_same(await recorded(self._database, caller.owner, story), expected.recorded)
        assert_frugal(calls_by_step(self._peers), expected.calls, len(deaths))
        return points

    async def published(self) -> None:
        """Wait until the bus was told everything; a dead relay's claim has to end first."""
        deadline = time.monotonic() + PATIENCE_S
        while rows := await self._database.fetch(UNPUBLISHED):
            if time.monotonic() > deadline:
                raise Unreached(f"events of {len(rows)} runs were not published")
            await asyncio.sleep(0.1)

    def reached(self) -> list[str]:
        """The points that were reached so far."""
        return (self._folder / "reached").read_text().splitlines()

    def log(self) -> str:
        """The last words of the processes."""
        return (self._folder / "log").read_text()[-4000:]

    def _arm(self, deaths: Sequence[Death]) -> None:
        lines = "".join(f"{one.times} {one.point}\n" for one in deaths)
        (self._folder / "armed").write_text(lines)
        if any(one.call in AT_START for one in deaths[:1]):
            self._supervisor.order(restart=str(self._folder))

    @asynccontextmanager
    async def _held(self, deaths: Sequence[Death]) -> AsyncIterator[None]:
        """The first search waits for a death that comes while a run is held."""
        waited = [place for place, one in enumerate(deaths, start=1) if one.call in HELD]
        if not waited:
            yield
            return
        gate = self._peers.search.gates["sleep"] = asyncio.Event()
        opening = asyncio.create_task(self._died(waited[-1], len(deaths)))
        opening.add_done_callback(lambda _task: gate.set())
        try:
            yield
            await opening
        finally:
            opening.cancel()
            del self._peers.search.gates["sleep"]

    async def _died(self, times: int, of: int | None = None) -> None:
        """Wait until so many of the deaths have come."""
        deadline = time.monotonic() + PATIENCE_S
        left = (of or times) - times
        while len(to_come := (self._folder / "armed").read_text().splitlines()) > left:
            if time.monotonic() > deadline:
                raise Unreached(to_come[0])
            await asyncio.sleep(0.02)

    def _after(self, death: Death) -> list[str]:
        """The points that were reached after a death, which may not have come yet."""
        points = self.reached()
        places = [place for place, point in enumerate(points, start=1) if point == death.point]
        return points[places[death.times - 1] :] if len(places) >= death.times else []

    def _caller(self) -> Caller:
        # Each story has an owner of its own, who sees nothing of the others.
        return Caller(self._channel, self._database, uuid4().hex)


@asynccontextmanager
async def open_lane(
    supervising: Supervisor,
    folder: Path,
    database_url: str,
    nats_url: str,
    known: dict[str, Undisturbed],
) -> AsyncIterator[Lane]:
    """A lane whose orchestrator is starting."""
    async with AsyncExitStack() as stack:
        peers = await stack.enter_async_context(counted_peers())
        database = await stack.enter_async_context(open_database(database_url, pool_size=2))
        port = free_port()
        channel = await stack.enter_async_context(
            grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=OPTIONS)
        )
        for name in ("armed", "reached", "log"):
            (folder / name).write_text("")
        targets = {f"{name}_target": peers.target(name) for name in ("search", "rerank", "synth")}
        settings = {"database_url": database_url, "nats_url": nats_url, "port": port}
        supervising.order(folder=str(folder), settings={**settings, **targets, **PACE})
        yield Lane(folder, peers, database, channel, supervising, known)
