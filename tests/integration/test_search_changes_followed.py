"""What a sync does when the library, its source, or what is wished for changes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from services.chassis.errors import failure_of
from services.search.library.records import Creator, RemoteFile
from services.search.library.source import SourceUnreachable
from services.search.library_state import LibraryState, Unfinished
from tests.fakes.search_library import FakeSource, FakeSources, FormFeedReader, Shelf
from tests.fakes.search_stage import Stage, search_stage
from zocrates.corpus.v1 import passage_pb2 as corpus
from zocrates.search.v1 import search_pb2 as pb
from zocrates.search.v1 import sync_control_pb2

DEADLINE_S = 30.0


async def until(claim: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not await claim():  # noqa: ASYNC110 (what is waited for is told by a server)
            await asyncio.sleep(0.01)


async def finds(stage: Stage, query: str, title: str) -> bool:
    return title in titles(await stage.hits(query))


async def has_opened_a_file(reader: FormFeedReader) -> bool:
    return bool(reader.opened)


async def status(stage: Stage) -> pb.GetStatusResponse:
    return await stage.library.GetStatus(pb.GetStatusRequest(), timeout=30)


def titles(hits: list[pb.Hit]) -> set[str]:
    return {hit.passage.document.title for hit in hits}


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    shelf = Shelf(tmp_path)
    shelf.item("A", "Alpha", abstract="Sleep helps.").file("AF", "A", "Alpha sleep text.")
    return shelf.item("B", "Beta").file("BF", "B", "encrypted")


@pytest.fixture
async def stage(tmp_path: Path, shelf: Shelf) -> AsyncIterator[Stage]:
    async with search_stage(tmp_path / "index", FakeSource(records=shelf.records)) as made:
        yield made


async def test_a_sync_that_was_cut_short_is_told_until_the_next_runs(tmp_path: Path) -> None:
    reader = FormFeedReader(gate=asyncio.Event())
    shelf = Shelf(tmp_path).item("A", "Alpha").file("AF", "A", "text")
    source = FakeSource(records=shelf.records)
    async with search_stage(tmp_path / "index", source, reader=reader) as stage:
        await until(lambda: has_opened_a_file(reader))
    error = SourceUnreachable("Zotero does not answer.")
    async with search_stage(tmp_path / "index", FakeSource(error=error)) as stage:

        async def has_failed() -> bool:
            told = await status(stage)
            return bool(told.last_error) and not told.HasField("running")

        await until(has_failed)
        told = await status(stage)
        assert (told.unfinished.done, told.unfinished.total) == (0, 1)
        stage.source.records, stage.source.error = shelf.records, None
        await stage.synced()
        assert not (await status(stage)).HasField("unfinished")


async def test_a_full_sync_that_was_cut_short_reads_on_what_it_had_not_read(
    stage: Stage,
) -> None:
    await stage.synced()
    opened = len(stage.reader.opened)
    documents = (await stage.index.documents()).by_id
    first, last = sorted((documents["user/AF"], documents["user/BF"]), key=lambda d: d.generation)
    unfinished = Unfinished(done=1, total=3, reread_before=last.generation)
    state: LibraryState = replace(await stage.index.state(), unfinished=unfinished)
    await stage.writer.remember(state)
    await stage.synced()
    assert first.generation < last.generation
    assert [path.stem for path in stage.reader.opened[opened:]] == [first.attachment_key]


async def test_what_is_told_to_be_new_is_read_before_the_rest(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    for n in range(6):
        shelf.item(f"K{n}", f"Title {n}").file(f"F{n}", f"K{n}", f"Text number {n}.")
    reader = FormFeedReader(gate=asyncio.Event())
    source = FakeSource(records=shelf.records)
    async with search_stage(tmp_path / "index", source, reader=reader, readers=1) as stage:
        await until(lambda: has_opened_a_file(reader))
        source.records = shelf.item("NEW", "Novelty", abstract="Brand new caffeine.").records
        await stage.library.NotifyChange(sync_control_pb2.NotifyChangeRequest(), timeout=30)
        assert reader.gate is not None
        reader.gate.set()
        await until(lambda: finds(stage, "caffeine", "Novelty"))
        await stage.synced()
        assert (await status(stage)).counts.documents == 7
        # The file in hand was finished, and nothing was read twice.
        assert len(reader.opened) == len(set(reader.opened)) == 6
        assert source.reads >= 2


async def test_a_change_that_is_told_in_quiet_times_is_followed(stage: Stage, shelf: Shelf) -> None:
    await stage.synced()
    stage.source.records = shelf.item("C", "Gamma", abstract="Caffeine.").records
    await stage.library.NotifyChange(sync_control_pb2.NotifyChangeRequest(), timeout=30)
    await until(lambda: finds(stage, "caffeine", "Gamma"))


async def test_files_that_are_elsewhere_are_fetched_and_those_that_cannot_be_say_why(
    tmp_path: Path,
) -> None:
    shelf = Shelf(tmp_path).item("A", "Alpha").file("HERE", "A", "Fetched text.")
    shelf.item("B", "Beta").file("GONE", "B", "never seen")
    attachments = tuple(
        replace(
            one,
            path=None,
            remote=RemoteFile(library="user", key=one.key, md5="a" * 32, name="x.pdf"),
        )
        for one in shelf.records.attachments
    )
    source = FakeSource(records=replace(shelf.records, attachments=attachments))
    source.files["HERE"] = tmp_path / "HERE.pdf"
    async with search_stage(tmp_path / "index", source) as stage:
        await stage.synced()
        assert titles(await stage.hits("fetched")) == {"Alpha"}
        (skip,) = (await status(stage)).skipped
        assert (skip.title, skip.reason) == ("Beta", pb.SKIP_REASON_FILE_MISSING)
        assert "does not have it" in skip.detail
        await stage.synced()
        assert [one.key for one in source.fetched] == ["HERE", "GONE"]
        source.files["GONE"] = tmp_path / "GONE.pdf"
        call = stage.library.Sync(pb.SyncRequest(retry_failed=True), timeout=30)
        assert [one async for one in call][-1].phase == pb.SYNC_PHASE_DONE
        assert len(source.fetched) == 3
        assert (await status(stage)).skipped == []


async def test_another_source_is_read_from_now_on_and_after_a_restart(
    tmp_path: Path, shelf: Shelf
) -> None:
    other = Shelf(tmp_path).item("Z", "Zeta", abstract="Somewhere else.")
    away = FakeSource(error=SourceUnreachable("Nobody answers."), location="/away")
    sources = FakeSources(
        first=FakeSource(records=shelf.records),
        others={
            "/other": FakeSource(records=other.records, location="/other"),
            "/away": away,
        },
    )
    async with search_stage(tmp_path / "index", sources.first, sources=sources) as stage:
        await stage.synced()
        request = pb.SetSourceRequest(kind="sqlite", data_dir="/other")
        await stage.library.SetSource(request, timeout=30)
        await until(lambda: finds(stage, "somewhere else", "Zeta"))
        assert await stage.hits("alpha sleep") == []
        told = await status(stage)
        assert (told.source_location, told.source_program) == ("/other", "Zotero 10.0.1")
        assert sources.first.is_closed
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await stage.library.SetSource(pb.SetSourceRequest(data_dir="/none"), timeout=30)
        assert failure_of(raised.value).reason == "INVALID_SOURCE"
        # The age of what was read elsewhere is not this source's.
        request = pb.SetSourceRequest(kind="sqlite", data_dir="/away")
        await stage.library.SetSource(request, timeout=30)
        told = await status(stage)
        assert (told.source_location, told.HasField("synced_at")) == ("/away", False)
        request = pb.SetSourceRequest(kind="sqlite", data_dir="/other")
        await stage.library.SetSource(request, timeout=30)
    async with search_stage(tmp_path / "index", sources.first, sources=sources) as stage:
        await stage.synced()
        assert (await status(stage)).source_location == "/other"


async def test_a_source_that_does_not_answer_is_never_replaced_by_another(
    stage: Stage,
) -> None:
    await stage.synced()
    stage.source.error = SourceUnreachable("Zotero does not answer.")
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await stage.synced()
    assert failure_of(raised.value).reason == "SOURCE_UNREACHABLE"
    told = await status(stage)
    assert (told.source_kind, told.last_error) == ("sqlite", "Zotero does not answer.")
    assert await stage.hits("alpha sleep")


async def test_what_the_source_cannot_give_and_what_was_folded_is_told(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    for key in ("A", "B"):
        shelf.item(key, "One work recorded twice", abstract="The same.")
        shelf.file(f"F{key}", key, "Same.")
    source = FakeSource(records=replace(shelf.records, notices=("No annotations here.",)))
    async with search_stage(tmp_path / "index", source) as stage:
        await stage.synced()
        told = await status(stage)
        assert list(told.source_notices) == ["No annotations here."]
        assert (told.duplicates, told.counts.items, told.counts.documents) == (1, 1, 2)


async def test_word_of_a_change_that_cannot_be_followed_is_not_followed_for_ever(
    tmp_path: Path, shelf: Shelf
) -> None:
    source = FakeSource(records=shelf.records)
    async with search_stage(tmp_path / "index", source) as first:
        await first.synced()
        async with search_stage(tmp_path / "index", source) as second:
            with pytest.raises(grpc.aio.AioRpcError):
                await second.synced()
            await second.library.NotifyChange(sync_control_pb2.NotifyChangeRequest(), timeout=30)
            with pytest.raises(grpc.aio.AioRpcError):
                await second.synced()
            assert second.sync.running is None
            assert "Another process" in second.sync.last_error


async def test_odd_keys_and_names_of_any_script_are_keys_and_names(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    keys = ["it's", 'a "b"', "ключ", "a/b", "..", "睡眠", "%_", "a b\tc"]
    for number, key in enumerate(keys):
        creator = Creator(role="author", given="", family=f"李雷 {key}")
        title = f"Studie über {key} Nummer{number}"
        shelf.item(key, title, abstract=f"Abstract{number}.", creators=(creator,))
    async with search_stage(tmp_path / "index", FakeSource(records=shelf.records)) as stage:
        assert (await stage.synced())[-1].phase == pb.SYNC_PHASE_DONE
        assert (await status(stage)).counts.items == len(keys)
        for number, key in enumerate(keys):
            scope = corpus.Scope(
                items=corpus.ItemSelection(items=[corpus.ItemRef(library="user", key=key)])
            )
            (hit,) = await stage.hits(f"Abstract{number}", scope=scope)
            document = hit.passage.document
            assert document.item.key == key
            assert list(document.creators) == [f"李雷 {key}"]
            read = pb.ReadDocumentRequest(document_id=document.document_id)
            assert (await stage.search.ReadDocument(read, timeout=30)).passages
