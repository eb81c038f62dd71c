"""LibraryService on the wire."""

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
from services.search.index_rows import Documents, LibraryState, Reading
from services.search.library.changes import item_readings
from services.search.library.progress import Phase
from services.search.library.sync import Librarian, Origin
from zocrates.search.v1 import search_pb2 as pb
from zocrates.search.v1 import search_pb2_grpc as rpc


class LibraryServicer(rpc.LibraryServiceServicer):
    """Asks for syncs and tells how the index stands."""

    def __init__(self, index: Index, engine: Engine, librarian: Librarian) -> None:
        self._index = index
        self._engine = engine
        self._librarian = librarian

    async def Sync(
        self, request: pb.SyncRequest, context: Context
    ) -> AsyncIterator[pb.SyncProgress]:
        """Bring the index up to date and stream the progress; the last report names the skips."""
        async for progress in self._librarian.sync(everything=request.full):
            report = convert.progress_to_proto(progress)
            if progress.phase is Phase.DONE:
                documents = await self._index.documents()
                report.skipped.extend(convert.skips_to_proto(documents.by_id.values()))
            yield report

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
            kind=state.source_kind, location=state.source_location, demo=state.demo
        )
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
        )


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
