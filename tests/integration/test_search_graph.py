"""Many vectors: a graph takes the place of looking at each one, and is measured against it."""

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from services.search import index_vectors
from services.search.index import Index, open_index
from services.search.index_writer import IndexWriter, Unembedded

ENCODER = "words/1"
COUNT = 1_500
DIMENSIONS = 32
PER_DOCUMENT = 10


def vectors(count: int, seed: int) -> NDArray[np.float32]:
    """Unit vectors that crowd together, as those of texts do."""
    random = np.random.default_rng(seed)
    topics = random.standard_normal((60, DIMENSIONS))
    rows = topics[random.integers(0, len(topics), count)]
    rows = rows + 0.5 * random.standard_normal((count, DIMENSIONS))
    unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("f4")
    return unit


async def add(writer: IndexWriter, rows: NDArray[np.float32], start: int = 0) -> None:
    passages = [
        Unembedded(
            passage_id=f"p{start + place}",
            document_id=f"d{(start + place) // PER_DOCUMENT}",
            digest="x",
        )
        for place in range(len(rows))
    ]
    await writer.add_vectors(ENCODER, passages, rows)


@pytest.fixture
async def stored(tmp_path: Path) -> AsyncIterator[tuple[Index, IndexWriter]]:
    async with open_index(str(tmp_path / "index"), cache_bytes=1 << 24) as index:
        writer = IndexWriter(index)
        await add(writer, vectors(COUNT, 1))
        yield index, writer


async def found(index: Index, vector: NDArray[np.float32]) -> list[str]:
    """Passages, best first."""
    table = await index.vectors(ENCODER)
    graph = await index.graph()
    assert table is not None
    beam = graph.beam if graph else 0
    rows = (await index_vectors.neighbours(table, list(vector), count=10, beam=beam)).tolist()
    taken = table.take_row_ids(rows).with_row_id().select(["passage_id"])
    names = {row["_rowid"]: row["passage_id"] for row in await taken.to_list()}
    return [names[row] for row in rows]


async def test_few_vectors_are_looked_at_one_by_one(stored: tuple[Index, IndexWriter]) -> None:
    index, writer = stored
    assert await writer.keep_graph(ENCODER, graph_from=COUNT + 1) is None
    assert await index.graph() is None
    mine = vectors(COUNT, 1)
    best = await found(index, mine[7])
    truth = np.argsort(-(mine @ mine[7]))[:10]
    assert best == [f"p{place}" for place in truth]


async def test_a_graph_finds_what_the_exact_search_finds(
    stored: tuple[Index, IndexWriter],
) -> None:
    index, writer = stored
    exact = await found(index, vectors(1, 2)[0])
    graph = await writer.keep_graph(ENCODER, graph_from=COUNT)
    assert graph is not None
    assert graph == await index.graph()
    assert (graph.vectors, graph.recall >= index_vectors.LEAST_RECALL) == (COUNT, True)
    near = await found(index, vectors(1, 2)[0])
    assert len(set(near) & set(exact)) >= 9


async def test_vectors_that_came_after_the_graph_are_found_and_it_is_not_made_again(
    stored: tuple[Index, IndexWriter],
) -> None:
    index, writer = stored
    await writer.keep_graph(ENCODER, graph_from=COUNT)
    late = vectors(40, 3)
    await add(writer, late, start=COUNT)
    assert (await found(index, late[5]))[0] == f"p{COUNT + 5}"
    assert await writer.keep_graph(ENCODER, graph_from=COUNT) is None
    await add(writer, vectors(COUNT, 4), start=2 * COUNT)
    again = await writer.keep_graph(ENCODER, graph_from=COUNT)
    assert again is not None
    assert again.vectors == 2 * COUNT + 40


async def test_a_graph_that_misses_too_much_is_given_up(
    stored: tuple[Index, IndexWriter], monkeypatch: pytest.MonkeyPatch
) -> None:
    index, writer = stored
    monkeypatch.setattr(index_vectors, "LEAST_RECALL", 1.1)
    graph = await writer.keep_graph(ENCODER, graph_from=COUNT)
    assert graph is not None
    assert graph.beam == 0
    table = await index.vectors(ENCODER)
    assert table is not None
    assert {column for one in await table.list_indices() for column in one.columns} == {
        "passage_id",
        "document_id",
    }
    assert await writer.keep_graph(ENCODER, graph_from=COUNT) is None
