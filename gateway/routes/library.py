"""The library's state, and bringing the index up to date."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from datetime import UTC

from fastapi import APIRouter

from gateway import library_wire, wire
from gateway.auth import Caller
from gateway.errors import GatewayError
from gateway.routes.context import CalledBy, InContext
from gateway.streaming import EventStream
from gateway.translate import frame
from zocrates.search.v1 import search_pb2 as pb

router = APIRouter(tags=["library"])


@router.get("/library")
async def read_library(context: InContext, caller: CalledBy) -> library_wire.Library:
    """Tell where the library is, how much of it was read, and what was not, with reasons."""
    status, models = await asyncio.gather(
        context.search.get_status(owner=caller.owner), context.models.describe()
    )
    has_synced = status.HasField("synced_at")
    return library_wire.Library(
        sources=_sources(status, caller),
        libraries=[name for name in status.libraries if caller.may_read(name)],
        counts=_counts(status.counts),
        vectors=library_wire.Vectors(done=status.vectors.done, total=status.vectors.total),
        synced_at=status.synced_at.ToDatetime(tzinfo=UTC) if has_synced else None,
        age_s=status.age.ToTimedelta().total_seconds() if has_synced else None,
        running=_progress(status.running, caller) if status.HasField("running") else None,
        unfinished=(
            _progress(status.unfinished, caller) if status.HasField("unfinished") else None
        ),
        duplicates=status.duplicates,
        encoder=status.encoder_id,
        models=models,
        skipped=_skips(status.skipped, caller),
        last_error=status.last_error or None,
    )


@router.post("/library/sync", response_class=EventStream, status_code=200)
async def sync(
    context: InContext, caller: CalledBy, body: wire.SyncRequest | None = None
) -> EventStream:
    """Bring the index up to date and stream its progress; a running sync is joined."""
    wish = body or wire.SyncRequest()
    request = pb.SyncRequest(full=wish.full, retry_failed=wish.retry_failed)
    progress = context.search.sync(request, owner=caller.owner)
    # The first report decides between a stream and an error as the reply.
    first = await anext(progress, None)
    return context.stream(_frames(first, progress, caller))


@router.post("/library/sync/stop")
async def stop_sync(context: InContext, caller: CalledBy) -> library_wire.SyncStopped:
    """End the running sync where it is; the next one goes on there."""
    if caller.libraries is not None:
        raise GatewayError(
            "SOURCE_FIXED", "Only who may see the whole library may stop it from being read."
        )
    reply = await context.search.stop_sync(owner=caller.owner)
    return library_wire.SyncStopped(stopped=reply.stopped)


async def _frames(
    first: pb.SyncProgress | None, rest: AsyncGenerator[pb.SyncProgress, None], caller: Caller
) -> AsyncGenerator[bytes, None]:
    try:
        async with aclosing(rest):
            if first is not None:
                yield _progress_frame(first, caller)
            async for progress in rest:
                yield _progress_frame(progress, caller)
    except GatewayError as error:
        yield frame("error", {"code": error.code, "message": error.text, "retryable": True})


def _progress_frame(progress: pb.SyncProgress, caller: Caller) -> bytes:
    return frame("progress", _progress(progress, caller).model_dump(mode="json"))


def _progress(progress: pb.SyncProgress, caller: Caller) -> library_wire.SyncProgress:
    return library_wire.SyncProgress.model_validate(
        {
            "phase": pb.SyncPhase.Name(progress.phase).removeprefix("SYNC_PHASE_").lower(),
            "done": progress.done,
            "total": progress.total,
            # The document in hand may be of a library that this caller must not see.
            "current": progress.current if caller.libraries is None else "",
            "failed": _skips(progress.skipped, caller),
            "error": progress.error or None,
        }
    )


def _sources(status: pb.GetStatusResponse, caller: Caller) -> list[library_wire.Source]:
    if not status.source_kind:
        return []
    # A folder name tells about the machine, which is the business of its owner only.
    location = status.source_location if caller.libraries is None else None
    return [
        library_wire.Source(
            kind=status.source_kind,
            location=location,
            demo=status.demo,
            program=status.source_program or None,
            notices=list(status.source_notices),
        )
    ]


def _counts(counts: pb.LibraryCounts) -> library_wire.LibraryCounts:
    return library_wire.LibraryCounts(
        items=counts.items,
        documents=counts.documents,
        passages=counts.passages,
        read_in_full=counts.read_in_full,
        read_in_part=counts.read_in_part,
        abstract_only=counts.abstract_only,
        unreadable=counts.unreadable,
    )


def _skips(skips: Iterable[pb.Skip], caller: Caller) -> list[library_wire.Skip]:
    return [
        library_wire.Skip(
            library=skip.item.library,
            item_key=skip.item.key,
            attachment_key=skip.attachment_key,
            title=skip.title,
            reason=pb.SkipReason.Name(skip.reason).removeprefix("SKIP_REASON_").lower(),
            detail=skip.detail,
        )
        for skip in skips
        if caller.may_read(skip.item.library)
    ]
