"""The index: documents appear whole or not at all, and outlive their encoder and a full disk."""

import asyncio
import errno
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from services.search import index_schema as schema
from services.search import index_upkeep
from services.search.errors import DiskFull
from services.search.index import Index, open_index
from services.search.index_rows import IndexedText
from services.search.index_writer import IndexWriter
from services.search.library.fingerprints import compared
from services.search.library.planned import plan
from services.search.library.texts import plain_text
from services.search.text.passages import structure_plain
from tests.fakes.search_library import Shelf
from tests.object_storage import ObjectStorage, object_storage

ENCODER = "words/1"


@asynccontextmanager
async def opened(
    place: Path | str, storage: Mapping[str, str] | None = None
) -> AsyncIterator[tuple[Index, IndexWriter]]:
    async with open_index(str(place), cache_bytes=1 << 24, storage=storage) as index:
        yield index, IndexWriter(index)


Place = Callable[[], AbstractAsyncContextManager[tuple[Index, IndexWriter]]]


@pytest.fixture(scope="module")
def storage() -> Iterator[ObjectStorage]:
    with object_storage() as server:
        yield server


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where an index may be: each call opens the same one as another process would."""
    if request.param == "folder":
        return partial(opened, tmp_path / "index")
    storage: ObjectStorage = request.getfixturevalue("storage")
    return partial(opened, f"s3://{storage.bucket()}/index", storage.options)


@pytest.fixture
async def stored(place: Place) -> AsyncIterator[tuple[Index, IndexWriter]]:
    async with place() as both:
        yield both


def text_of(key: str, abstract: str, folder: Path) -> IndexedText:
    (planned,) = plan(Shelf(folder).item(key, f"Title {key}", abstract=abstract).records)
    structured = structure_plain(abstract, planned.document_id, "Abstract")
    return plain_text(planned, compared(planned, "").value, structured)


async def words(index: Index, query: str, limit: int = 10) -> list[str]:
    view = await index.view()
    found = await view.best_by_words(query, within=view.searchable, limit=limit)
    return [one.document_id for one in found]


async def test_a_half_written_document_is_invisible(
    stored: tuple[Index, IndexWriter], tmp_path: Path
) -> None:
    index, writer = stored
    await writer.commit([text_of("WHOLE", "Sleep and memory.", tmp_path)])
    half = text_of("HALF", "Sleep and memory, half written.", tmp_path)
    await index.passages_table.add(schema.arrow(schema.passage_rows(half), schema.PASSAGES))
    await index.pages_table.add(schema.arrow(schema.page_rows(half), schema.PAGES))
    documents = await index.documents()
    assert set(documents.by_id) == {"user/WHOLE#abstract"}
    assert await words(index, "sleep memory") == ["user/WHOLE#abstract"]
    assert await index.passages([half.passages[0].passage_id], documents) == {}


async def test_a_table_of_vectors_that_is_just_being_made_counts_as_none(tmp_path: Path) -> None:
    async with opened(tmp_path / "index") as (index, _):
        folder = tmp_path / "index" / f"{schema.vectors_table(ENCODER)}.lance"
        folder.mkdir()
        assert schema.vectors_table(ENCODER) in (await index.connection.list_tables()).tables
        assert await index.vectors_done(ENCODER) == 0


async def test_a_document_in_a_new_generation_replaces_the_old_at_once(
    stored: tuple[Index, IndexWriter], tmp_path: Path
) -> None:
    index, writer = stored
    await writer.commit([text_of("ITEM", "Naps help nurses.", tmp_path)])
    await writer.commit([text_of("ITEM", "Caffeine helps drivers.", tmp_path)])
    assert await words(index, "naps nurses") == []
    assert await words(index, "caffeine drivers") == ["user/ITEM#abstract"]
    (document,) = (await index.documents()).by_id.values()
    (passage,) = await index.passages_of(document)
    assert passage.text == "Caffeine helps drivers."


async def test_dead_rows_do_not_crowd_out_live_ones(
    stored: tuple[Index, IndexWriter], tmp_path: Path
) -> None:
    index, writer = stored
    for _ in range(5):
        await writer.commit([text_of("ITEM", "Spindles, spindles, spindles.", tmp_path)])
    await writer.commit([text_of("OTHER", "A long text that names spindles once.", tmp_path)])
    assert await words(index, "spindles", limit=2) == ["user/ITEM#abstract", "user/OTHER#abstract"]


async def test_a_sweep_deletes_what_belongs_to_nothing(
    stored: tuple[Index, IndexWriter], tmp_path: Path
) -> None:
    index, writer = stored
    old = text_of("ITEM", "Old text.", tmp_path)
    await writer.commit([old])
    await add_vectors(writer, old)
    fresh = text_of("ITEM", "New text.", tmp_path)
    await writer.commit([fresh])
    await add_vectors(writer, fresh)
    await writer.sweep(ENCODER, alone=True)
    assert await index.passages_table.count_rows() == 1
    assert await index.pages_table.count_rows() == 1
    assert await index.vectors_done(ENCODER) == 1
    assert await writer.unembedded(ENCODER) == []


async def test_a_sweep_beside_another_writer_spares_rows_that_may_be_its_work(
    stored: tuple[Index, IndexWriter], tmp_path: Path
) -> None:
    index, writer = stored
    half = text_of("HALF", "Half written.", tmp_path)
    await index.passages_table.add(schema.arrow(schema.passage_rows(half), schema.PASSAGES))
    await writer.sweep(None, alone=False)
    assert await index.passages_table.count_rows() == 1


async def test_two_writers_at_once_lose_nothing(place: Place, tmp_path: Path) -> None:
    async with place() as (_, one), place() as (_, two):
        texts = [text_of(f"K{n}", f"Text number {n}.", tmp_path) for n in range(8)]
        await asyncio.gather(
            *(
                writer.commit([text])
                for writer, half in ((one, texts[::2]), (two, texts[1::2]))
                for text in half
            )
        )
    async with place() as (index, _):
        assert len((await index.documents()).by_id) == 8
        assert await index.passages_table.count_rows() == 8


async def test_an_index_that_several_open_at_first_at_once_is_made_once(
    place: Place, tmp_path: Path
) -> None:
    async def opens() -> None:
        async with place() as (index, _):
            assert await words(index, "sleep") == []

    await asyncio.gather(*(opens() for _ in range(6)))
    async with place() as (index, writer):
        made = await index.passages_table.list_indices()
        assert sorted(column for one in made for column in one.columns) == [
            *("document_id", "passage_id", "terms")
        ]
        await writer.commit([text_of("ITEM", "Sleep.", tmp_path)])
        await until(index, ["user/ITEM#abstract"])


async def test_two_readers_see_what_a_writer_commits(place: Place, tmp_path: Path) -> None:
    async with place() as (one, _), place() as (two, _), place() as (_, writer):
        assert await words(one, "sleep") == []
        await writer.commit([text_of("ITEM", "Sleep.", tmp_path)])
        await asyncio.gather(*(until(one, ["user/ITEM#abstract"]) for one in (one, two)))
        await writer.remove(["user/ITEM#abstract"])
        await asyncio.gather(*(until(one, []) for one in (one, two)))


async def until(index: Index, found: list[str]) -> None:
    """In a folder at the next query, on object storage within a second or so."""
    async with asyncio.timeout(30):
        while await words(index, "sleep") != found:  # noqa: ASYNC110 (another process commits)
            await asyncio.sleep(0.1)


async def test_an_index_is_found_again_with_all_it_held(place: Place, tmp_path: Path) -> None:
    text = text_of("ITEM", "Sleep it off.", tmp_path)
    async with place() as (_, writer):
        await writer.commit([text])
        await writer.tidy(None)
    async with place() as (index, _):
        (document,) = (await index.documents()).by_id.values()
        assert document == text.document
        assert tuple(await index.passages_of(document)) == text.passages
        assert tuple(await index.pages_of(document)) == text.pages
        assert await index.sections(document) == text.sections


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('"sleep" AND (memory OR', True),
        ("title:sleep^2 ~ * ? \\ /", True),
        ("sleep' OR '1'='1", True),
        ("睡眠", True),
        ("記憶の固定化", True),
        ("Schlafstorung", True),
        ("😀", False),
        ("\x00\x01", False),
        ("--;", False),
        ("x" * 1_000, False),
        ("and", True),  # words that say nothing are all that this query has
        ("who", False),
    ],
)
async def test_a_query_is_text_whatever_it_looks_like(
    query: str, found: bool, odd_texts: Index
) -> None:
    assert bool(await words(odd_texts, query)) is found


@pytest.fixture(scope="module")
async def odd_texts(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Index]:
    folder = tmp_path_factory.mktemp("odd")
    async with opened(folder / "index") as (index, writer):
        await writer.commit(
            [
                text_of("LATIN", "Sleep 😀 and Schlafstörung.", folder),
                text_of("CJK", "睡眠は記憶の固定化を促進する。", folder),
            ]
        )
        yield index


async def test_odd_keys_do_not_break_a_filter(
    stored: tuple[Index, IndexWriter], tmp_path: Path
) -> None:
    index, writer = stored
    text = text_of("O'KEY\"; --", "Sleep.", tmp_path)
    await writer.commit([text])
    (document,) = (await index.documents()).by_id.values()
    assert len(await index.passages_of(document)) == 1
    await writer.remove([document.document_id])
    assert not (await index.documents()).by_id


class FullTable:
    """A table on a full disk: reads work, writes do not."""

    def __init__(self, table: object) -> None:
        self._table = table

    def __getattr__(self, name: str) -> object:
        return getattr(self._table, name)

    async def add(self, data: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


async def test_a_full_disk_is_one_error_and_what_was_there_stays_readable(
    stored: tuple[Index, IndexWriter], tmp_path: Path
) -> None:
    index, writer = stored
    await writer.commit([text_of("KEPT", "Sleep well.", tmp_path)])
    real = index.passages_table
    index.passages_table = FullTable(real)  # type: ignore[assignment]
    with pytest.raises(DiskFull):
        await writer.commit([text_of("LOST", "Sleep badly.", tmp_path)])
    assert await words(index, "sleep") == ["user/KEPT#abstract"]
    index.passages_table = real
    await writer.commit([text_of("LOST", "Sleep badly.", tmp_path)])
    assert len(await words(index, "sleep")) == 2


async def test_a_new_encoder_takes_over_when_it_is_activated(
    stored: tuple[Index, IndexWriter], tmp_path: Path
) -> None:
    index, writer = stored
    text = text_of("ITEM", "Sleep.", tmp_path)
    await writer.commit([text])
    await add_vectors(writer, text)
    await writer.activate(ENCODER)
    await add_vectors(writer, text, "words/2")
    assert await index.active_encoder() == ENCODER
    await writer.activate("words/2")
    assert await index.active_encoder() == "words/2"
    tables = (await index.connection.list_tables()).tables
    assert schema.vectors_table(ENCODER) not in tables


async def add_vectors(writer: IndexWriter, text: IndexedText, encoder: str = ENCODER) -> None:
    missing = await writer.unembedded(encoder)
    assert [one.passage_id for one in missing] == [one.passage_id for one in text.passages]
    await writer.add_vectors(encoder, missing, np.ones((len(missing), 8), dtype=np.float32))


async def test_many_small_syncs_do_not_let_the_index_grow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_upkeep, "KEPT_VERSIONS", timedelta(milliseconds=1))
    monkeypatch.setattr(index_upkeep, "MOST_VERSIONS", 8)
    sizes = []
    async with opened(tmp_path / "index") as (index, writer):
        for number in range(36):
            text = text_of(f"ITEM{number % 3}", f"Nap number {number}. " * 40, tmp_path)
            await writer.commit([text])
            await writer.sweep(None, alone=True)
            await writer.tidy(None)
            files = [one for one in (tmp_path / "index").rglob("*") if one.is_file()]
            sizes.append(sum(one.stat().st_size for one in files))
        assert await index.passages_table.count_rows() == 3
    # It breathes: what a commit adds is folded in when there is enough of it.
    assert max(sizes[24:]) <= 1.2 * max(sizes[12:24])
