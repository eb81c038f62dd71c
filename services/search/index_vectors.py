"""The graph of neighbours that finds the nearest vectors once they are many."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from services.search.index_keys import Numbers, row_ids
from services.search.index_queries import rows_of

if TYPE_CHECKING:
    from lancedb.table import AsyncTable

COLUMN = "vector"
# Below this many vectors looking at each one is as fast, and exact.
GRAPH_FROM = 20_000
# Of the true neighbours, how many a search along the graph has to find, in the mean.
LEAST_RECALL = 0.98
# How many places of the graph a search keeps in view; the first that is good enough is taken.
BEAMS = (200, 400, 800)
# The graph holds vectors of eight bits, so its order is nearly the true one: so many times as many
# as asked for are returned, for whoever compares them with the real vectors.
MARGIN = 1.25
# How deep queries look, and how many stored vectors stand in for queries.
DEPTH = 80
SAMPLES = 32
# A graph is made anew when the vectors are so many times as many, or when this many pieces were
# added to it: each piece is searched by itself.
GROWTH = 1.5
MOST_PIECES = 8
PER_PARTITION = 1_000_000
BUILD_DEADLINE = timedelta(hours=6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """What is known of a table's graph."""

    table: str
    vectors: int
    """How many it was made for."""
    recall: float
    """Measured against the exact search when it was made."""
    beam: int
    """0: no beam was good enough, so there is none and every vector is looked at."""


def graph_json(graph: Graph) -> str:
    """The graph as kept in the manifest."""
    return json.dumps(asdict(graph))


def graph_of(text: str) -> Graph:
    """The graph that the manifest keeps."""
    return Graph(**json.loads(text))


async def neighbours(
    table: "AsyncTable", vector: Sequence[float], *, count: int, beam: int
) -> Numbers:
    """Row ids of the rows with the highest cosines, best first.

    A beam of 0 looks at every row. Along a graph the order is nearly the true one, and somewhat
    more than `count` rows are returned.
    """
    search = table.query().nearest_to(list(vector)).distance_type("cosine")
    if beam:
        count = round(MARGIN * count)
        search = search.ef(max(beam, 2 * count))
    else:
        search = search.bypass_vector_index()
    # The distance is asked for because nothing but a row id cannot be.
    return row_ids(await rows_of(search.with_row_id().select(["_distance"]).limit(count)))


async def graph_is_due(table: "AsyncTable", known: Graph | None, *, graph_from: int) -> bool:
    """Whether a graph should be made, or made anew."""
    rows = await table.count_rows()
    if rows < graph_from:
        return False
    if known is None or known.table != table.name or rows > GROWTH * known.vectors:
        return True
    return bool(known.beam) and await _pieces(table) > MOST_PIECES


async def make_graph(table: "AsyncTable") -> Graph:
    """Make the graph and measure it; takes minutes for many vectors, while reading goes on."""
    from lancedb.index import HnswSq

    rows = await table.count_rows()
    config = HnswSq(distance_type="cosine", num_partitions=max(1, rows // PER_PARTITION))
    await table.create_index(COLUMN, config=config, replace=True, wait_timeout=BUILD_DEADLINE)
    samples = await _samples(table, rows)
    truth = [await _nearest(table, vector, beam=0) for vector in samples]
    recall = 0.0
    for beam in BEAMS:
        found = [await _nearest(table, vector, beam=beam) for vector in samples]
        hits = sum(len(one & true) for one, true in zip(found, truth, strict=True))
        recall = hits / sum(map(len, truth))
        if recall >= LEAST_RECALL:
            return Graph(table=table.name, vectors=rows, recall=recall, beam=beam)
    for name in await _graphs(table):
        await table.drop_index(name)
    return Graph(table=table.name, vectors=rows, recall=recall, beam=0)


async def _samples(table: "AsyncTable", rows: int) -> list[list[float]]:
    """Stored vectors from all over the table."""
    offsets = [place * rows // SAMPLES for place in range(SAMPLES)]
    taken = await table.take_offsets(offsets).select([COLUMN]).to_list()
    return [row[COLUMN] for row in taken]


async def _nearest(table: "AsyncTable", vector: Sequence[float], *, beam: int) -> set[int]:
    return set((await neighbours(table, vector, count=DEPTH, beam=beam)).tolist())


async def _graphs(table: "AsyncTable") -> list[str]:
    return [index.name for index in await table.list_indices() if index.columns == [COLUMN]]


async def _pieces(table: "AsyncTable") -> int:
    stats = [await table.index_stats(name) for name in await _graphs(table)]
    return max((one.num_indices or 1 for one in stats if one), default=0)
