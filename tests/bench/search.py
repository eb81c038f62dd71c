"""Search at scale: time, memory and recall at 10,000 and 100,000 passages: `make bench-search`.

SIZES="10000 100000 400000" is the long form. Everything is compared with an exact scan by numpy
and with bm25s over the same passages, asked in turn in the same run.
"""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median, quantiles

import bm25s
import numpy as np
import psutil

from deploy.model_folder import models_folder
from services.chassis.channel import open_channel
from services.search.encoder import EMBEDDING_FOLDER, OnnxEncoder, Vectors
from services.search.encoder_lanes import EncoderLanes, encoder_lanes
from services.search.engine import CANDIDATES, Engine
from services.search.index import Index, open_index
from services.search.index_writer import IndexWriter
from services.search.scope import Scope
from tests.bench.large_library import Sources, documents, marks, sources, vectors
from tests.bench.machine import machine
from tests.bench.retrieval_data import scifact
from tests.bench.search_process import serving_search
from zocrates.search.v1 import search_pb2 as pb
from zocrates.search.v1 import search_pb2_grpc as rpc

SIZES = "10000 100000"
QUERIES = 100
WARM_UP = 20
DOCUMENTS_PER_COMMIT = 160
HITS = 10
CACHE_BYTES = 128 * 2**20
MIB = 2**20


class KnownQueries(EncoderLanes):
    """Lanes that were asked before: searching is measured without the embedding."""

    def __init__(self, encoder_id: str, known: Mapping[str, list[float]]) -> None:
        self._id = encoder_id
        self._known = known

    @property
    def encoder_id(self) -> str:
        """The encoder whose vectors these are."""
        return self._id

    async def encode_query(self, text: str) -> list[float]:
        """The vector that was made before."""
        return self._known[text]


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """The same passages in memory."""

    matrix: Vectors
    words: bm25s.BM25

    def scan(self, vector: Sequence[float]) -> list[int]:
        """The nearest passages, exactly."""
        scores = self.matrix @ np.asarray(vector, dtype=np.float32)
        best = np.argpartition(-scores, CANDIDATES)[:CANDIDATES]
        return [int(place) for place in best[np.argsort(-scores[best])]]

    def bm25(self, query: str) -> None:
        """The best passages by bm25s."""
        tokens = bm25s.tokenize([query], stopwords="en", show_progress=False)
        self.words.retrieve(tokens, k=CANDIDATES, show_progress=False)


async def fill(folder: Path, real: Sources, count: int, encoder_id: str) -> None:
    """Write the library as a sync does, and print what it cost."""
    async with open_index(str(folder), cache_bytes=CACHE_BYTES) as index:
        writer = IndexWriter(index)
        begun = time.perf_counter()
        made, texts = 0, documents(real, count)
        while batch := list(islice(texts, DOCUMENTS_PER_COMMIT)):
            await writer.commit(batch)
            mine = [mark for text in batch for mark in marks(text)]
            await writer.add_vectors(encoder_id, mine, vectors(real, made, len(mine)))
            made += len(mine)
        await writer.tidy(encoder_id)
        await writer.activate(encoder_id)
        print(f"  written in {time.perf_counter() - begun:.0f} s")
        begun = time.perf_counter()
        graph = await writer.keep_graph(encoder_id)
        if graph is None:
            print("  no graph at this size: every vector is looked at")
        else:
            print(
                f"  graph made in {time.perf_counter() - begun:.0f} s: recall {graph.recall:.4f} "
                f"of the exact {CANDIDATES} nearest, beam {graph.beam}"
            )
    print(f"  on disk {await asyncio.to_thread(size_of, folder) / MIB:.0f} MiB")


def size_of(folder: Path) -> int:
    """Bytes of all files below."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def baselines(real: Sources, count: int) -> Baselines:
    """Both baselines over the passages of the library."""
    texts = [one.text for text in documents(real, count) for one in text.passages]
    words = bm25s.BM25()
    words.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    per_commit = DOCUMENTS_PER_COMMIT * 12
    matrix = np.concatenate(
        [
            vectors(real, start, min(per_commit, count - start))
            for start in range(0, count, per_commit)
        ]
    )
    return Baselines(matrix=matrix, words=words)


async def timed(call: Callable[[], Awaitable[object]]) -> float:
    """Seconds that a call took."""
    begun = time.perf_counter()
    await call()
    return time.perf_counter() - begun


def line(name: str, seconds: Sequence[float], base: float) -> str:
    """A row of the table: median, 95th percentile, and the median as a part of the baseline."""
    high = quantiles(seconds, n=20)[-1]
    return (
        f"  {name:<34} p50 {median(seconds) * 1000:7.1f} ms  p95 {high * 1000:7.1f} ms"
        f"  {median(seconds) / base:6.2f} of the scan"
    )


async def latencies(
    index: Index, known: Mapping[str, list[float]], encoder_id: str, base: Baselines
) -> None:
    """Ask every query of everything in turn, and print the table."""
    engine = Engine(index, KnownQueries(encoder_id, known))
    view = await index.view()

    async def scan(query: str) -> object:
        return await asyncio.to_thread(base.scan, known[query])

    async def bm25(query: str) -> object:
        return await asyncio.to_thread(base.bm25, query)

    async def words(query: str) -> object:
        return await view.best_by_words(query, within=view.searchable, limit=CANDIDATES)

    async def nearest(query: str) -> object:
        return await view.near(known[query], within=view.searchable, limit=CANDIDATES)

    async def hybrid(query: str) -> object:
        return await engine.search(query, Scope(), HITS)

    asked = {
        "exact scan by numpy": scan,
        "bm25s": bm25,
        "words alone": words,
        "vectors alone": nearest,
        "hybrid search, whole": hybrid,
    }
    seconds: dict[str, list[float]] = {name: [] for name in asked}
    for place, query in enumerate(known):
        for name, ask in asked.items():
            taken = await timed(lambda ask=ask, query=query: ask(query))  # type: ignore[misc]
            if place >= WARM_UP:
                seconds[name].append(taken)
    for name, taken_by in seconds.items():
        print(line(name, taken_by, median(seconds["exact scan by numpy"])))


async def recall(index: Index, known: Mapping[str, list[float]], base: Baselines) -> float:
    """Of the exact nearest passages of real queries, the share that the index finds."""
    view = await index.view()
    hits = 0
    for vector in known.values():
        truth = {f"p{place:08d}" for place in base.scan(vector)}
        found = await view.near(vector, within=view.searchable, limit=CANDIDATES)
        hits += len(truth & {one.passage_id for one in found})
    return hits / (CANDIDATES * len(known))


async def process(folder: Path, queries: Sequence[str]) -> None:
    """The real search process over this index: whole replies, and resident memory."""
    with serving_search(folder) as (target, pid):
        async with open_channel(target) as channel:
            stub = rpc.SearchServiceStub(channel)
            seconds = []
            for query in queries:
                request = pb.SearchCorpusRequest(query=query, limit=HITS)
                seconds.append(await timed(lambda one=request: stub.SearchCorpus(one, timeout=60)))
        resident = psutil.Process(pid).memory_info().rss / MIB
    late = seconds[WARM_UP:]
    print(
        f"  over gRPC, query embedded: p50 {median(late) * 1000:.1f} ms, "
        f"p95 {quantiles(late, n=20)[-1] * 1000:.1f} ms; resident {resident:.0f} MiB"
    )


async def measure(count: int, real: Sources, encoder: OnnxEncoder, queries: list[str]) -> None:
    """Everything at one size."""
    print(f"{count:,} passages")
    known = {query: [float(x) for x in encoder.encode([query])[0]] for query in queries}
    folder = Path(tempfile.mkdtemp(prefix="zocrates-bench-"))
    try:
        await fill(folder, real, count, encoder.encoder_id)
        base = baselines(real, count)
        async with open_index(str(folder), cache_bytes=CACHE_BYTES) as index:
            await latencies(index, known, encoder.encoder_id, base)
            found = await recall(index, known, base)
            print(f"  recall of the exact {CANDIDATES} nearest, real queries: {found:.4f}")
        del base
        await process(folder, queries)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def main() -> None:
    """Measure every size and print it."""
    print(f"machine: {machine()}")
    encoder = OnnxEncoder(models_folder() / EMBEDDING_FOLDER)
    queries = list(scifact("test").queries.values())[: QUERIES + WARM_UP]
    async with encoder_lanes(encoder) as lanes:
        embedding = [await timed(lambda q=query: lanes.encode_query(q)) for query in queries]
    print(f"query embedding p50 {median(embedding[WARM_UP:]) * 1000:.1f} ms")
    real = sources(encoder)
    for size in os.environ.get("SIZES", SIZES).split():
        await measure(int(size), real, encoder, queries)


if __name__ == "__main__":
    asyncio.run(main())
