"""What keeps an index fast and small: folding rows in, and telling live rows from dead ones."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from services.chassis.telemetry import EventLog
from services.search.index_rows import Documents

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
    return "concurrent" in text or "conflict" in text


async def fold(table: "AsyncTable", *, always: bool = False) -> None:
    """Join small files, bring the search indices up to date and drop old versions, when due."""
    if not always and not await _is_due(table):
        return
    try:
        await table.optimize(cleanup_older_than=KEPT_VERSIONS)
    except RuntimeError as error:
        if not lost_to_another(error):
            raise
        # Another writer changed the same files first; the next time will do.
        log.info("fold_postponed", table=table.name, why=str(error).splitlines()[0])


async def _is_due(table: "AsyncTable") -> bool:
    stats: Any = await table.stats()  # a dictionary, declared as a class by the library
    if stats["fragment_stats"]["num_fragments"] > MOST_FILES:
        return True
    # Each index lags behind by the same rows: one tells for all.
    for index in await table.list_indices():
        covered = await table.index_stats(index.name)
        return covered is not None and covered.num_unindexed_rows > MOST_ROWS_BESIDE
    return False


def live_rows(rows: pa.Table, documents: Documents) -> pa.Table:
    """The rows whose generation is that of a committed document; no two documents share one."""
    return rows.filter(pc.is_in(rows["generation"], value_set=_generations(documents)))


def dead_generations(rows: pa.Table, documents: Documents) -> list[str]:
    """The generations of rows that belong to no committed document, sorted."""
    dead = rows.filter(pc.invert(pc.is_in(rows["generation"], value_set=_generations(documents))))
    return sorted(pc.unique(dead["generation"]).to_pylist())


def without(rows: pa.Table, others: pa.Table) -> pa.Table:
    """The rows whose passage and digest are not among the others'."""
    return rows.filter(pc.invert(pc.is_in(_marks(rows), value_set=_marks(others))))


def _generations(documents: Documents) -> pa.Array:
    return pa.array([one.generation for one in documents.by_id.values()], pa.string())


def _marks(rows: pa.Table) -> pa.Array:
    joined = pc.binary_join_element_wise(rows["passage_id"], rows["digest"], "\n")
    return joined.combine_chunks() if isinstance(joined, pa.ChunkedArray) else joined
