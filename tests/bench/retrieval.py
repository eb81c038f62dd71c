"""Ranking on three judged collections beside what else one would take: `make bench-retrieval`.

Every document is one passage of a real index, and every ranking is made by the engine that serves.
Parameters were chosen on the training claims of SciFact; `--train` shows these instead.
"""

import argparse
import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import bm25s
import numpy as np
import snowballstemmer
from numpy.typing import NDArray

from deploy.model_folder import models_folder
from services.search import index_schema as schema
from services.search.encoder import EMBEDDING_FOLDER, Encoder, OnnxEncoder, Vectors
from services.search.encoder_lanes import encoder_lanes
from services.search.engine import MAX_QUERY_CHARACTERS, Engine
from services.search.index import open_index
from services.search.index_rows import (
    IndexedDocument,
    IndexedPassage,
    IndexedText,
    Kind,
    Reading,
)
from services.search.index_writer import IndexWriter, Unembedded
from services.search.scope import Scope
from tests.bench.machine import machine
from tests.bench.retrieval_data import Collection, Text, cisi, cranfield, scifact
from tests.bench.retrieval_measures import RECALL_DEPTH, Quality, difference, quality
from tests.bench.retrieval_vectors import vectors_of

CACHE_BYTES = 128 * 1024 * 1024
COMMITTED_AT_ONCE = 500
RANK_CONSTANT = 60
OURS = "zocrates"

Scores = NDArray[np.float64]


class KeptEncoder:
    """The product's encoder, which remembers across measurements what it embedded."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.encoder_id = encoder.encoder_id
        self.dimensions = encoder.dimensions

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        return vectors_of(texts, self._encoder)


def indexed(document_id: str, text: Text) -> IndexedText:
    """A document whose one passage is its whole text."""
    body = text.text or text.title
    passage = IndexedPassage(
        passage_id=document_id,
        document_id=document_id,
        generation=schema.new_generation(),
        ordinal=0,
        section_id="s1",
        section_path=(),
        text=body,
        words=len(body.split()),
        spans=(),
        digest=schema.digest_of(text.title, body),
    )
    document = IndexedDocument(
        document_id=document_id,
        generation=passage.generation,
        library="user",
        item_key=document_id,
        attachment_key="",
        kind=Kind.ABSTRACT,
        title=text.title,
        creators=(),
        year="",
        citation_key="",
        tags=(),
        collections=(),
        page_count=0,
        reading=Reading.FULL,
        reading_reason="",
        skip="",
        fingerprint="",
        passages=1,
        words=passage.words,
    )
    return IndexedText(document=document, sections=(), passages=(passage,), pages=())


@asynccontextmanager
async def engine_on(
    texts: Sequence[IndexedText], vectors: Vectors, encoder: Encoder
) -> AsyncIterator[Engine]:
    """The engine over an index of these documents."""
    with tempfile.TemporaryDirectory(prefix="zocrates-bench-") as folder:
        async with (
            open_index(str(Path(folder) / "index"), cache_bytes=CACHE_BYTES) as index,
            encoder_lanes(encoder) as lanes,
        ):
            writer = IndexWriter(index)
            for start in range(0, len(texts), COMMITTED_AT_ONCE):
                await writer.commit(texts[start : start + COMMITTED_AT_ONCE])
            unembedded = [
                Unembedded(
                    passage_id=one.passages[0].passage_id,
                    document_id=one.document.document_id,
                    digest=one.passages[0].digest,
                )
                for one in texts
            ]
            await writer.activate(encoder.encoder_id)
            await writer.add_vectors(encoder.encoder_id, unembedded, vectors)
            await writer.tidy(encoder.encoder_id)
            yield Engine(index, lanes)


async def ours(engine: Engine, queries: Sequence[str]) -> list[list[str]]:
    """What the product's search returns, best first; longer queries than it takes are cut."""
    rankings = []
    for query in queries:
        result = await engine.search(query[:MAX_QUERY_CHARACTERS], Scope(), RECALL_DEPTH)
        rankings.append([hit.document.document_id for hit in result.hits])
    return rankings


def bm25_scores(texts: Sequence[IndexedText], queries: Sequence[str]) -> Scores:
    """BM25 as bm25s computes it: its English stop words, Snowball's stemmer, title and text."""
    stemmer = snowballstemmer.stemmer("english")

    def tokens(corpus: Sequence[str]) -> list[list[str]]:
        return list(
            bm25s.tokenize(
                list(corpus),
                stopwords="en",
                stemmer=stemmer.stemWords,
                return_ids=False,
                show_progress=False,
            )
        )

    retriever = bm25s.BM25()
    retriever.index(
        tokens([f"{one.document.title} {one.passages[0].text}" for one in texts]),
        show_progress=False,
    )
    return np.stack([retriever.get_scores(query) for query in tokens(queries)])


def reciprocal(*scores: Scores) -> Scores:
    """Reciprocal rank fusion."""
    ranks = [np.argsort(np.argsort(-one, axis=1, kind="stable"), axis=1) + 1 for one in scores]
    return np.asarray(np.sum([1 / (RANK_CONSTANT + one) for one in ranks], axis=0))


def convex(left: Scores, right: Scores) -> Scores:
    """The mean of two scores, each stretched to 0 to 1 for every query."""
    return (_stretched(left) + _stretched(right)) / 2


def _stretched(scores: Scores) -> Scores:
    low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    return np.asarray((scores - low) / np.maximum(high - low, 1e-9))


def best_first(scores: Scores, ids: Sequence[str]) -> list[list[str]]:
    """The ids in the order of their scores, as deep as recall looks."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :RECALL_DEPTH]
    return [[ids[index] for index in row] for row in order]


async def measured(collection: Collection, encoder: Encoder) -> Mapping[str, Quality]:
    """The quality of our ranking and of four others, by name."""
    texts = [indexed(key, text) for key, text in collection.documents.items()]
    queries = list(collection.queries.values())
    relevant = [collection.relevant[key] for key in collection.queries]
    vectors = encoder.encode(
        [schema.embedded_text(one.document.title, one.passages[0].text) for one in texts]
    )
    words = bm25_scores(texts, queries)
    meaning = np.asarray(encoder.encode(queries) @ vectors.T, dtype=np.float64)
    ids = list(collection.documents)
    rankings = {
        "bm25s": best_first(words, ids),
        "dense": best_first(meaning, ids),
        "reciprocal ranks": best_first(reciprocal(words, meaning), ids),
        "convex 0.5": best_first(convex(words, meaning), ids),
    }
    async with engine_on(texts, vectors, encoder) as engine:
        rankings[OURS] = await ours(engine, queries)
    return {name: quality(ranking, relevant) for name, ranking in rankings.items()}


def report(collection: Collection, found: Mapping[str, Quality]) -> None:
    """Print the means and how far ours is from each."""
    print(f"\n{collection.name}: {len(collection.queries)} queries, nDCG@10 / R@100")
    mine = found[OURS]
    for name, theirs in found.items():
        print(f"  {name:18} {theirs.means()}", end="")
        if name != OURS:
            print(
                f"   ours less this: {difference(mine.gain, theirs.gain)}"
                f" / {difference(mine.recall, theirs.recall)}",
                end="",
            )
        print(flush=True)


async def main() -> None:
    """Measure and print every collection."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", action="store_true", help="the claims parameters were chosen on")
    options = parser.parse_args()
    print(machine())
    encoder = KeptEncoder(OnnxEncoder(models_folder() / EMBEDDING_FOLDER))
    print(f"encoder: {encoder.encoder_id}")
    sets = [scifact("train")] if options.train else [scifact("test"), cranfield(), cisi()]
    for collection in sets:
        report(collection, await measured(collection, encoder))


if __name__ == "__main__":
    asyncio.run(main())
