"""Embedding off the event loop, with a lane of its own for queries."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from services.search.encoder import Encoder, Vectors

# A slice of bulk work is short, so that a stop and other work wait little for it.
BULK_SLICE = 4


class EncoderLanes:
    """One encoder and two threads: a query never waits behind the passages of a sync."""

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
        """Vectors of the texts in their order, a slice at a time; like lengths go together."""
        loop = asyncio.get_running_loop()
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        rows: dict[int, Vectors] = {}
        for start in range(0, len(order), BULK_SLICE):
            indices = order[start : start + BULK_SLICE]
            slice_ = [texts[index] for index in indices]
            vectors = await loop.run_in_executor(self._bulk, self._encoder.encode, slice_)
            rows.update(zip(indices, vectors, strict=True))
        return [rows[index] for index in range(len(texts))]


@asynccontextmanager
async def encoder_lanes(encoder: Encoder) -> AsyncIterator[EncoderLanes]:
    """The lanes of an encoder; on leaving, the slice in hand is finished first."""
    with (
        ThreadPoolExecutor(1, thread_name_prefix="encode-query") as query,
        ThreadPoolExecutor(1, thread_name_prefix="encode-bulk") as bulk,
    ):
        yield EncoderLanes(encoder, query=query, bulk=bulk)
