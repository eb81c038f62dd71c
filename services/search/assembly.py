"""How the parts of the search process are put together."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from services.chassis.server import Register, serve
from services.chassis.telemetry import EventLog
from services.search.encoder import Encoder, EncoderUnusable, load_encoder
from services.search.encoder_lanes import EncoderLanes, encoder_lanes
from services.search.engine import Engine
from services.search.index import Index, local_folder, open_index
from services.search.index_writer import IndexWriter
from services.search.library.embedding import Embedder
from services.search.library.sqlite_snapshot import SqliteSnapshot
from services.search.library.sync import Librarian, LibrarySync, NoLibrarian, WriterLock
from services.search.library.text_sync import TextSync
from services.search.library.watch import library_signature
from services.search.library_servicer import LibraryServicer
from services.search.reading import DocumentReader
from services.search.servicer import SearchServicer
from services.search.settings import Settings
from services.search.text.extraction import Extractor
from zocrates.search.v1 import search_pb2 as pb
from zocrates.search.v1 import search_pb2_grpc as rpc

SERVICES = pb.DESCRIPTOR.services_by_name

log = EventLog(__name__)


async def serve_search(settings: Settings, stop: asyncio.Event) -> None:
    """Serve until told to stop; raises EncoderUnusable, IndexUnusable, PortTaken."""
    async with assembled(settings) as services:
        await serve(settings, services, until=stop)


@asynccontextmanager
async def assembled(settings: Settings) -> AsyncIterator[Mapping[str, Register]]:
    """The services of the process over an open index, which is kept in step meanwhile.

    Raises IndexUnusable, and EncoderUnusable when a model was configured that cannot be loaded.
    """
    async with AsyncExitStack() as stack:
        loading = asyncio.to_thread(_load, settings)
        opening = stack.enter_async_context(
            open_index(settings.index_uri, cache_bytes=settings.index_cache_bytes)
        )
        (encoder, why), index = await asyncio.gather(loading, opening)
        lanes = await stack.enter_async_context(encoder_lanes(encoder)) if encoder else None
        engine = Engine(index, lanes, why)
        librarian = await stack.enter_async_context(_librarian(settings, index, lanes))
        yield {
            SERVICES["SearchService"].full_name: partial(
                rpc.add_SearchServiceServicer_to_server,
                SearchServicer(engine, DocumentReader(index)),
            ),
            SERVICES["LibraryService"].full_name: partial(
                rpc.add_LibraryServiceServicer_to_server, LibraryServicer(index, engine, librarian)
            ),
        }


def _load(settings: Settings) -> tuple[Encoder | None, str]:
    """The encoder, or why there is none: without an export the words alone are searched."""
    try:
        return load_encoder(settings), ""
    except EncoderUnusable as error:
        if settings.model:
            raise
        log.warning("no_encoder", message=str(error))
        return None, str(error)


@asynccontextmanager
async def _librarian(
    settings: Settings, index: Index, lanes: EncoderLanes | None
) -> AsyncIterator[Librarian]:
    """Whoever keeps the index; a real one works in the background until the block is left."""
    if settings.role == "reader":
        yield NoLibrarian("This process only reads the index; ask the one that writes it.")
        return
    if settings.library_dir is None:
        yield NoLibrarian("No Zotero library is set: SEARCH_LIBRARY_DIR names its data folder.")
        return
    writer = IndexWriter(index)
    source = SqliteSnapshot(settings.library_dir, settings.base_folder)
    sync = LibrarySync(
        index,
        writer,
        source,
        TextSync(index, writer, open_reader=Extractor, readers=settings.readers),
        embedder=Embedder(index, writer, lanes) if lanes else None,
        encoder_id=lanes.encoder_id if lanes else None,
        lock=WriterLock(local_folder(settings.index_uri)),
        signature=partial(library_signature, settings.library_dir),
        recheck_s=settings.recheck_s,
        demo=settings.demo,
    )
    async with asyncio.TaskGroup() as group:
        working = group.create_task(sync.run())
        try:
            yield sync
        finally:
            # Whatever is half written stays invisible, and the next start continues.
            working.cancel()
