"""Vectors for passages that have none, made in the background once their text is searchable."""

import asyncio

import numpy as np

from services.chassis.errors import Internal, ServiceError
from services.chassis.telemetry import EventLog
from services.search.demand import Demand
from services.search.encoder_lanes import EncoderLanes
from services.search.index import Index
from services.search.index_schema import embedded_text
from services.search.index_writer import IndexWriter, Unembedded
from services.search.library.progress import Board, Phase, Progress

# Vectors are committed so many at a time: a kill loses at most this much work.
BATCH = 128
# Each commit is a small file, and many of them make every search slower: they are looked after
# as often as this.
BATCHES_PER_TIDY = 8

log = EventLog(__name__)


class Embedder:
    """Keeps the vectors of one encoder complete; a new encoder's grow beside the old ones."""

    def __init__(
        self, index: Index, writer: IndexWriter, encoder: EncoderLanes, demand: Demand
    ) -> None:
        self._index = index
        self._demand = demand
        self._writer = writer
        self._encoder = encoder
        self._wanted = asyncio.Event()
        self._completed = asyncio.Event()
        self.board: Board | None = None
        """The work in hand; None while there is none."""

    def wake(self) -> Board:
        """Ask for the vectors of what is in the index now; returns where to watch."""
        self._wanted.set()
        return self._open_board()

    async def run(self) -> None:
        """Work whenever woken, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._embed_when_woken())
            group.create_task(self._graph_when_complete())

    async def _embed_when_woken(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            board = self._open_board()
            error = await self._attempt(board)
            if error is None:
                self._completed.set()
            if not self._wanted.is_set() or error is not None:
                self.board = None
                board.close(error)

    async def _graph_when_complete(self) -> None:
        """Beside the embedding, since a graph of many vectors takes minutes."""
        while True:
            await self._completed.wait()
            self._completed.clear()
            try:
                graph = await self._writer.keep_graph(self._encoder.encoder_id)
            except ServiceError as error:
                log.warning("graph_failed", reason=error.reason, message=error.message)
            except Exception as error:  # the edge of a background task; the next vectors try again
                log.error("graph_failed", error)
            else:
                if graph is not None:
                    log.info(
                        "graph_made",
                        vectors=graph.vectors,
                        recall=round(graph.recall, 4),
                        beam=graph.beam,
                    )

    def _open_board(self) -> Board:
        if self.board is None:
            self.board = Board(Progress(phase=Phase.VECTORS))
        return self.board

    async def _attempt(self, board: Board) -> ServiceError | None:
        try:
            await self._complete(board)
        except ServiceError as error:
            log.warning("embedding_stopped", reason=error.reason, message=error.message)
            return error
        except Exception as error:  # the edge of a background task: a bug must not end the process
            log.error("embedding_stopped", error)
            return Internal()
        return None

    async def _complete(self, board: Board) -> None:
        """Embed until nothing is missing; text that arrives meanwhile is seen after each batch."""
        encoder_id = self._encoder.encoder_id
        if not await self._index.active_encoder():
            # The first vectors of an index are useful one by one.
            await self._writer.activate(encoder_id)
        version = order = -1
        missing: list[Unembedded] = []
        batches = 0
        while True:
            documents = await self._index.documents()
            if documents.version != version:
                version = documents.version
                missing = await self._writer.unembedded(encoder_id)
                order = -1
            if self._demand.version != order:
                order = self._demand.version
                missing = self._demand.most_asked_first(missing, lambda one: one.document_id)
            total = documents.passages
            board.show(done=max(total - len(missing), 0), total=total)
            if not missing:
                break
            batch, missing = missing[:BATCH], missing[BATCH:]
            await self._embed(batch)
            batches += 1
            if not missing or batches % BATCHES_PER_TIDY == 0:
                await self._writer.tidy(encoder_id)
        if await self._index.active_encoder() != encoder_id:
            await self._writer.activate(encoder_id)
            log.info("vectors_swapped", encoder_id=encoder_id)

    async def _embed(self, batch: list[Unembedded]) -> None:
        documents = await self._index.documents()
        passages = await self._index.passages([one.passage_id for one in batch], documents)
        # A passage that was replaced since the list was made is left to the next list.
        wanted = [
            one
            for one in batch
            if one.passage_id in passages and passages[one.passage_id].digest == one.digest
        ]
        if not wanted:
            return
        texts = [
            embedded_text(documents.by_id[one.document_id].title, passages[one.passage_id].text)
            for one in wanted
        ]
        vectors = await self._encoder.encode_passages(texts)
        await self._writer.add_vectors(self._encoder.encoder_id, wanted, np.stack(vectors))
