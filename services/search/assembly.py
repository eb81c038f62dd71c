"""How the parts of the search process are put together."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from services.chassis.metrics import Metrics, new_registry
from services.chassis.server import Register, serve
from services.chassis.telemetry import EventLog
from services.search.crossing import Crossing
from services.search.demand import Demand
from services.search.encoder import Encoder, EncoderUnusable, encoder_threads, load_encoder
from services.search.encoder_lanes import EncoderLanes, encoder_lanes
from services.search.engine import Engine
from services.search.index import Index, open_index
from services.search.index_tables import local_folder
from services.search.index_writer import IndexWriter
from services.search.library.embedding import Embedder
from services.search.library.librarian import Librarian, NoLibrarian
from services.search.library.source_choice import Sources
from services.search.library.sqlite_snapshot import SqliteSnapshot
from services.search.library.sync import LibrarySync
from services.search.library.text_sync import TextSync
from services.search.library.writer_lock import WriterLock
from services.search.library_servicer import LibraryServicer
from services.search.library_state import SourceChoice
from services.search.metrics import IndexMetrics
from services.search.reading import DocumentReader
from services.search.scopes import Scopes
from services.search.servicer import SearchServicer
from services.search.settings import Settings
from services.search.text.extraction import Extractor
from zocrates.search.v1 import search_pb2 as pb
from zocrates.search.v1 import search_pb2_grpc as rpc

SERVICES = pb.DESCRIPTOR.services_by_name

# Beside the tables, so that whoever deletes an index deletes what was kept to make it.
SOURCE_CACHE = "source"

log = EventLog(__name__)


async def serve_search(settings: Settings, stop: asyncio.Event) -> None:
    """Serve until told to stop; raises EncoderUnusable, IndexUnusable, PortTaken."""
    registry = new_registry()
    counted = IndexMetrics(registry)
    async with assembled(settings, counted) as services:
        metrics = Metrics(registry=registry, look_up=counted.look_up)
        await serve(settings, services, until=stop, metrics=metrics)


@asynccontextmanager
async def assembled(
    settings: Settings, counted: IndexMetrics | None = None
) -> AsyncIterator[Mapping[str, Register]]:
    """The services of the process over an open index, which is kept in step meanwhile.

    Raises IndexUnusable, and EncoderUnusable when a model was configured that cannot be loaded.
    """
    async with AsyncExitStack() as stack:
        loading = asyncio.to_thread(_load, settings)
        opening = stack.enter_async_context(
            open_index(
                settings.index_uri,
                cache_bytes=settings.index_cache_bytes,
                storage={
                    name: value.get_secret_value() for name, value in settings.index_storage.items()
                },
            )
        )
        (encoder, why), index = await asyncio.gather(loading, opening)
        lanes = (
            await stack.enter_async_context(
                encoder_lanes(encoder, threads=encoder_threads(settings))
            )
            if encoder
            else None
        )
        engine, scopes, demand = Engine(index, lanes, why), Scopes(index), Demand()
        if counted is not None:
            counted.watch(index, engine)
        librarian = await stack.enter_async_context(_librarian(settings, index, lanes, demand))
        yield {
            SERVICES["SearchService"].full_name: partial(
                rpc.add_SearchServiceServicer_to_server,
                SearchServicer(engine, DocumentReader(index), scopes, demand, Crossing(lanes)),
            ),
            SERVICES["LibraryService"].full_name: partial(
                rpc.add_LibraryServiceServicer_to_server,
                LibraryServicer(index, engine, scopes, librarian),
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
    settings: Settings, index: Index, lanes: EncoderLanes | None, demand: Demand
) -> AsyncIterator[Librarian]:
    """Whoever keeps the index; a real one works in the background until the block is left."""
    if settings.role == "reader":
        yield NoLibrarian("This process only reads the index; ask the one that writes it.")
        return
    writer = IndexWriter(index)
    sync = LibrarySync(
        index,
        writer,
        _sources(settings),
        TextSync(index, writer, open_reader=Extractor, readers=settings.readers),
        embedder=Embedder(index, writer, lanes, demand) if lanes else None,
        encoder_id=lanes.encoder_id if lanes else None,
        lock=WriterLock(local_folder(settings.index_uri)),
        recheck_s=settings.recheck_s,
    )
    async with asyncio.TaskGroup() as group:
        working = group.create_task(sync.run())
        try:
            yield sync
        finally:
            # Whatever is half written stays invisible, and the next start continues.
            working.cancel()


def _sources(settings: Settings) -> Sources:
    """What the settings say of where the library is; a wrong setting is told by the first sync."""
    folder = local_folder(settings.index_uri)
    beside = folder / SOURCE_CACHE if folder is not None else None
    configured = SourceChoice(
        kind=settings.source,
        data_dir=str(settings.library_dir or ""),
        server=settings.server,
        base_folder=str(settings.base_folder or ""),
    )
    is_named = settings.library_dir is not None or settings.source != SqliteSnapshot.kind
    return Sources(
        configured=configured if is_named else None,
        cache_dir=settings.cache_dir or beside,
        web_key=settings.web_key.get_secret_value(),
        is_demo_library=settings.demo,
        is_changeable=settings.source_changeable,
    )
