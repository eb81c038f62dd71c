"""What keeps an index fast and small: folding rows in, and commits that other writers disturb."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from services.chassis.telemetry import EventLog

if TYPE_CHECKING:
    from lancedb.table import AsyncTable

# A query in another process ends within 20 s and the next one looks for the newest version; the
# rest is for clocks that differ. Each fold leaves a copy for so long.
KEPT_VERSIONS = timedelta(minutes=2)
# Each commit adds a file that every search opens, and rows that no index covers. Folding them in
# writes large parts of a table anew, and what it replaces is kept for a while: at every small
# commit it would cost more than it saves.
MOST_FILES = 24
MOST_ROWS_BESIDE = 4_000
# Each query reads the words of all passages that no index covers: some 15 microseconds for each.
MOST_PASSAGES_BESIDE = 500
# A document that is replaced leaves no file and no row beside, only versions that hold the old one.
MOST_VERSIONS = 40

COMMIT_ATTEMPTS = 6

log = EventLog(__name__)


async def committed(write: Callable[[], Awaitable[object]]) -> None:
    """Write, again when other writers were faster: what lost has left nothing behind."""
    for attempt in range(COMMIT_ATTEMPTS):
        try:
            await write()
        except RuntimeError as error:
            if not lost_to_another(error) or attempt == COMMIT_ATTEMPTS - 1:
                raise
            # Apart from each other, or all would meet again.
            await asyncio.sleep(random.uniform(0.2, 1) * 2**attempt / 4)
        else:
            return


def lost_to_another(error: RuntimeError) -> bool:
    """Whether a commit failed because another writer's came first."""
    text = str(error).lower()
    return any(sign in text for sign in ("concurrent", "conflict", "incompatible transaction"))


async def fold(table: "AsyncTable", *, most_beside: int = MOST_ROWS_BESIDE) -> None:
    """Join small files, bring the search indices up to date and drop old versions, when due."""
    if not await _is_due(table, most_beside):
        return
    try:
        await table.optimize(cleanup_older_than=KEPT_VERSIONS)
    except RuntimeError as error:
        if not lost_to_another(error):
            raise
        # Another writer changed the same files first; the next time will do.
        log.info("fold_postponed", table=table.name, why=str(error).splitlines()[0])


async def _is_due(table: "AsyncTable", most_beside: int) -> bool:
    stats: Any = await table.stats()  # a dictionary, declared as a class by the library
    if stats["fragment_stats"]["num_fragments"] > MOST_FILES:
        return True
    # Each index lags behind by the same rows: one tells for all.
    for index in list(await table.list_indices())[:1]:
        covered = await table.index_stats(index.name)
        if covered is not None and covered.num_unindexed_rows > most_beside:
            return True
    versions = await table.list_versions()  # type: ignore[no-untyped-call]
    oldest = versions[0]["timestamp"].astimezone(UTC)
    return len(versions) > MOST_VERSIONS and datetime.now(UTC) - oldest > KEPT_VERSIONS
