"""How fast the index follows a library of some thousand items: `make bench-sync`.

Two questions. How long does a sync take that finds nothing changed, for each source? And how long
after the word that a paper of 30 pages was added can its text be found, in quiet times and while
the index is still being filled? The index, the sync, the readers of files and the wire are the
real ones. Zotero's API is the server of the tests, which answers as fast as Python can; the real
one takes some 1.3 s to tell 3,000 items. Vectors are made by a stand-in that costs nothing, except
in the last row, where the real encoder is at work on the rest of the library.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from deploy.model_folder import models_folder
from services.search.encoder import Encoder, load_encoder
from services.search.library.local_api import LocalApi
from services.search.library.object_cache import ObjectCache
from services.search.library.source import LibrarySource
from services.search.library.sqlite_snapshot import SqliteSnapshot
from services.search.library.web_api import WebApi
from services.search.library.web_files import WebFiles
from services.search.settings import Settings
from services.search.text.extraction import Extractor
from tests.bench.machine import machine
from tests.fakes.search_library import FakeSources, WordEncoder
from tests.fakes.search_stage import Stage, search_stage
from tests.fakes.zotero_api import KEY, ZoteroApi, serving_api
from tests.fixtures.printed_paper import HEIGHT, LEFT, printed_paper
from tests.fixtures.told_library import Told, attachment, item, write_database
from zocrates.search.v1 import search_pb2 as pb
from zocrates.search.v1 import sync_control_pb2

ITEMS = 3_000
PAGES = 30
REPEATS = 5
DEADLINE_S = 600.0
NEEDLE = "quokka"
TOPICS = ("sleep", "memory", "tea", "light", "noise", "age", "diet", "stress")


@dataclass(frozen=True, slots=True)
class Taken:
    """By the clock, and of the processor by this process, which other load disturbs less."""

    seconds: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    taken: list[Taken]

    def __str__(self) -> str:
        middle = median(one.seconds for one in self.taken)
        worst = max(one.seconds for one in self.taken)
        work = median(one.cpu for one in self.taken)
        return f"| {self.what} | {middle:.2f} s | {worst:.2f} s | {work:.2f} s |"


def library(folder: Path) -> Told:
    """Items with abstracts, each with a short text file of its own."""
    entries = []
    for number in range(ITEMS):
        words = " ".join(f"{topic} effect {number % 97}" for topic in TOPICS)
        key = f"I{number:07d}"
        entries.append(
            item(
                key,
                title=f"Study {number} of {TOPICS[number % len(TOPICS)]} at night",
                date=str(1990 + number % 35),
                parsed=str(1990 + number % 35),
                abstractNote=f"Abstract {number}. {words}.",
                creators=[{"creatorType": "author", "firstName": "A", "lastName": f"B{number}"}],
                tags=[{"tag": TOPICS[number % 7]}],
            )
        )
        file = attachment(f"F{number:07d}", key, filename="text.txt", contentType="text/plain")
        entries.append(file)
        place = folder / "storage" / f"F{number:07d}"
        place.mkdir(parents=True)
        (place / "text.txt").write_text(f"File {number} says: {words}.\n", encoding="utf-8")
    return Told("user", "My Library", tuple(entries))


def new_paper(folder: Path, number: int) -> list[dict[str, object]]:
    """A paper of 30 pages whose last one says something that no other text does."""
    key = f"NEWF{number:04d}"
    place = folder / "storage" / key
    place.mkdir(parents=True)
    paper = printed_paper(place / "paper.pdf")
    for page in range(PAGES):
        words = f"Page {page} of the new paper speaks of sleep and memory in many words."
        last = f" The {NEEDLE}{number} is named here." if page == PAGES - 1 else ""
        paper.lines(LEFT, HEIGHT - 80, [f"{words} Line {n}.{last}" for n in range(45)])
        paper.next_page()
    paper.save()
    return [
        item(f"NEWI{number:04d}", title=f"The new paper {number}"),
        attachment(key, f"NEWI{number:04d}", filename="paper.pdf"),
    ]


@asynccontextmanager
async def opened(
    kind: str, told: Told, folder: Path
) -> AsyncIterator[tuple[LibrarySource, Callable[[list[dict[str, object]]], None]]]:
    """A source over the library, and what adds objects to it."""
    if kind == "sqlite":
        database = write_database([told], folder, 129)
        database.connection.execute("PRAGMA journal_mode = wal")

        def add(entries: list[dict[str, object]]) -> None:
            paper, file = entries
            made = database.item(str(paper["key"]), title=paper["data"]["title"])
            database.attachment(str(file["key"]), made, path="storage:paper.pdf")

        yield SqliteSnapshot(folder), add
        database.close()
        return
    api = ZoteroApi([told], kind, data_dir=folder)
    async with serving_api(api) as server:
        cache = ObjectCache(folder / "cache.sqlite")
        source: LocalApi | WebApi
        if api.is_web:
            source = WebApi(server, key=KEY, cache=cache, files=WebFiles(folder / "files"))
        else:
            source = LocalApi(server, data_dir=folder, base_folder=None, cache=cache)

        def put(entries: list[dict[str, object]]) -> None:
            for entry in entries:
                api.put(entry)

        yield source, put


def stopwatch() -> Callable[[], Taken]:
    """What has been taken since, when asked."""
    clock, cpu = time.monotonic(), time.process_time()
    return lambda: Taken(time.monotonic() - clock, time.process_time() - cpu)


async def synced(stage: Stage) -> Taken:
    """A sync from asking to its end."""
    taken = stopwatch()
    call = stage.library.Sync(pb.SyncRequest(), timeout=3600)
    async for _ in call:
        pass
    return taken()


async def until(claim: Callable[[], Awaitable[bool]]) -> None:
    """Ask again and again until it is so."""
    async with asyncio.timeout(DEADLINE_S):
        while not await claim():  # noqa: ASYNC110 (what is waited for is told by a server)
            await asyncio.sleep(0.1)


async def found_after(stage: Stage, folder: Path, number: int, add: Callable[..., None]) -> Taken:
    """From the word of a change to the first search that finds the new paper."""
    entries = await asyncio.to_thread(new_paper, folder, number)
    add(entries)
    query = f"{NEEDLE}{number}"

    async def is_found() -> bool:
        return any(query in hit.passage.text for hit in await stage.hits(query))

    taken = stopwatch()
    await stage.library.NotifyChange(sync_control_pb2.NotifyChangeRequest(), timeout=30)
    await until(is_found)
    return taken()


async def measured(kind: str) -> AsyncIterator[Row]:
    """The rows of one source, with the index filled first."""
    with tempfile.TemporaryDirectory(prefix="zocrates-bench-") as temp:
        folder = Path(temp) / "Zotero"
        told = await asyncio.to_thread(library, folder)
        encoder = WordEncoder()
        async with (
            opened(kind, told, folder) as (source, add),
            search_stage(
                Path(temp) / "index",
                source,
                encoder=encoder,
                sources=FakeSources(first=source),
                open_reader=Extractor,
            ) as stage,
        ):
            yield Row(f"{kind}: first sync, text and stand-in vectors", [await synced(stage)])
            seconds = [await synced(stage) for _ in range(REPEATS)]
            yield Row(f"{kind}: sync of the unchanged library", seconds)
            if kind != "web":
                new = [await found_after(stage, folder, n, add) for n in range(REPEATS)]
                yield Row(f"{kind}: new paper of {PAGES} pages, word to first hit", new)
            # A passage is embedded under its title; queries stand alone.
            passages = [text for text in encoder.texts if "\n" in text]
            again = len(passages) - len(set(passages))
            print(f"{kind}: texts embedded twice: {again}", file=sys.stderr)


async def measured_while_busy(encoder: Encoder, what: str) -> Row:
    """A new paper while the library is still being read and its vectors made."""
    with tempfile.TemporaryDirectory(prefix="zocrates-bench-") as temp:
        folder = Path(temp) / "Zotero"
        told = await asyncio.to_thread(library, folder)
        async with (
            opened("sqlite", told, folder) as (source, add),
            search_stage(
                Path(temp) / "index",
                source,
                encoder=encoder,
                sources=FakeSources(first=source),
                open_reader=Extractor,
            ) as stage,
        ):

            async def has_begun() -> bool:
                status = await stage.library.GetStatus(pb.GetStatusRequest(), timeout=30)
                return status.counts.documents > 0

            await until(has_begun)
            seconds = [await found_after(stage, folder, n, add) for n in range(REPEATS)]
            return Row(f"sqlite: new paper of {PAGES} pages {what}", seconds)


async def main() -> None:
    """Print the table."""
    print(machine())
    print(f"{ITEMS} items with abstract and file; median and worst of {REPEATS}\n")
    print("| what | median | worst | processor |\n| --- | --- | --- | --- |")
    for kind in ("sqlite", "10", "9", "web"):
        async for row in measured(kind):
            print(row, flush=True)
    print(await measured_while_busy(WordEncoder(), "while the first sync runs"), flush=True)
    settings = Settings(index_uri="unused", models_dir=models_folder())
    encoder = await asyncio.to_thread(load_encoder, settings)
    print(await measured_while_busy(encoder, "while it runs with the real encoder"), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
