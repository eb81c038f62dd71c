"""LibraryService: the index follows the library, whatever happens in between."""

import asyncio
import errno
import os
import sys
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from pathlib import Path

import grpc
import pytest

from services.chassis.errors import failure_of
from services.search.library.source import LibraryCorrupt, LibraryLocked, NoLibrary
from tests.fakes.search_library import FakeSource, FormFeedReader, Shelf, WordEncoder
from tests.fakes.search_stage import Stage, search_stage
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.search.v1 import search_pb2 as pb

DEADLINE_S = 30.0


async def until(claim: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not await claim():  # noqa: ASYNC110 (what is waited for is told by a server)
            await asyncio.sleep(0.01)


async def finds(stage: Stage, query: str, title: str) -> bool:
    return title in titles(await stage.hits(query))


async def has_opened_a_file(reader: FormFeedReader) -> bool:
    return bool(reader.opened)


async def has_failed(stage: Stage) -> bool:
    return bool((await status(stage)).last_error)


async def drained(call: AsyncIterable[pb.SyncProgress], reports: list[pb.SyncProgress]) -> None:
    async for report in call:
        reports.append(report)  # noqa: PERF401 (those before a failure are kept)


async def status(stage: Stage) -> pb.GetStatusResponse:
    return await stage.library.GetStatus(pb.GetStatusRequest(), timeout=30)


def titles(hits: list[pb.Hit]) -> set[str]:
    return {hit.passage.document.title for hit in hits}


def small_shelf(folder: Path) -> Shelf:
    shelf = Shelf(folder)
    shelf.item("A", "Alpha", abstract="Sleep helps.").file("AF", "A", "Alpha sleep text.")
    return shelf.item("B", "Beta").file("BF", "B", "encrypted")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return small_shelf(tmp_path)


@pytest.fixture
async def stage(tmp_path: Path, shelf: Shelf) -> AsyncIterator[Stage]:
    async with search_stage(tmp_path / "index", FakeSource(records=shelf.records)) as made:
        yield made


async def test_the_index_is_synced_at_start_without_being_asked(stage: Stage) -> None:
    await until(lambda: finds(stage, "alpha sleep", "Alpha"))
    assert stage.source.reads == 1


async def test_progress_goes_through_its_phases_and_ends_with_the_skips(stage: Stage) -> None:
    reports = await stage.synced()
    phases = [report.phase for report in reports]
    assert phases == sorted(phases)
    last = reports[-1]
    assert last.phase == pb.SYNC_PHASE_DONE
    (skip,) = last.skipped
    assert (skip.item.key, skip.attachment_key, skip.title) == ("B", "BF", "Beta")
    assert (skip.reason, skip.detail) == (pb.SKIP_REASON_ENCRYPTED, "Locked.")


async def test_the_status_tells_source_counts_vectors_and_skips(stage: Stage) -> None:
    await stage.synced()
    told = await status(stage)
    assert (told.source_kind, told.source_location, told.demo) == ("sqlite", "/library", False)
    assert told.HasField("synced_at")
    assert told.age.seconds < 60
    counts = told.counts
    assert (counts.items, counts.documents, counts.passages) == (2, 2, 2)
    assert (counts.read_in_full, counts.abstract_only, counts.unreadable) == (1, 0, 1)
    assert (told.vectors.done, told.vectors.total) == (2, 2)
    assert told.encoder_id == "words/1"
    assert [skip.reason for skip in told.skipped] == [pb.SKIP_REASON_ENCRYPTED]
    assert list(told.libraries) == ["user"]
    assert not told.HasField("running")
    assert told.last_error == ""


async def test_a_status_before_any_sync_says_so(tmp_path: Path) -> None:
    source = FakeSource(error=NoLibrary("There is no library here."))
    async with search_stage(tmp_path / "index", source) as stage:
        await until(lambda: has_failed(stage))
        told = await status(stage)
    assert not told.HasField("synced_at")
    assert told.last_error == "There is no library here."


async def test_an_unchanged_library_is_read_but_no_document_is(stage: Stage) -> None:
    await stage.synced()
    opened = len(stage.reader.opened)
    before = await stage.index.documents()
    await stage.synced()
    assert len(stage.reader.opened) == opened
    assert (await stage.index.documents()).version == before.version


async def test_a_full_sync_reads_everything_again_and_embeds_nothing_twice(stage: Stage) -> None:
    await stage.synced()
    opened = len(stage.reader.opened)
    done = await stage.index.vectors_done("words/1")
    await stage.synced(full=True)
    assert len(stage.reader.opened) == 2 * opened
    assert await stage.index.vectors_done("words/1") == done
    assert await stage.index.passages_table.count_rows() == done


async def test_new_changed_and_vanished_documents_are_followed(stage: Stage, shelf: Shelf) -> None:
    await stage.synced()
    shelf.item("C", "Gamma").file("CF", "C", "Gamma caffeine text.")
    shelf.file("AF", "A", "Alpha now writes about naps instead of that.")
    stage.source.records = shelf.without_item("B").records
    await stage.synced()
    assert "Gamma" in titles(await stage.hits("caffeine"))
    (document,) = [
        one for one in (await stage.index.documents()).by_id.values() if one.attachment_key == "AF"
    ]
    assert [one.text for one in await stage.index.passages_of(document)] == [
        "Alpha now writes about naps instead of that."
    ]
    told = await status(stage)
    assert (told.counts.items, len(told.skipped)) == (2, 0)


async def test_another_title_is_followed_without_opening_the_file(
    stage: Stage, shelf: Shelf
) -> None:
    await stage.synced()
    opened = len(stage.reader.opened)
    stage.source.records = shelf.renamed("A", "Omega").records
    await stage.synced()
    assert len(stage.reader.opened) == opened
    assert titles(await stage.hits("omega")) == {"Omega"}
    assert titles(await stage.hits("alpha sleep")) == {"Omega"}
    told = await status(stage)
    assert (told.vectors.done, told.vectors.total) == (2, 2)


async def test_an_abstract_that_stands_alone_says_so_and_why(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path).item("A", "Alpha", abstract="Sleep.").file("AF", "A", "encrypted")
    async with search_stage(tmp_path / "index", FakeSource(records=shelf.records)) as stage:
        await stage.synced()
        (hit,) = await stage.hits("sleep")
        document = hit.passage.document
        assert document.reading_state == corpus.READING_STATE_ABSTRACT_ONLY
        assert document.reading_reason == "Locked."
        assert (await status(stage)).counts.abstract_only == 1
        shelf.file("AF", "A", "Now it can be read.")
        stage.source.records = shelf.records
        await stage.synced()
        states = {hit.passage.document.reading_state for hit in await stage.hits("sleep read")}
        assert states == {corpus.READING_STATE_FULL}


async def test_an_empty_library_is_a_library(tmp_path: Path) -> None:
    async with search_stage(tmp_path / "index", FakeSource()) as stage:
        assert (await stage.synced())[-1].phase == pb.SYNC_PHASE_DONE
        assert await stage.hits("anything") == []
        assert (await status(stage)).counts.items == 0


async def test_two_callers_share_one_sync_and_one_may_go_away(tmp_path: Path, shelf: Shelf) -> None:
    reader = FormFeedReader(gate=asyncio.Event())
    source = FakeSource(records=shelf.records)
    async with search_stage(tmp_path / "index", source, reader=reader) as stage:
        await until(lambda: has_opened_a_file(reader))
        leaving = stage.library.Sync(pb.SyncRequest(), timeout=30)
        await leaving.read()
        staying = asyncio.create_task(stage.synced())
        told = await status(stage)
        assert told.running.phase == pb.SYNC_PHASE_TEXT
        leaving.cancel()
        assert reader.gate is not None
        reader.gate.set()
        assert (await staying)[-1].phase == pb.SYNC_PHASE_DONE
        assert source.reads == 1


async def test_texts_are_searchable_while_a_long_file_is_still_read(
    tmp_path: Path, shelf: Shelf
) -> None:
    reader = FormFeedReader(gate=asyncio.Event())
    source = FakeSource(records=shelf.records)
    async with search_stage(tmp_path / "index", source, reader=reader) as stage:
        await until(lambda: finds(stage, "sleep helps", "Alpha"))
        told = await status(stage)
        assert told.running.done == 1
        assert told.source_location == "/library"
        assert not told.HasField("synced_at")
        scope = corpus.Scope(libraries=corpus.Selection(values=["user"]))
        assert await stage.hits("sleep helps", scope=scope)
        assert reader.gate is not None
        reader.gate.set()
        await stage.synced()


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (NoLibrary("None here."), grpc.StatusCode.FAILED_PRECONDITION, "NO_LIBRARY"),
        (LibraryLocked("Zotero writes."), grpc.StatusCode.UNAVAILABLE, "LIBRARY_LOCKED"),
        (LibraryCorrupt("It is broken."), grpc.StatusCode.FAILED_PRECONDITION, "LIBRARY_CORRUPT"),
    ],
)
async def test_a_library_that_cannot_be_read_is_said_and_the_index_stays(
    stage: Stage, error: Exception, code: grpc.StatusCode, reason: str
) -> None:
    await stage.synced()
    stage.source.error = error
    reports: list[pb.SyncProgress] = []
    call = stage.library.Sync(pb.SyncRequest(), timeout=30)
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await drained(call, reports)
    failure = failure_of(raised.value)
    assert (failure.code, failure.reason) == (code, reason)
    assert reports[-1].phase == pb.SYNC_PHASE_FAILED
    assert reports[-1].error == failure.message
    assert await stage.hits("alpha sleep")
    assert (await status(stage)).last_error == failure.message
    stage.source.error = None
    await stage.synced()
    assert (await status(stage)).last_error == ""


async def test_a_full_disk_fails_the_sync_and_the_next_one_completes_it(
    stage: Stage, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.synced()
    stage.source.records = shelf.item("C", "Gamma", abstract="Caffeine.").records

    async def full(data: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(stage.index.passages_table, "add", full)
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await stage.synced()
    assert failure_of(raised.value).reason == "DISK_FULL"
    assert await stage.hits("alpha sleep")
    await stage.synced()
    assert titles(await stage.hits("caffeine")) >= {"Gamma"}


async def test_a_bug_in_a_sync_does_not_end_the_process(stage: Stage) -> None:
    await stage.synced()
    stage.source.error = KeyError("a bug")
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await stage.synced()
    assert failure_of(raised.value).reason == "INTERNAL"
    stage.source.error = None
    assert (await stage.synced())[-1].phase == pb.SYNC_PHASE_DONE


async def test_a_change_of_the_library_is_noticed(tmp_path: Path, shelf: Shelf) -> None:
    source = FakeSource(records=shelf.records)
    async with search_stage(tmp_path / "index", source, recheck_s=0.05) as stage:
        await stage.synced()
        source.records = shelf.item("C", "Gamma", abstract="Caffeine.").records
        await until(lambda: finds(stage, "caffeine", "Gamma"))


async def test_a_second_process_on_the_index_reads_but_does_not_write(
    tmp_path: Path, shelf: Shelf
) -> None:
    source = FakeSource(records=shelf.records)
    async with search_stage(tmp_path / "index", source) as first:
        await first.synced()
        async with search_stage(tmp_path / "index", source) as second:
            assert await second.hits("alpha sleep")
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await second.synced()
            assert failure_of(raised.value).reason == "LIBRARY_LOCKED"
    async with search_stage(tmp_path / "index", source) as third:
        assert (await third.synced())[-1].phase == pb.SYNC_PHASE_DONE


async def test_another_encoder_searches_words_until_its_vectors_are_complete(
    tmp_path: Path, shelf: Shelf
) -> None:
    source = FakeSource(records=shelf.records)
    async with search_stage(tmp_path / "index", source) as old:
        await old.synced()
        async with search_stage(tmp_path / "index", source, encoder=WordEncoder("words/2")) as new:
            request = pb.SearchCorpusRequest(query="sleep")
            reply = await new.search.SearchCorpus(request, timeout=30)
            assert "words/1" in reply.degraded
            assert "words/2" in reply.degraded
            assert reply.hits
            assert not any(hit.HasField("similarity") for hit in reply.hits)
    async with search_stage(tmp_path / "index", source, encoder=WordEncoder("words/2")) as new:
        await new.synced()
        reply = await new.search.SearchCorpus(request, timeout=30)
        assert reply.degraded == ""
        assert all(hit.HasField("similarity") for hit in reply.hits)
        assert (await status(new)).encoder_id == "words/2"


KILLED = """
import asyncio, sys
from pathlib import Path
from services.search.library import text_sync
from tests.fakes.search_library import FakeSource, Shelf
from tests.fakes.search_stage import search_stage
from zocrates.search.v1 import search_pb2 as pb
from zocrates.search.v1 import sync_control_pb2

async def main(folder):
    shelf = Shelf(folder)
    for n in range(40):
        shelf.item(f"K{n}", f"Title {n}").file(f"F{n}", f"K{n}", f"Text number {n} about sleep.")
    text_sync.BATCH_DOCUMENTS = 4
    async with search_stage(folder / "index", FakeSource(records=shelf.records)) as stage:
        async for report in stage.library.Sync(pb.SyncRequest(), timeout=60):
            print(report.done, flush=True)

asyncio.run(main(Path(sys.argv[1])))
"""


async def test_a_killed_sync_is_continued_by_the_next(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        KILLED,
        str(tmp_path),
        stdout=asyncio.subprocess.PIPE,
        env=environment,
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        async for line in process.stdout:
            if int(line) >= 8:
                break
    process.kill()
    await process.wait()
    shelf = Shelf(tmp_path)
    for number in range(40):
        text = f"Text number {number} about sleep."
        shelf.item(f"K{number}", f"Title {number}").file(f"F{number}", f"K{number}", text)
    async with search_stage(tmp_path / "index", FakeSource(records=shelf.records)) as stage:
        reports = await stage.synced()
        assert reports[-1].phase == pb.SYNC_PHASE_DONE
        # What the killed one had done counts as done, of all that there was to do.
        texts = [
            report for report in reports if report.phase == pb.SYNC_PHASE_TEXT and report.total
        ]
        assert all(one.total == 40 and one.done >= 8 for one in texts)
        assert len(stage.reader.opened) <= 32
        told = await status(stage)
        assert (told.counts.documents, told.counts.passages) == (40, 40)
        assert (told.vectors.done, told.vectors.total) == (40, 40)
        assert await stage.index.passages_table.count_rows() == 40
