"""Concurrent requests share one model: their pairs are gathered for a single worker thread."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Executor
from contextlib import asynccontextmanager

from services.rerank.scoring import Pair

# A pass asks about much that the pass before it asked about.
REMEMBERED_SCORES = 16_384

Score = Callable[[Sequence[Pair]], list[float]]


class Batcher:
    """Scores pairs in order of arrival; a pair is scored once for all who wait for it and for those
    who ask soon after."""

    def __init__(self, score: Score, executor: Executor, *, max_pairs: int) -> None:
        self._score = score
        self._executor = executor
        self._max_pairs = max_pairs
        self._waiting: dict[Pair, list[asyncio.Future[float]]] = {}
        self._arrived = asyncio.Event()
        self._known: OrderedDict[bytes, float] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many pairs wait for the model."""
        return len(self._waiting)

    async def score(self, pairs: Sequence[Pair]) -> list[float]:
        """The scores of the pairs, in their order."""
        loop = asyncio.get_running_loop()
        known = self._remembered(pairs)
        mine = {pair: loop.create_future() for pair in pairs if pair not in known}
        for pair, future in mine.items():
            self._waiting.setdefault(pair, []).append(future)
        self._arrived.set()
        try:
            await asyncio.gather(*mine.values())
        finally:
            # A caller that gave up, or whose batch failed, leaves no work and no error behind.
            for future in mine.values():
                future.cancel()
        known.update((pair, future.result()) for pair, future in mine.items())
        return [known[pair] for pair in pairs]

    def _remembered(self, pairs: Sequence[Pair]) -> dict[Pair, float]:
        found = {}
        for pair in set(pairs):
            key = _key(pair)
            if key in self._known:
                self._known.move_to_end(key)
                found[pair] = self._known[key]
        return found

    def _remember(self, pair: Pair, score: float) -> None:
        self._known[_key(pair)] = score
        if len(self._known) > REMEMBERED_SCORES:
            self._known.popitem(last=False)

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            await self._arrived.wait()
            batch = self._take()
            if not batch:
                self._arrived.clear()
                continue
            await self._settle(batch)

    def _take(self) -> dict[Pair, list[asyncio.Future[float]]]:
        """The oldest pairs that somebody still waits for."""
        batch: dict[Pair, list[asyncio.Future[float]]] = {}
        while self._waiting and len(batch) < self._max_pairs:
            pair = next(iter(self._waiting))
            if wanted := [future for future in self._waiting.pop(pair) if not future.done()]:
                batch[pair] = wanted
        return batch

    async def _settle(self, batch: dict[Pair, list[asyncio.Future[float]]]) -> None:
        # Texts of like length together waste the least padding.
        pairs = sorted(batch, key=lambda pair: len(pair.text))
        try:
            scores = await asyncio.get_running_loop().run_in_executor(
                self._executor, self._score, pairs
            )
        except (
            Exception
        ) as error:  # the edge between worker thread and callers: each caller gets it
            for pair in pairs:
                _fail(batch[pair], error)
            return
        for pair, value in zip(pairs, scores, strict=True):
            self._remember(pair, value)
            for future in batch[pair]:
                if not future.done():
                    future.set_result(value)


def _key(pair: Pair) -> bytes:
    """Texts would fill the memory; two pairs never share this in practice."""
    digest = hashlib.blake2b(digest_size=16)
    for part in pair:
        raw = part.encode(errors="surrogatepass")
        digest.update(len(raw).to_bytes(8, "big") + raw)
    return digest.digest()


def _fail(futures: Sequence[asyncio.Future[float]], error: Exception) -> None:
    for future in futures:
        if not future.done():
            future.set_exception(error)
            # Read once here: of several failed pairs a caller only sees the first
            future.exception()


@asynccontextmanager
async def batching(score: Score, executor: Executor, *, max_pairs: int) -> AsyncIterator[Batcher]:
    """A batcher at work; leaving stops it."""
    batcher = Batcher(score, executor, max_pairs=max_pairs)
    async with asyncio.TaskGroup() as group:
        working = group.create_task(batcher.run())
        try:
            yield batcher
        finally:
            working.cancel()
