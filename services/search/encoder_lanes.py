"""Embedding off the event loop, with a lane of its own for queries."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from services.search.encoder import Encoder, Vectors

# A slice of bulk work is short, so that a stop waits little for it.
BULK_SLICE = 4


class EncoderLanes:
    """One encoder, a thread for queries and some for bulk work: a query never waits behind the
    passages of a sync."""

    def __init__(
        self, encoder: Encoder, query: ThreadPoolExecutor, bulk: ThreadPoolExecutor
    ) -> None:
        self._encoder = encoder
        self._query = query
        self._bulk = bulk

    @property
    def encoder_id(self) -> str:
        """The encoder's id."""
        return self._encoder.encoder_id

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._encoder.dimensions

    async def encode_query(self, text: str) -> list[float]:
        """The unit vector of a query."""
        loop = asyncio.get_running_loop()
        vectors = await loop.run_in_executor(self._query, self._encoder.encode, [text])
        return [float(value) for value in vectors[0]]

    async def encode_passages(self, texts: Sequence[str]) -> list[Vectors]:
        """Vectors of the texts in their order; several slices are in hand at once."""
        loop = asyncio.get_running_loop()
        # A model that pads gets like lengths; the longest first, so that the threads end together.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]), reverse=True)
        slices = [order[start : start + BULK_SLICE] for start in range(0, len(order), BULK_SLICE)]
        encoded = await asyncio.gather(
            *(
                loop.run_in_executor(
                    self._bulk, self._encoder.encode, [texts[index] for index in indices]
                )
                for indices in slices
            )
        )
        rows = {
            index: vector
            for indices, vectors in zip(slices, encoded, strict=True)
            for index, vector in zip(indices, vectors, strict=True)
        }
        return [rows[index] for index in range(len(texts))]


@asynccontextmanager
async def encoder_lanes(encoder: Encoder, *, threads: int = 1) -> AsyncIterator[EncoderLanes]:
    """The lanes of an encoder; on leaving, the slices in hand are finished first."""
    query = ThreadPoolExecutor(1, thread_name_prefix="encode-query")
    bulk = ThreadPoolExecutor(threads, thread_name_prefix="encode-bulk")
    try:
        yield EncoderLanes(encoder, query=query, bulk=bulk)
    finally:
        # What waits is left undone: the next start embeds it.
        query.shutdown(cancel_futures=True)
        bulk.shutdown(cancel_futures=True)
