"""Requests that share a model."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from services.rerank.batching import batching
from services.rerank.scoring import Pair

SLOW = 5


class Gate:
    """Scores a pair by the length of its text, once it is open, and remembers the batches."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.entered = threading.Event()
        self.batches: list[list[Pair]] = []

    def score(self, pairs: Sequence[Pair]) -> list[float]:
        self.batches.append(list(pairs))
        self.entered.set()
        assert self.open.wait(SLOW)
        if any(pair.text == "bad" for pair in pairs):
            raise ArithmeticError("bad")
        return [float(len(pair.text)) for pair in pairs]

    async def is_busy(self) -> None:
        assert await asyncio.to_thread(self.entered.wait, SLOW)


@pytest.fixture
def worker() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(max_workers=1) as executor:
        yield executor


async def test_scores_come_back_in_the_order_of_the_pairs(worker: ThreadPoolExecutor) -> None:
    gate = Gate()
    gate.open.set()
    pairs = [Pair("q", "three"), Pair("q", "a"), Pair("q", "three"), Pair("q", "be")]
    async with batching(gate.score, worker, max_pairs=8) as batcher:
        assert await batcher.score(pairs) == [5, 1, 5, 2]
    assert gate.batches == [[Pair("q", "a"), Pair("q", "be"), Pair("q", "three")]]


async def test_an_empty_request_is_answered_without_the_model(worker: ThreadPoolExecutor) -> None:
    gate = Gate()
    async with batching(gate.score, worker, max_pairs=8) as batcher:
        assert await batcher.score([]) == []
    assert not gate.batches


async def test_requests_that_wait_are_gathered_and_a_shared_pair_is_scored_once(
    worker: ThreadPoolExecutor,
) -> None:
    gate = Gate()
    async with batching(gate.score, worker, max_pairs=8) as batcher, asyncio.TaskGroup() as group:
        first = group.create_task(batcher.score([Pair("q", "first")]))
        await gate.is_busy()
        others = [group.create_task(batcher.score([Pair("q", "x"), Pair("q", t)])) for t in "yz"]
        await asyncio.sleep(0)
        gate.open.set()
        assert await first == [5]
        assert [await other for other in others] == [[1, 1], [1, 1]]
    assert [len(batch) for batch in gate.batches] == [1, 3]


async def test_a_pair_that_was_scored_before_is_not_scored_again(
    worker: ThreadPoolExecutor,
) -> None:
    gate = Gate()
    gate.open.set()
    async with batching(gate.score, worker, max_pairs=8) as batcher:
        await batcher.score([Pair("q", "ab"), Pair("q", "c")])
        again = await batcher.score([Pair("q", "c", "heading"), Pair("q", "ab"), Pair("qa", "b")])
    assert again == [1, 2, 1]
    assert gate.batches[1] == [Pair("q", "c", "heading"), Pair("qa", "b")]


async def test_the_memory_of_scores_is_bounded(
    worker: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.rerank.batching.REMEMBERED_SCORES", 2)
    gate = Gate()
    gate.open.set()
    async with batching(gate.score, worker, max_pairs=8) as batcher:
        for text in ("a", "b", "a", "c", "b"):
            await batcher.score([Pair("q", text)])
    assert [batch[0].text for batch in gate.batches] == ["a", "b", "c", "b"]


async def test_a_batch_holds_no_more_than_its_limit(worker: ThreadPoolExecutor) -> None:
    gate = Gate()
    gate.open.set()
    async with batching(gate.score, worker, max_pairs=2) as batcher:
        await batcher.score([Pair("q", text) for text in "abcde"])
    assert [len(batch) for batch in gate.batches] == [2, 2, 1]


async def test_pairs_that_nobody_waits_for_any_more_are_not_scored(
    worker: ThreadPoolExecutor,
) -> None:
    gate = Gate()
    async with batching(gate.score, worker, max_pairs=8) as batcher:
        first = asyncio.create_task(batcher.score([Pair("q", "first")]))
        await gate.is_busy()
        given_up = asyncio.create_task(batcher.score([Pair("q", "unwanted")]))
        await asyncio.sleep(0)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        gate.open.set()
        await first
        assert await batcher.score([Pair("q", "last")]) == [4]
    assert Pair("q", "unwanted") not in [pair for batch in gate.batches for pair in batch]


async def test_a_failure_of_the_model_reaches_its_callers_and_the_next_batch_works(
    worker: ThreadPoolExecutor,
) -> None:
    gate = Gate()
    gate.open.set()
    async with batching(gate.score, worker, max_pairs=8) as batcher:
        with pytest.raises(ArithmeticError):
            await batcher.score([Pair("q", "bad"), Pair("q", "good")])
        assert await batcher.score([Pair("q", "good")]) == [4]
