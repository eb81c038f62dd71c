"""Asking the tables of the index, within a time."""

from datetime import timedelta
from typing import Any

import pyarrow as pa

from services.search.errors import IndexBusy

QUERY_TIMEOUT = timedelta(seconds=20)


async def rows_of(query: Any) -> pa.Table:  # the library's query classes have no common public one
    """What a query finds. Raises IndexBusy."""
    try:
        rows: pa.Table = await query.to_arrow(timeout=QUERY_TIMEOUT)
    except RuntimeError as error:
        if "query timeout" not in str(error).lower():
            raise
        raise IndexBusy(
            f"The index did not answer within {QUERY_TIMEOUT.total_seconds():g} seconds: the "
            "machine has too much to do. Try again in a moment."
        ) from error
    return rows
