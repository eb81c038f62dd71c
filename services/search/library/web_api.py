"""A library read from Zotero's servers, for those who have no Zotero at hand."""

import asyncio
from collections.abc import Hashable, Mapping
from typing import Any

from services.search.library.api_http import ApiHttp, Manners, Unsteady, number_in
from services.search.library.api_items import Json, link_mode_of, text
from services.search.library.api_library import ToldLibrary, records_of
from services.search.library.attachment_paths import Location, linked_in_group, missing
from services.search.library.local_api import ATTEMPTS, PAUSE_S, USER_TITLE, WITH_TRASH, group_of
from services.search.library.object_cache import Kind, Known, ObjectCache
from services.search.library.records import (
    USER_LIBRARY,
    Library,
    LibraryRecords,
    LinkMode,
    RemoteFile,
)
from services.search.library.source import LibraryLocked, SourceRefused
from services.search.library.web_files import WebFiles

WEB_SERVER = "https://api.zotero.org"
# What the service serves at most on a page, and a modest number of requests at once.
WEB_MANNERS = Manners(concurrency=2, page=100, timeout_s=30.0)
KINDS: tuple[Kind, ...] = ("item", "collection", "search")
PLURALS: Mapping[Kind, str] = {
    "item": "items",
    "collection": "collections",
    "search": "searches",
}
LINKED_ELSEWHERE = (
    "Linked files are on the computer where they were linked, not on Zotero's server."
)
NOT_UPLOADED = "The file has not been uploaded to Zotero's server."
NO_FILES = "The key gives no files, so of attachments only annotations and notes are searched."
NO_NOTES = "The key gives no notes, so none are searched."


class WebApi:
    """The library of the key's owner and the groups that the key may read."""

    kind = "web_api"
    program = "Zotero's server"

    def __init__(
        self,
        server: str,
        *,
        key: str,
        cache: ObjectCache,
        files: WebFiles,
        manners: Manners = WEB_MANNERS,
    ) -> None:
        self._server = server.rstrip("/")
        self._cache = cache
        self._files = files
        self._rights: Mapping[str, Any] | None = None
        self._http = ApiHttp(
            self._server,
            who=f"Zotero's server at {self._server}",
            headers={"Zotero-API-Version": "3", "Zotero-API-Key": key},
            manners=manners,
            help_when_refused=(
                "Check the key in SEARCH_WEB_KEY and what it may read in the settings of your "
                "Zotero account."
            ),
            help_when_silent="Check the connection; the next sync tries again.",
        )

    @property
    def location(self) -> str:
        """The server."""
        return self._server

    async def aclose(self) -> None:
        """Close the connections and the cache."""
        await self._http.aclose()
        self._cache.close()

    async def read(self) -> LibraryRecords:
        """Everything outside the trash that the key may read."""
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(PAUSE_S * attempt)
            try:
                return await self._read()
            except Unsteady:
                continue
        raise LibraryLocked(
            "The library kept changing on Zotero's server while it was read; sync again later."
        )

    async def signature(self) -> Hashable:
        """The version of each library."""
        told = []
        for library, prefix in await self._libraries():
            response = await self._http.get(f"{prefix}/items", {"limit": 1, "format": "keys"})
            told.append((library.name, response.headers.get("Last-Modified-Version")))
        return tuple(told)

    async def fetch(self, file: RemoteFile) -> Location:
        """The file on this machine, downloaded unless it was before."""
        path = f"{await self._prefix(file.library)}/items/{file.key}/file"
        return await self._files.fetch(self._http, file, f"{self._server}{path}")

    async def _read(self) -> LibraryRecords:
        self._rights = None
        told = [await self._told(library, prefix) for library, prefix in await self._libraries()]
        schema = number_in(self._http.latest, "Zotero-Schema-Version") or 0
        return await asyncio.to_thread(
            records_of, told, _locate, schema_version=schema, notices=self._notices()
        )

    async def _owner(self) -> Mapping[str, Any]:
        if self._rights is None:
            rights = await self._http.json("/keys/current")
            if not isinstance(rights, Mapping) or "userID" not in rights:
                raise SourceRefused(
                    "Zotero's server does not know the key in SEARCH_WEB_KEY; make one in the "
                    "settings of your Zotero account."
                )
            self._rights = rights
        return self._rights

    async def _prefix(self, library: str) -> str:
        if library != USER_LIBRARY:
            return f"/{library}"
        return f"/users/{(await self._owner())['userID']}"

    async def _libraries(self) -> list[tuple[Library, str]]:
        """The libraries that the key may read, each with where it is."""
        owner = await self._owner()
        access = owner.get("access") or {}
        found = []
        if (access.get("user") or {}).get("library"):
            library = Library(name=USER_LIBRARY, title=USER_TITLE)
            found.append((library, await self._prefix(USER_LIBRARY)))
        groups = await self._http.listing(f"/users/{owner['userID']}/groups")
        for entry in groups.objects:
            group = group_of(entry)
            found.append((group, f"/{group.name}"))
        if not found:
            raise SourceRefused("The key in SEARCH_WEB_KEY may read no library at all.")
        return found

    def _notices(self) -> tuple[str, ...]:
        user = ((self._rights or {}).get("access") or {}).get("user") or {}
        told = []
        if user.get("library") and not user.get("files"):
            told.append(NO_FILES)
        if user.get("library") and user.get("notes") is False:
            told.append(NO_NOTES)
        return tuple(told)

    async def _told(self, library: Library, prefix: str) -> ToldLibrary:
        known = await asyncio.to_thread(self._cache.known, library.name)
        if known is not None and known.origin == prefix:
            await self._update(library.name, prefix, known)
        else:
            await self._whole(library.name, prefix)
        held = {
            kind: await asyncio.to_thread(self._cache.objects, library.name, kind) for kind in KINDS
        }
        return ToldLibrary(
            library=library,
            items=held["item"],
            collections=held["collection"],
            searches=held["search"],
        )

    async def _whole(self, name: str, prefix: str) -> None:
        told: dict[Kind, tuple[Json, ...]] = {}
        versions = []
        for kind in KINDS:
            listing = await self._http.listing(f"{prefix}/{PLURALS[kind]}", WITH_TRASH)
            told[kind] = listing.objects
            versions.append(listing.version or 0)
        # The lowest: what changed between two lists is asked for again next time.
        known = Known(origin=prefix, version=min(versions))
        await asyncio.to_thread(self._cache.replace, name, known, told)

    async def _update(self, name: str, prefix: str, known: Known) -> None:
        told: dict[Kind, tuple[Json, ...]] = {}
        versions = []
        for kind in KINDS:
            path = f"{prefix}/{PLURALS[kind]}"
            listing = await self._http.listing(path, WITH_TRASH, since=known.version)
            if kind == "item" and listing.is_unchanged:
                # The version is the library's: nothing else changed either.
                return
            told[kind] = listing.objects
            versions.append(listing.version or known.version)
        deleted = await self._http.json(f"{prefix}/deleted", {"since": known.version}) or {}
        gone = {kind: [text(key) for key in deleted.get(PLURALS[kind], ())] for kind in KINDS}
        # Deleted and made again under the same key: what was told is the later state.
        for kind in KINDS:
            present = {text(one["data"]["key"]) for one in told[kind]}
            gone[kind] = [key for key in gone[kind] if key not in present]
        new = Known(origin=prefix, version=min(versions))
        await asyncio.to_thread(self._cache.update, name, new, told, gone)


def _locate(library: str, entry: Json) -> Location | RemoteFile:
    """What is known of a file before it is fetched."""
    data = entry["data"]
    mode = link_mode_of(data)
    assert mode is not None
    if mode is LinkMode.LINKED_FILE:
        return missing(LINKED_ELSEWHERE) if library == USER_LIBRARY else linked_in_group()
    if not mode.is_stored:
        return Location()
    md5 = text(data.get("md5"))
    if not md5:
        return missing(NOT_UPLOADED)
    return RemoteFile(
        library=library, key=text(data["key"]), md5=md5, name=text(data.get("filename"))
    )
