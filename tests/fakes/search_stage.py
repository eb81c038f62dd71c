"""The search process over a library of the tests, with real tables and real gRPC."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from services.chassis.channel import open_channel
from services.chassis.server import serving
from services.search.crossing import Crossing
from services.search.demand import Demand
from services.search.encoder import Encoder
from services.search.encoder_lanes import encoder_lanes
from services.search.engine import Engine
from services.search.index import Index, open_index
from services.search.index_writer import IndexWriter
from services.search.library.embedding import Embedder
from services.search.library.sync import LibrarySync
from services.search.library.text_sync import OpenReader, TextSync
from services.search.library.writer_lock import WriterLock
from services.search.library_servicer import LibraryServicer
from services.search.reading import DocumentReader
from services.search.scopes import Scopes
from services.search.servicer import SearchServicer
from tests.fakes.search_library import FakeSource, FakeSources, FormFeedReader, WordEncoder
from zocrates.search.v1 import search_pb2 as pb
from zocrates.search.v1 import search_pb2_grpc as rpc

SEARCH = pb.DESCRIPTOR.services_by_name["SearchService"].full_name
LIBRARY = pb.DESCRIPTOR.services_by_name["LibraryService"].full_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The search process over an index folder."""

    index: Index
    writer: IndexWriter
    engine: Engine
    sync: LibrarySync
    source: FakeSource
    reader: FormFeedReader
    search: "rpc.SearchServiceAsyncStub"
    library: "rpc.LibraryServiceAsyncStub"

    async def synced(self, *, full: bool = False) -> list[pb.SyncProgress]:
        """Sync through gRPC and return the progress."""
        call = self.library.Sync(pb.SyncRequest(full=full), timeout=30)
        return [report async for report in call]

    async def hits(self, query: str, **request: object) -> list[pb.Hit]:
        """Search through gRPC."""
        message = pb.SearchCorpusRequest(query=query, **request)  # type: ignore[arg-type]
        return list((await self.search.SearchCorpus(message, timeout=30)).hits)


@asynccontextmanager
async def search_stage(
    folder: Path,
    source: FakeSource,
    *,
    encoder: Encoder | None = None,
    reader: FormFeedReader | None = None,
    recheck_s: float = 3600,
    sources: FakeSources | None = None,
    readers: int = 2,
    open_reader: OpenReader | None = None,
    threads: int = 1,
) -> AsyncIterator[Stage]:
    """The real index, engine, sync and servicers; only library, reader and model are the test's."""
    chosen = encoder or WordEncoder()
    pages = reader or FormFeedReader()
    async with (
        open_index(str(folder), cache_bytes=1 << 24) as index,
        encoder_lanes(chosen, threads=threads) as lanes,
    ):
        writer = IndexWriter(index)
        engine, scopes, demand = Engine(index, lanes), Scopes(index), Demand()
        sync = LibrarySync(
            index,
            writer,
            sources or FakeSources(first=source),
            TextSync(index, writer, open_reader=open_reader or (lambda: pages), readers=readers),
            embedder=Embedder(index, writer, lanes, demand),
            encoder_id=chosen.encoder_id,
            lock=WriterLock(folder),
            recheck_s=recheck_s,
        )
        services = {
            SEARCH: lambda server: rpc.add_SearchServiceServicer_to_server(
                SearchServicer(engine, DocumentReader(index), scopes, demand, Crossing(lanes)),
                server,
            ),
            LIBRARY: lambda server: rpc.add_LibraryServiceServicer_to_server(
                LibraryServicer(index, engine, scopes, sync), server
            ),
        }
        working = asyncio.create_task(sync.run())
        try:
            async with (
                serving(services) as running,
                open_channel(f"127.0.0.1:{running.port}") as channel,
            ):
                yield Stage(
                    index=index,
                    writer=writer,
                    engine=engine,
                    sync=sync,
                    source=source,
                    reader=pages,
                    search=rpc.SearchServiceStub(channel),
                    library=rpc.LibraryServiceStub(channel),
                )
        finally:
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working
