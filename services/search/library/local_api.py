"""A library read from the running Zotero over its local API."""

import asyncio
from collections.abc import Hashable, Iterator
from dataclasses import replace
from pathlib import Path

from services.search.library.api_http import (
    NOT_FOUND,
    ApiHttp,
    Listing,
    Manners,
    Unsteady,
    number_in,
)
from services.search.library.api_items import Json, link_mode_of, text
from services.search.library.api_library import ToldLibrary, records_of
from services.search.library.attachment_paths import Folders, Location, missing
from services.search.library.enclosures import folders_of, stored_path_of
from services.search.library.object_cache import Known, ObjectCache
from services.search.library.records import (
    USER_LIBRARY,
    Library,
    LibraryRecords,
    RemoteFile,
    group_library,
)
from services.search.library.source import LibraryLocked, SourceUnreachable
from services.search.library.watch import library_signature

USER_TITLE = "My Library"
ATTEMPTS = 4
PAUSE_S = 0.5
# Zotero answers on the thread that draws its window: one question at a time, not too long ones.
LOCAL_MANNERS = Manners(concurrency=1, page=1_000, timeout_s=60.0)
WITH_TRASH = {"includeTrashed": 1}
NO_ANNOTATIONS = (
    "This version of Zotero does not give annotations over its local interface, so none are "
    "searched; name Zotero's data folder as the source, or update Zotero, to have them."
)
OLDEST = "7."
KEYS_AT_ONCE = 50


class LocalApi:
    """The Zotero that runs on this machine; it only has to be asked, never searched for."""

    kind = "local_api"

    def __init__(
        self,
        server: str,
        *,
        data_dir: Path | None,
        base_folder: Path | None,
        cache: ObjectCache,
        manners: Manners = LOCAL_MANNERS,
    ) -> None:
        """`data_dir` and `base_folder` are used where Zotero's replies do not show them."""
        self._server = server.rstrip("/")
        self._folders = Folders(data_dir=data_dir, base_folder=base_folder) if data_dir else None
        self._base_folder = base_folder
        self._cache = cache
        self._http = ApiHttp(
            f"{self._server}/api",
            who=f"Zotero at {self._server}",
            # Without it a version that takes us for a browser would not answer at all.
            headers={"Zotero-Allowed-Request": "true", "Zotero-API-Version": "3"},
            manners=manners,
            help_when_refused=(
                "In Zotero, turn on Settings > Advanced > Allow other applications on this "
                "computer to communicate with Zotero."
            ),
            help_when_silent="Start Zotero, or name its data folder as the source.",
        )

    @property
    def location(self) -> str:
        """Where Zotero answers."""
        return self._server

    @property
    def program(self) -> str:
        """The version of Zotero that answered last."""
        told = self._http.latest.get("X-Zotero-Version", "")
        return f"Zotero {told}" if told else ""

    async def aclose(self) -> None:
        """Close the connection and the cache."""
        await self._http.aclose()
        self._cache.close()

    async def read(self) -> LibraryRecords:
        """Everything outside the trash, of all libraries that Zotero has."""
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(PAUSE_S * attempt)
            try:
                return await self._read()
            except Unsteady:
                continue
        raise LibraryLocked(
            "The library kept changing while it was read from Zotero; wait until Zotero has "
            "finished its work and sync again."
        )

    async def signature(self) -> Hashable:
        """The state of the database's files where they are known, else what Zotero says."""
        if self._folders is not None:
            return await asyncio.to_thread(library_signature, self._folders.data_dir)
        told = []
        for library in await self._libraries():
            prefix = _prefix(library)
            response = await self._http.get(
                f"{prefix}/items", {"limit": 1, "sort": "dateModified", "direction": "desc"}
            )
            headers = response.headers
            counts = (headers.get("Total-Results"), headers.get("Last-Modified-Version"))
            told.append((library.name, *counts, response.text))
        return tuple(told)

    async def fetch(self, file: RemoteFile) -> Location:
        """Every file of this source is on this machine, or is missing."""
        return missing(f"The file {file.name!r} is not on this machine.")

    async def _read(self) -> LibraryRecords:
        libraries = await self._libraries()
        told = [await self._told(library) for library in libraries]
        headers = self._http.latest
        folders = await asyncio.to_thread(folders_of, _attachments(told), self._base_folder)
        if folders is not None:
            self._folders = folders
        has_annotations = any(_is_annotation(one) for library in told for one in library.items)
        lacks = headers.get("X-Zotero-Version", "").startswith(OLDEST) and not has_annotations
        return await asyncio.to_thread(
            records_of,
            told,
            self._locate,
            schema_version=number_in(headers, "Zotero-Schema-Version") or 0,
            notices=(NO_ANNOTATIONS,) if lacks else (),
        )

    async def _libraries(self) -> list[Library]:
        groups = await self._http.listing("/users/0/groups")
        return [Library(name=USER_LIBRARY, title=USER_TITLE), *map(group_of, groups.objects)]

    async def _told(self, library: Library) -> ToldLibrary:
        """One library; only what changed is asked for where versions tell that."""
        prefix = _prefix(library)
        known = await asyncio.to_thread(self._cache.known, library.name)
        collections = await self._http.listing(f"{prefix}/collections", WITH_TRASH)
        searches = await self._http.listing(f"{prefix}/searches")
        # Since version 10 a server id says that versions count every change made here; before,
        # they were those of the last upload and tell nothing of what was typed since.
        origin = self._http.latest.get("Zotero-Server-ID", "")
        if origin and known is not None and known.origin == origin:
            items = await self._update(library, known, collections)
        else:
            items = await self._whole(library, origin)
        return ToldLibrary(
            library=library,
            items=items,
            collections=collections.objects,
            searches=searches.objects,
        )

    async def _whole(self, library: Library, origin: str) -> tuple[Json, ...]:
        prefix = _prefix(library)
        items = await self._http.listing(f"{prefix}/items", WITH_TRASH)
        objects = items.objects
        if not any(_is_annotation(one) for one in objects):
            # Some versions leave them out unless they are asked for by name.
            marks = await self._http.listing(f"{prefix}/items", {"itemType": "annotation"})
            objects += marks.objects
        if origin and items.version is not None:
            known = Known(origin=origin, version=items.version)
            await asyncio.to_thread(self._cache.replace, library.name, known, {"item": objects})
        return objects

    async def _update(
        self, library: Library, known: Known, collections: Listing
    ) -> tuple[Json, ...]:
        """What is known, brought up to date: there are no tombstones, so keys are compared."""
        prefix, name = _prefix(library), library.name
        changed = await self._http.listing(f"{prefix}/items", WITH_TRASH, since=known.version)
        response = await self._http.get(f"{prefix}/items", {**WITH_TRASH, "format": "keys"})
        present = set() if response.status_code == NOT_FOUND else set(response.text.split())
        held = await asyncio.to_thread(self._cache.keys, name, "item")
        told = {text(one["data"]["key"]): one for one in changed.objects}
        for keys in _chunks(sorted(present - held - told.keys())):
            more = await self._http.listing(
                f"{prefix}/items", {**WITH_TRASH, "itemKey": ",".join(keys)}
            )
            told |= {text(one["data"]["key"]): one for one in more.objects}
        versions = [one for one in (changed.version, collections.version) if one is not None]
        await asyncio.to_thread(
            self._cache.update,
            name,
            replace(known, version=min(versions, default=known.version)),
            {"item": list(told.values())},
            {"item": sorted(held - present)},
        )
        return await asyncio.to_thread(self._cache.objects, name, "item")

    def _locate(self, library: str, entry: Json) -> Location:
        data = entry["data"]
        mode = link_mode_of(data)
        assert mode is not None
        if self._folders is None:
            # Only stored files say where the data folder is, and there may be none.
            nowhere = Folders(data_dir=Path(), base_folder=self._base_folder)
            if mode.is_stored:
                return missing("Zotero does not say where its data folder is.")
            folders = nowhere
        else:
            folders = self._folders
        return folders.locate(
            library=library,
            key=text(data["key"]),
            link_mode=mode,
            stored_path=stored_path_of(data),
        )


def group_of(entry: Json) -> Library:
    """A group as the groups' list tells it."""
    data = entry.get("data") or entry
    number = entry.get("id") or data.get("id")
    if not isinstance(number, int):
        raise SourceUnreachable("The list of groups holds one without a number.")
    return Library(name=group_library(number), title=text(data.get("name") or entry.get("name")))


def _prefix(library: Library) -> str:
    return "/users/0" if library.name == USER_LIBRARY else f"/{library.name}"


def _is_annotation(entry: Json) -> bool:
    return bool(entry["data"].get("itemType") == "annotation")


def _attachments(told: list[ToldLibrary]) -> list[Json]:
    return [
        entry
        for one in told
        for entry in one.items
        if entry["data"].get("itemType") == "attachment"
    ]


def _chunks(keys: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(keys), KEYS_AT_ONCE):
        yield keys[start : start + KEYS_AT_ONCE]
