"""Deaths at every point, spread over lanes: which points there are, and what came of each."""

import asyncio
import random
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import grpc

from tests.crash.lane import HELD, Death, Lane, Undisturbed, Unreached, open_lane, supervisor
from tests.crash.stories import STORIES, Story
from tests.servers import PostgresServer, create_database

# Called by the clock as well as by the story, or several times at once: one death at the first is
# enough, at another it would be the same.
ONCE = ("Bus.", "Outbox.", "Retention.", "Runs.count_unknown_schema", "Runs.renew")
# The results of a turn take as many writes as come at different times.
ALSO_ONCE = (
    *("before Runs.claim", "after Runs.claim nothing", "/calls"),
    *("Checkpoints.expire", "ReviewExpiry.expire"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A story and the deaths in it."""

    story: Story
    deaths: tuple[Death, ...]

    def __str__(self) -> str:
        return f"{self.story.name}: " + ", then ".join(
            f"{one.point} ({one.times})" for one in self.deaths
        )


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What came of many cases."""

    cases: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    # What comes by the clock and did not come this time: nobody died, so nothing was shown.
    missed: list[Case] = field(default_factory=list)
    seconds: float = 0.0
    # By case, the points that were reached after its first death.
    reached: dict[Case, list[str]] = field(default_factory=dict)


def deaths_at(reached: Iterable[str]) -> list[Death]:
    """Every distinct point among those that were reached, in their order."""
    deaths, times = [], Counter[str]()
    for point in reached:
        times[point] += 1
        if times[point] == 1 or not _is_enough_once(point):
            deaths.append(Death(point=point, times=times[point]))
    return deaths


def _is_enough_once(point: str) -> bool:
    call = point.split(" ")[1]
    return call.startswith(ONCE) or any(name in point for name in ALSO_ONCE)


@asynccontextmanager
async def lanes(
    postgres: PostgresServer, nats_urls: Sequence[str], folder: Path
) -> AsyncIterator[list[Lane]]:
    """A lane for each address of NATS, whether or not somebody listens there."""
    async with AsyncExitStack() as stack:
        supervising = await stack.enter_async_context(supervisor())
        opened: list[Lane] = []
        known: dict[str, Undisturbed] = {}
        for number, nats_url in enumerate(nats_urls):
            name = f"lane_{number}_{uuid4().hex}"
            await create_database(postgres, name, template="template_zocrates")
            (folder / name).mkdir()
            url = postgres.url(name)
            lane = open_lane(supervising, folder / name, url, nats_url, known)
            opened.append(await stack.enter_async_context(lane))
        yield opened


async def single_deaths(lane: Lane) -> list[Case]:
    """One death at each distinct point of the stories; a later story adds what is new in it."""
    cases: list[Case] = []
    known: set[str] = set()
    for story in STORIES:
        before = len(lane.reached())
        await lane.undisturbed(story)
        points = lane.reached()[before if known else 0 :]
        cases += [
            Case(story=story, deaths=(death,))
            for death in deaths_at(points)
            if death.point not in known
        ]
        known |= set(points)
    return cases


def second_deaths(first: Outcome) -> list[Case]:
    """After each first death, another one at each point that was reached then, the first time.

    What comes by the clock has no place in the order of a story, so it is no first death here.
    Renewals are left out: whether one comes before the end is chance, and it writes a time only.
    """
    return [
        Case(story=case.story, deaths=(*case.deaths, death))
        for case, reached in first.reached.items()
        if not _is_enough_once(case.deaths[0].point)
        for death in deaths_at(dict.fromkeys(reached))
        if death.call not in HELD
    ]


async def tell(
    opened: Sequence[Lane],
    cases: Iterable[Case],
    *,
    progress: Callable[[Outcome], None] = lambda _outcome: None,
) -> Outcome:
    """Go through the cases, as many at a time as there are lanes."""
    outcome, waiting = Outcome(), deque(cases)
    began = time.monotonic()

    async def work(lane: Lane) -> None:
        while waiting:
            case = waiting.popleft()
            outcome.cases += 1
            try:
                outcome.reached[case] = await lane.with_deaths(case.story, case.deaths)
            except Unreached as error:
                if _is_enough_once(case.deaths[-1].point):
                    outcome.missed.append(case)
                else:
                    outcome.failures[str(case)] = f"{error}\n{lane.log()}"
            except (AssertionError, OSError, TimeoutError, grpc.RpcError) as error:
                # All cases are told of, not only the first that failed.
                outcome.failures[str(case)] = f"{type(error).__name__}: {error}\n{lane.log()}"
            progress(outcome)

    await asyncio.gather(*(work(lane) for lane in opened))
    outcome.seconds = time.monotonic() - began
    return outcome


def sample(cases: Sequence[Case], size: int, seed: int) -> list[Case]:
    """Some of the cases, the same for the same seed."""
    return random.Random(seed).sample(cases, min(size, len(cases)))
