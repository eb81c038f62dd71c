"""LibraryService on the wire."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from services.chassis.server import Context
from services.search import convert
from services.search.engine import Engine
from services.search.index import Index
from services.search.index_rows import Documents, Reading
from services.search.library.changes import item_readings
from services.search.library.librarian import Librarian, Origin, Wish
from services.search.library.progress import Phase
from services.search.library_state import LibraryState, SourceChoice
from services.search.listing import choices, page_of
from services.search.scopes import Scopes
from zocrates.search.v1 import search_pb2 as pb
from zocrates.search.v1 import search_pb2_grpc as rpc
from zocrates.search.v1 import sync_control_pb2

DEFAULT_DOCUMENTS = 50
MOST_DOCUMENTS = 200


class LibraryServicer(rpc.LibraryServiceServicer):
    """Asks for syncs and tells how the index stands."""

    def __init__(self, index: Index, engine: Engine, scopes: Scopes, librarian: Librarian) -> None:
        self._index = index
        self._engine = engine
        self._scopes = scopes
        self._librarian = librarian

    async def Sync(
        self, request: pb.SyncRequest, context: Context
    ) -> AsyncIterator[pb.SyncProgress]:
        """Bring the index up to date and stream the progress; the last report names the skips."""
        async for progress in self._librarian.sync(
            Wish(everything=request.full, unread=request.retry_failed)
        ):
            report = convert.progress_to_proto(progress)
            if progress.phase is Phase.DONE:
                documents = await self._index.documents()
                report.skipped.extend(convert.skips_to_proto(documents.by_id.values()))
            yield report

    async def StopSync(
        self, request: sync_control_pb2.StopSyncRequest, context: Context
    ) -> sync_control_pb2.StopSyncResponse:
        """End the running sync where it is."""
        return sync_control_pb2.StopSyncResponse(stopped=self._librarian.stop())

    async def GetStatus(
        self, request: pb.GetStatusRequest, context: Context
    ) -> pb.GetStatusResponse:
        """Tell the source, its age, the counts, the encoder and what could not be read."""
        documents = await self._index.documents()
        state = await self._index.state()
        done, total = await self._engine.coverage()
        running = self._librarian.running
        # A reader tells what the writer left.
        origin = self._librarian.origin or Origin(
            kind=state.source_kind,
            location=state.source_location,
            program=state.source_program,
            demo=state.demo,
        )
        unfinished = state.unfinished if running is None else None
        return pb.GetStatusResponse(
            source_kind=origin.kind,
            source_location=origin.location,
            demo=origin.demo,
            synced_at=_timestamp(state),
            age=_age(state),
            counts=_counts(documents),
            vectors=pb.VectorCoverage(done=done, total=total),
            running=convert.progress_to_proto(running) if running else None,
            encoder_id=await self._index.active_encoder(),
            skipped=convert.skips_to_proto(documents.by_id.values()),
            last_error=self._librarian.last_error or state.last_error,
            libraries=state.libraries,
            source_program=origin.program or state.source_program,
            source_notices=state.notices,
            unfinished=convert.unfinished_to_proto(unfinished) if unfinished else None,
            duplicates=len(state.aliases),
        )

    async def SetSource(
        self, request: pb.SetSourceRequest, context: Context
    ) -> pb.SetSourceResponse:
        """Read the library from another place from now on."""
        await self._librarian.choose(
            SourceChoice(
                kind=request.kind,
                data_dir=request.data_dir,
                server=request.server,
                base_folder=request.base_folder,
            )
        )
        return pb.SetSourceResponse()

    async def ListCollections(
        self, request: pb.ListCollectionsRequest, context: Context
    ) -> pb.ListCollectionsResponse:
        """List what a scope can name, with counts."""
        documents = await self._index.documents()
        libraries = convert.selection_of(request)
        # Ten thousand documents are counted in a thread, so that queries go on.
        found = await asyncio.to_thread(
            choices, documents.by_id.values(), await self._index.state(), libraries
        )
        return convert.choices_to_proto(found)

    async def ListDocuments(
        self, request: pb.ListDocumentsRequest, context: Context
    ) -> pb.ListDocumentsResponse:
        """List the documents of a scope by title."""
        limit = convert.bounded(
            "limit", request.limit, default=DEFAULT_DOCUMENTS, most=MOST_DOCUMENTS
        )
        scope = await self._scopes.resolved(convert.scope_of(request.scope))
        documents = await self._index.documents()
        within = [one for one in documents.by_id.values() if one.passages and scope.admits(one)]
        page = await asyncio.to_thread(
            page_of, within, query=request.query, limit=limit, cursor=request.cursor
        )
        return convert.document_page_to_proto(page, (await self._index.state()).aliases)

    async def NotifyChange(
        self, request: sync_control_pb2.NotifyChangeRequest, context: Context
    ) -> sync_control_pb2.NotifyChangeResponse:
        """Look at the library soon."""
        self._librarian.notify()
        return sync_control_pb2.NotifyChangeResponse()


def _timestamp(state: LibraryState) -> Timestamp | None:
    if not state.synced_at_ms:
        return None
    timestamp = Timestamp()
    timestamp.FromMilliseconds(state.synced_at_ms)
    return timestamp


def _age(state: LibraryState) -> Duration | None:
    if not state.synced_at_ms:
        return None
    age = Duration()
    age.FromTimedelta(
        timedelta(milliseconds=max(time.time_ns() // 1_000_000 - state.synced_at_ms, 0))
    )
    return age


def _counts(documents: Documents) -> pb.LibraryCounts:
    readings = Counter(item_readings(documents.by_id.values()).values())
    return pb.LibraryCounts(
        items=readings.total(),
        documents=sum(1 for document in documents.by_id.values() if document.passages),
        passages=documents.passages,
        read_in_full=readings[Reading.FULL],
        read_in_part=readings[Reading.PARTIAL],
        abstract_only=readings[Reading.ABSTRACT_ONLY],
        unreadable=readings[Reading.UNREADABLE],
    )
