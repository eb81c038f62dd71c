"""What dies, when, and for how long: drawn from the seed."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from tests.chaos.system import Program, System

PAUSES_S = (3.0, 10.0)
LONGEST_DOWN_S = 2.0
# One of so many replicas is asked to go instead of being killed.
ASKED = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """Something that can end, and come back."""

    name: str
    end: Callable[[], Awaitable[object]]
    start: Callable[[], Awaitable[object]]


@dataclass
class Havoc:
    """Ends one thing after the other."""

    system: System
    chance: random.Random
    begun: float = field(default_factory=time.monotonic)
    log: list[str] = field(default_factory=list)
    deaths: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    async def rage(self, until: asyncio.Event) -> None:
        """End and start again until the event is set; at the end everything runs."""
        while not until.is_set():
            try:
                async with asyncio.timeout(self.chance.uniform(*PAUSES_S)):
                    await until.wait()
            except TimeoutError:
                await self._strike()

    async def _strike(self) -> None:
        await self._find_suicides()
        death = self.chance.choice(
            [
                self._postgres,
                self._nats,
                self._gateway,
                self._stage,
                self._orchestrator,
                self._orchestrator,
            ]
        )()
        down_s = self.chance.uniform(0, LONGEST_DOWN_S)
        self.deaths[death.name] += 1
        at = time.monotonic() - self.begun
        await death.end()
        await asyncio.sleep(down_s)
        # The next pause begins when all is there again: a slow machine is no proof of anything.
        await death.start()
        back = time.monotonic() - self.begun
        self.log.append(f"{at:7.2f} s  {death.name}, back at {back:.2f} s")

    async def _find_suicides(self) -> None:
        """A process that ended without being asked to is a bug; it is started again."""
        for program in self.system.programs:
            process = program.process
            if process is not None and process.returncode is not None:
                self.wrong.append(f"{program.name} ended by itself with {process.returncode}")
                await program.start()

    def _postgres(self) -> Death:
        return Death(
            name="postgres killed",
            end=self.system.crash_postgres,
            start=lambda: asyncio.to_thread(self.system.postgres.start),
        )

    def _nats(self) -> Death:
        nats = self.system.nats
        forgets = self.chance.random() < 0.5

        async def end() -> None:
            await asyncio.to_thread(nats.kill)
            if forgets:
                await asyncio.to_thread(nats.forget)

        return Death(
            name="nats killed, data lost" if forgets else "nats killed",
            end=end,
            start=lambda: asyncio.to_thread(nats.start),
        )

    def _gateway(self) -> Death:
        return self._one_of(self.system.gateways, "gateway")

    def _stage(self) -> Death:
        return self._one_of(self.system.stages, "stages")

    def _orchestrator(self) -> Death:
        return self._one_of(self.system.orchestrators, "orchestrator")

    def _one_of(self, replicas: Sequence[Program], name: str) -> Death:
        victim = self.chance.choice(replicas)
        if self.chance.random() < ASKED:
            return Death(name=f"{name} stopped", end=victim.stop, start=victim.start_serving)
        return Death(name=f"{name} killed", end=victim.kill, start=victim.start_serving)
