"""Embedding against sentence-transformers, and indexing PDF files: `make bench-embedding`.

Both encoders get the same texts in turn, slice by slice, so that whatever else the machine does
falls on both. What reduced precision costs is measured on a judged collection.
"""

import asyncio
import os
import tempfile
import time
from pathlib import Path
from shutil import copyfile

import numpy as np

from deploy.model_folder import models_folder
from deploy.models import packaged_model
from services.search.encoder import (
    EMBEDDING_FOLDER,
    OnnxEncoder,
    SentenceTransformerEncoder,
    Vectors,
)
from services.search.encoder_lanes import EncoderLanes, encoder_lanes
from services.search.index import Index
from services.search.index_schema import embedded_text
from services.search.text.extraction import Extractor
from tests.bench.machine import machine
from tests.bench.retrieval_data import DATA, Collection, cranfield, scifact
from tests.bench.retrieval_measures import quality
from tests.bench.retrieval_vectors import vectors_of
from tests.fakes.search_library import FakeSource, Shelf
from tests.fakes.search_stage import search_stage
from zocrates.search.v1 import search_pb2 as pb

TEXTS = 192
SLICE = 32
THREADS = min(4, os.cpu_count() or 1)
DEPTH = 100
PAPERS = (
    "molecular_explanations.pdf",
    "pasa_paper_search_agent.pdf",
    "arxiv_0807_3577.pdf",
    "arxiv_0908_0054.pdf",
    "multi_page.pdf",
    "code_and_formula.pdf",
)


async def throughput(lanes: EncoderLanes, original: SentenceTransformerEncoder) -> None:
    """Texts a second of both, and how alike the vectors are."""
    count = int(os.environ.get("TEXTS", TEXTS))
    texts = [f"{one.title}\n{one.text}" for one in scifact("test").documents.values()][:count]
    original.encode(texts[:SLICE])
    await lanes.encode_passages(texts[:SLICE])
    theirs = ours = their_processor = our_processor = 0.0
    cosines = []
    for start in range(0, len(texts), SLICE):
        some = texts[start : start + SLICE]
        begun, processor = time.perf_counter(), time.process_time()
        wanted = original.encode(some)
        theirs += time.perf_counter() - begun
        their_processor += time.process_time() - processor
        begun, processor = time.perf_counter(), time.process_time()
        got = np.stack(await lanes.encode_passages(some))
        ours += time.perf_counter() - begun
        our_processor += time.process_time() - processor
        cosines.append((wanted * got).sum(axis=1))
    all_cosines = np.concatenate(cosines)
    print(
        f"{len(texts)} abstracts: SentenceTransformer.encode {len(texts) / theirs:.1f}/s, ours "
        f"{len(texts) / ours:.1f}/s = {theirs / ours:.2f} times (processor time "
        f"{their_processor / our_processor:.2f} times); "
        f"cosine mean {all_cosines.mean():.4f}, least {all_cosines.min():.4f}"
    )


def ranking_quality(
    collection: Collection, encoder: OnnxEncoder | SentenceTransformerEncoder
) -> float:
    """nDCG@10 of the vectors alone."""
    texts = [embedded_text(one.title, one.text) for one in collection.documents.values()]
    documents = vectors_of(texts, encoder)
    queries = vectors_of(list(collection.queries.values()), encoder)
    ids = list(collection.documents)
    rankings = [[ids[int(place)] for place in row] for row in _best(queries @ documents.T)]
    relevant = [collection.relevant[query] for query in collection.queries]
    return float(quality(rankings, relevant).gain.mean())


def _best(scores: Vectors) -> list[list[int]]:
    return [list(np.argsort(-row)[:DEPTH]) for row in scores]


async def indexing(folder: Path, encoder: OnnxEncoder) -> None:
    """A library of PDF files through extraction, tables and vectors, beside the encoder alone."""
    shelf = Shelf(folder)
    for name in PAPERS:
        key = name.split(".")[0].upper()
        shelf.item(key, name).file(f"F{key}", key, "")
        copyfile(DATA / "papers" / name, folder / f"F{key}.pdf")
    source = FakeSource(records=shelf.records)
    begun = time.perf_counter()
    text_s = 0.0
    async with search_stage(
        folder / "index", source, encoder=encoder, open_reader=Extractor, threads=THREADS
    ) as stage:
        async for report in stage.library.Sync(pb.SyncRequest(), timeout=3600):
            if report.phase == pb.SYNC_PHASE_VECTORS and not text_s:
                text_s = time.perf_counter() - begun
        whole = time.perf_counter() - begun
        passages, raw_s = await _raw(stage.index, encoder)
    print(
        f"{len(PAPERS)} PDF files, {passages} passages: text {text_s:.1f} s, then vectors "
        f"{whole - text_s:.1f} s, {passages / whole:.1f} passages/s in all; the encoder alone "
        f"{passages / raw_s:.1f}/s, of which indexing reaches {raw_s / whole:.2f}"
    )


async def _raw(index: Index, encoder: OnnxEncoder) -> tuple[int, float]:
    """The same texts through the encoder alone."""
    texts = [
        embedded_text(document.title, passage.text)
        for document in (await index.documents()).by_id.values()
        for passage in await index.passages_of(document)
    ]
    async with encoder_lanes(encoder, threads=THREADS) as lanes:
        begun = time.perf_counter()
        await lanes.encode_passages(texts)
        return len(texts), time.perf_counter() - begun


async def main() -> None:
    """Measure and print."""
    print(f"machine: {machine()}")
    encoder = OnnxEncoder(models_folder() / EMBEDDING_FOLDER)
    original = SentenceTransformerEncoder(str(packaged_model()), device="cpu")
    async with encoder_lanes(encoder, threads=THREADS) as lanes:
        await throughput(lanes, original)
    with tempfile.TemporaryDirectory(prefix="zocrates-bench-") as folder:
        await indexing(Path(folder), encoder)
    collection = cranfield()
    full, small = (ranking_quality(collection, one) for one in (original, encoder))
    print(
        f"{collection.name}, vectors alone: nDCG@10 {full:.4f} by the original, {small:.4f} ours, "
        f"difference {small - full:+.4f}"
    )


if __name__ == "__main__":
    asyncio.run(main())
