"""Plans that wait cost nothing in the process, and their deadlines are met."""

import asyncio
import inspect
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import text

import services
from services.orchestrator.settings import Settings
from services.orchestrator.store.database import Database
from services.orchestrator.store.together import store_on
from tests.integration.orchestrator_stage import eventually, orchestrator
from tests.integration.review_rows import reviewed_run

SERVICES = Path(services.__path__[0])
REVIEWS = 150
LATEST_S = 2.0
# Half of them within a second, the others at one instant.
SET = text("""
    UPDATE checkpoint SET expires_at = clock_timestamp() + interval '1 s'
                                       * (1 + LEAST(place, :half) / CAST(:half AS float8))
    FROM (SELECT run_id AS id, row_number() OVER () AS place FROM checkpoint) AS one
    WHERE run_id = one.id
""")
WAITING = text("SELECT count(*) AS runs FROM run WHERE state = 'AWAITING_INPUT'")
LATE = text("""
    SELECT extract(epoch FROM finish_time - expires_at)::float8 AS late
    FROM run JOIN checkpoint ON run_id = run.id WHERE run.state = 'EXPIRED'
""")


def tasks_of_ours() -> int:
    """How many tasks run code of the product: gRPC starts some of its own when it pleases."""
    coroutines = (task.get_coro() for task in asyncio.all_tasks())
    codes = (one.cr_code for one in coroutines if inspect.iscoroutine(one))
    return sum(SERVICES in Path(code.co_filename).parents for code in codes)


async def test_waiting_reviews_have_no_tasks_and_end_in_time(
    settings: Settings, database: Database
) -> None:
    store = store_on(database)
    far = datetime.now(UTC) + timedelta(hours=1)
    async with orchestrator(settings):
        idle = tasks_of_ours()
    for _ in range(REVIEWS):
        await reviewed_run(store, expires_at=far)
    async with orchestrator(settings):
        # A few come and go, such as looks at dependencies; one for each review would be many more.
        assert tasks_of_ours() < idle + REVIEWS // 10
        await database.fetch(SET, {"half": REVIEWS // 2})

        async def all_ended() -> bool:
            return bool((await database.fetch(WAITING)).one().runs == 0)

        await eventually(all_ended, "the end of all reviews", within_s=60)
    late = [row.late for row in await database.fetch(LATE)]
    assert len(late) == REVIEWS
    assert max(late) < LATEST_S
    assert min(late) >= 0
