"""A view: a query sees one moment of the index to its end, and the next query the newest."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import grpc
import numpy as np
import pytest

from services.search import index_queries
from services.search.errors import IndexBusy
from services.search.index import Index, open_index
from services.search.index_rows import IndexedText
from services.search.index_view import View
from services.search.index_writer import IndexWriter, Unembedded
from services.search.library.fingerprints import compared
from services.search.library.planned import plan
from services.search.library.texts import plain_text
from services.search.text.passages import structure_plain
from tests.fakes.search_library import Shelf

ENCODER = "words/1"
EAST, NORTH = [1.0, 0.0], [0.0, 2.0]


@pytest.fixture
async def stored(tmp_path: Path) -> AsyncIterator[tuple[Index, IndexWriter]]:
    async with open_index(str(tmp_path / "index"), cache_bytes=1 << 24) as index:
        yield index, IndexWriter(index)


def text_of(key: str, abstract: str, folder: Path) -> IndexedText:
    (planned,) = plan(Shelf(folder).item(key, f"Title {key}", abstract=abstract).records)
    structured = structure_plain(abstract, planned.document_id, "Abstract")
    return plain_text(planned, compared(planned, "").value, structured)


async def embed(writer: IndexWriter, text: IndexedText, vector: list[float]) -> None:
    marks = [
        Unembedded(passage_id=one.passage_id, document_id=one.document_id, digest=one.digest)
        for one in text.passages
    ]
    await writer.add_vectors(ENCODER, marks, np.array([vector] * len(marks), dtype=np.float32))


async def texts(view: View, query: str) -> list[str]:
    found = await view.best_by_words(query, within=view.searchable, limit=10)
    passages = await view.passages([one.place for one in found])
    return [passages[one.place].text for one in found]


async def test_a_view_keeps_what_was_replaced_swept_and_folded_after_it(
    stored: tuple[Index, IndexWriter], tmp_path: Path
) -> None:
    index, writer = stored
    await writer.commit([text_of("ITEM", "Naps help nurses.", tmp_path)])
    before = await index.view()
    await writer.commit([text_of("ITEM", "Naps help drivers.", tmp_path)])
    await writer.sweep(None, alone=True)
    await index.passages_table.optimize()
    assert await texts(before, "naps") == ["Naps help nurses."]
    assert await texts(await index.view(), "naps") == ["Naps help drivers."]


async def test_a_view_is_made_once_for_all_queries_until_something_is_committed(
    stored: tuple[Index, IndexWriter], tmp_path: Path
) -> None:
    index, writer = stored
    await writer.commit([text_of("ONE", "Naps help nurses.", tmp_path)])
    views = await asyncio.gather(*(index.view() for _ in range(20)))
    assert len(set(map(id, views))) == 1
    await writer.commit([text_of("TWO", "Naps help drivers.", tmp_path)])
    assert len((await index.view()).searchable) == 2


async def test_cosines_are_those_of_the_present_text(
    stored: tuple[Index, IndexWriter], tmp_path: Path
) -> None:
    index, writer = stored
    old = text_of("ITEM", "Naps help nurses.", tmp_path)
    other = text_of("OTHER", "Naps help sailors.", tmp_path)
    bare = text_of("BARE", "Naps help nobody.", tmp_path)
    await writer.commit([old, other, bare])
    await embed(writer, old, EAST)
    await embed(writer, other, NORTH)
    await writer.activate(ENCODER)
    new = text_of("ITEM", "Naps help pilots.", tmp_path)
    await writer.commit([new])
    view = await index.view()
    assert view.vectors_done == 1
    found = await view.best_by_words("naps", within=view.searchable, limit=10)
    names = {one.place: one.document_id for one in found}
    cosines = view.cosines([1.0, 1.0], list(names))
    assert {names[place]: cosine for place, cosine in cosines.items()} == {
        "user/OTHER#abstract": pytest.approx(0.5**0.5)
    }
    near = await view.near(EAST, within=view.searchable, limit=10)
    assert [one.document_id for one in near] == ["user/OTHER#abstract"]


async def test_a_later_view_knows_old_and_new_vectors_also_after_tidying(
    stored: tuple[Index, IndexWriter], tmp_path: Path
) -> None:
    index, writer = stored
    one, two = (text_of(key, f"Naps help {key}.", tmp_path) for key in ("ONE", "TWO"))
    await writer.commit([one])
    await embed(writer, one, EAST)
    await writer.activate(ENCODER)
    assert (await index.view()).vectors_done == 1
    await writer.commit([two])
    await embed(writer, two, NORTH)
    await writer.tidy(ENCODER)
    view = await index.view()
    near = await view.near(NORTH, within=view.searchable, limit=10)
    assert [(found.document_id, found.score) for found in near] == [
        ("user/TWO#abstract", 1.0),
        ("user/ONE#abstract", 0.0),
    ]


async def test_within_leaves_out_all_other_documents(
    stored: tuple[Index, IndexWriter], tmp_path: Path
) -> None:
    index, writer = stored
    made = [text_of(f"ITEM{n}", f"Naps help nurse {n}.", tmp_path) for n in range(4)]
    await writer.commit(made)
    for text in made:
        await embed(writer, text, EAST)
    await writer.activate(ENCODER)
    view = await index.view()
    within = {"user/ITEM2#abstract"}
    words = await view.best_by_words("naps", within=within, limit=10)
    near = await view.near(EAST, within=within, limit=10)
    assert {one.document_id for one in words} == {one.document_id for one in near} == within


async def test_an_index_that_takes_too_long_asks_to_be_asked_again(
    stored: tuple[Index, IndexWriter], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, writer = stored
    await writer.commit([text_of("ITEM", "Naps help nurses.", tmp_path)])
    view = await index.view()
    monkeypatch.setattr(index_queries, "QUERY_TIMEOUT", timedelta(microseconds=1))
    with pytest.raises(IndexBusy) as busy:
        await view.best_by_words("naps", within=view.searchable, limit=10)
    assert busy.value.code is grpc.StatusCode.UNAVAILABLE
