"""Whatever happens to runs, in whatever order, the invariants hold.

Examples are the same each time. `STATE_MACHINE_EXAMPLES` asks for so many other ones.
"""

import asyncio
import os
import threading
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from services.orchestrator.store.database import Database, open_database
from tests.machine.machine import Machine
from tests.machine.review_machine import ReviewMachine

ASKED = os.environ.get("STATE_MACHINE_EXAMPLES")
EXAMPLES = int(ASKED or 40)
STEPS = 40


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop in a thread of its own: the rules are not coroutines."""
    running = asyncio.new_event_loop()
    thread = threading.Thread(target=running.run_forever)
    thread.start()
    yield running
    running.call_soon_threadsafe(running.stop)
    thread.join()
    running.close()


@pytest.mark.timeout(300 if ASKED is None else 86_400)
@pytest.mark.parametrize("machine", [Machine, ReviewMachine])
def test_runs_and_reviews_keep_their_promises_whatever_happens(
    database_url: str, loop: asyncio.AbstractEventLoop, machine: type[Machine | ReviewMachine]
) -> None:
    opened = open_database(database_url, pool_size=10)

    async def enter() -> Database:
        return await opened.__aenter__()

    async def leave() -> None:
        await opened.__aexit__(None, None, None)

    machine.loop = loop
    machine.database = asyncio.run_coroutine_threadsafe(enter(), loop).result()
    try:
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=EXAMPLES,
                stateful_step_count=STEPS,
                derandomize=ASKED is None,
                database=None,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
    finally:
        asyncio.run_coroutine_threadsafe(leave(), loop).result()
