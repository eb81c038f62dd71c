"""A sync that somebody stops: nobody failed, nothing is lost, and the next one completes it."""

import asyncio
from pathlib import Path

import grpc
import pytest

from services.chassis.errors import failure_of
from tests.fakes.gateway_stage import until
from tests.fakes.search_library import FakeSource, FormFeedReader, Shelf
from tests.fakes.search_stage import Stage, search_stage
from zocrates.search.v1 import search_pb2 as pb
from zocrates.search.v1 import sync_control_pb2


async def has_abstract(stage: Stage) -> bool:
    return len(await stage.hits("sleep helps")) > 0


async def watched(stage: Stage) -> list[pb.SyncProgress]:
    return [report async for report in stage.library.Sync(pb.SyncRequest(), timeout=30)]


async def stop(stage: Stage) -> bool:
    reply: sync_control_pb2.StopSyncResponse = await stage.library.StopSync(
        sync_control_pb2.StopSyncRequest(), timeout=30
    )
    return reply.stopped


async def test_a_sync_is_stopped_where_it_is_and_the_next_one_completes_it(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.item("A", "Alpha", abstract="Sleep helps.").file("AF", "A", "Alpha sleep text.")
    shelf.item("B", "Beta").file("BF", "B", "Beta text.")
    gate = asyncio.Event()
    reader = FormFeedReader(gate=gate)
    source = FakeSource(records=shelf.records)
    async with search_stage(tmp_path / "index", source, reader=reader) as stage:
        await until(lambda: bool(reader.opened))
        watching = asyncio.create_task(watched(stage))
        await until(lambda: has_abstract(stage))
        assert await stop(stage)
        gate.set()
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await watching
        assert failure_of(raised.value).reason == "SYNC_STOPPED"
        told = await stage.library.GetStatus(pb.GetStatusRequest(), timeout=30)
        assert told.last_error == ""
        assert not told.HasField("running")
        assert not told.HasField("synced_at")
        assert await has_abstract(stage)
        # There is nothing left to stop, and nothing starts by itself.
        assert not await stop(stage)
        assert (await stage.synced())[-1].phase == pb.SYNC_PHASE_DONE
        assert {hit.passage.document.title for hit in await stage.hits("text")} >= {"Alpha", "Beta"}
