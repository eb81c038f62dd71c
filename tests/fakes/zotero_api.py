"""A server that speaks the dialects of Zotero's API from data, over a real socket."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, MutableMapping
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import uvicorn

from tests.fixtures.told_library import Json, Told, content_of, is_stored, md5_of

PROGRAMS = {"7": "7.0.32", "8": "8.0.4", "9": "9.0.1", "10": "10.0.1", "11": "11.0.SOURCE.f2a42"}
LOCAL_VERSIONS = ("10", "11")
USER_ID = 475
KEY = "the-key-of-the-tests"
MOST_ON_A_PAGE = 100
DOES_NOT_ANSWER = 0
ROUTE = re.compile(
    r"^(?P<library>/users/\d+|/groups/\d+)/(?P<what>items|collections|searches|groups|deleted)"
    r"(?:/(?P<key>[^/]+)/(?P<part>file))?$"
)
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


@dataclass
class Reply:
    """What the server answers."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Asked:
    """A request as it came."""

    path: str
    params: dict[str, str]
    headers: dict[str, str]


class ZoteroApi:
    """Some libraries, told in a dialect: `7` to `11` as a running Zotero, or `web`."""

    def __init__(
        self, libraries: Iterable[Told], dialect: str, *, data_dir: Path | None = None
    ) -> None:
        self.dialect = dialect
        self.server_id = "server1"
        self.asked: list[Asked] = []
        self.replies: list[Reply] = []
        """Answered first, before anything of the libraries."""
        self.change_while_paging = 0
        """So often a list changes right after its first page."""
        self.rights: Json = {"user": {"library": True, "files": True, "notes": True}}
        self.is_enabled = True
        self.page = MOST_ON_A_PAGE
        self.archived: dict[str, bytes] = {}
        """Files that are served as archives, by attachment."""
        self._data_dir = data_dir
        self._titles = {one.name: one.title for one in libraries}
        self._version = dict.fromkeys(self._titles, 5)
        self._objects: dict[tuple[str, str], dict[str, Json]] = {}
        self._deleted: dict[tuple[str, str], dict[str, int]] = {}
        for library in libraries:
            for what in ("items", "collections", "searches"):
                entries = deepcopy(getattr(library, what))
                self._objects[library.name, what] = {one["key"]: one for one in entries}
                self._deleted[library.name, what] = {}
                for one in entries:
                    one["version"] = one["data"]["version"] = 5

    @property
    def is_web(self) -> bool:
        return self.dialect == "web"

    def put(self, entry: Json, library: str = "user", what: str = "items") -> None:
        """Add or change an object."""
        self._version[library] += 1
        made = deepcopy(entry)
        # Before version 10 what is typed here keeps the version of the last upload.
        is_counted = self.is_web or self.dialect in LOCAL_VERSIONS
        made["version"] = made["data"]["version"] = self._version[library] if is_counted else 5
        self._objects[library, what][made["key"]] = made

    def delete(self, key: str, library: str = "user", what: str = "items") -> None:
        """Erase an object for good; only the web keeps a tombstone."""
        self._version[library] += 1
        del self._objects[library, what][key]
        self._deleted[library, what][key] = self._version[library]

    def forget_library(self, library: str) -> None:
        """Take a group away."""
        del self._titles[library]

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        params = dict(parse_qsl(scope["query_string"].decode(), keep_blank_values=True))
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        asked = Asked(scope["path"], params, headers)
        self.asked.append(asked)
        reply = self.replies.pop(0) if self.replies else self._reply(asked)
        if reply.status == DOES_NOT_ANSWER:
            await asyncio.Event().wait()
        raw = [(name.encode(), value.encode()) for name, value in reply.headers.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": raw})
        await send({"type": "http.response.body", "body": reply.body})

    def _reply(self, asked: Asked) -> Reply:
        path = asked.path
        if path.startswith("/storage/"):
            return self._stored(path.removeprefix("/storage/"))
        if self.is_web:
            if asked.headers.get("zotero-api-key") != KEY:
                return Reply(403, b"Invalid key")
            if path == "/keys/current":
                return self._json({"key": KEY, "userID": USER_ID, "access": self.rights})
        else:
            # What looks like a browser gets no answer from a real one.
            if (
                asked.headers.get("user-agent", "").startswith("Mozilla/")
                or "origin" in asked.headers
            ):
                return Reply(400, b"")
            if not self.is_enabled:
                return Reply(403, b"Local API is not enabled")
            path = path.removeprefix("/api")
        found = ROUTE.match(path)
        if found is None or (found["what"] == "deleted" and not self.is_web):
            return Reply(404, b"No endpoint found\n")
        library = "user" if found["library"].startswith("/users") else found["library"][1:]
        if library not in self._titles:
            return Reply(404, b"Not found")
        if found["part"]:
            return self._file(library, found["key"])
        match found["what"]:
            case "groups":
                return self._json([self._group(name) for name in self._titles if name != "user"])
            case "deleted":
                since = int(asked.params["since"])
                gone = {
                    what: [key for key, at in keys.items() if at > since]
                    for (name, what), keys in self._deleted.items()
                    if name == library
                }
                return self._json(gone, self._version[library])
        return self._list(library, found["what"], asked)

    def _list(self, library: str, what: str, asked: Asked) -> Reply:
        version = self._version[library] if self.is_web or self.dialect in LOCAL_VERSIONS else 5
        since = asked.headers.get("if-modified-since-version")
        if since and version <= int(since):
            return Reply(304, headers={"Last-Modified-Version": str(version)})
        entries = [self._told(library, one) for one in self._objects[library, what].values()]
        entries = [one for one in entries if self._is_listed(library, one, asked.params)]
        start, limit = int(asked.params.get("start", 0)), int(asked.params.get("limit", 0))
        most = min(limit or 25, self.page) if self.is_web else limit or len(entries)
        page = entries[start : start + most]
        headers = {"Total-Results": str(len(entries)), "Last-Modified-Version": str(version)}
        if self.change_while_paging and start == 0 and len(entries) > len(page):
            self.change_while_paging -= 1
            self._version[library] += 1
        if asked.params.get("format") == "keys":
            return self._with_program(
                Reply(200, "\n".join(one["key"] for one in page).encode(), headers)
            )
        return self._json(page, headers=headers)

    def _is_listed(self, library: str, entry: Json, params: Mapping[str, str]) -> bool:
        data = entry["data"]
        kind = data.get("itemType")
        if kind == "annotation" and self.dialect == "7":
            return False
        if params.get("includeTrashed") != "1" and self._is_trashed(library, data):
            return False
        if "itemKey" in params and data["key"] not in params["itemKey"].split(","):
            return False
        if kind is not None and params.get("itemType", kind) != kind:
            return False
        return bool(entry["version"] > int(params.get("since", 0)) or "since" not in params)

    def _is_trashed(self, library: str, data: Json) -> bool:
        if data.get("deleted"):
            return True
        parent = self._objects[library, "items"].get(data.get("parentItem", ""))
        return parent is not None and self._is_trashed(library, parent["data"])

    def _told(self, library: str, entry: Json) -> Json:
        """The object as this dialect tells it."""
        told = deepcopy(entry)
        data = told["data"]
        if self.is_web:
            if is_stored(data):
                exists = data["filename"] != "absent.pdf"
                data["md5"] = md5_of(library, data["key"]) if exists else None
            # The web tells every field of a type, empty or not.
            if data.get("itemType") == "journalArticle":
                data.setdefault("volume", "")
            return told
        if is_stored(data) and self._data_dir is not None:
            path = self._data_dir / "storage" / data["key"] / data["filename"]
            told["links"]["enclosure"] = {"href": path.as_uri(), "type": data["contentType"]}
        elif data.get("linkMode") == "linked_file" and Path(data["path"]).is_file():
            told["links"]["enclosure"] = {"href": Path(data["path"]).as_uri()}
        return told

    def _group(self, name: str) -> Json:
        number = int(name.rpartition("/")[2])
        return {"id": number, "version": 1, "data": {"id": number, "name": self._titles[name]}}

    def _file(self, library: str, key: str) -> Reply:
        entry = self._objects[library, "items"].get(key)
        if entry is None or entry["data"].get("filename") == "absent.pdf":
            return Reply(404, b"Not found")
        # Another name of this machine is another server to a client.
        headers = {"Location": f"http://localhost:{self.port}/storage/{library}/{key}"}
        if key in self.archived:
            headers["Zotero-File-Compressed"] = "Yes"
        return Reply(302, headers=headers)

    def _stored(self, place: str) -> Reply:
        library, _, key = place.rpartition("/")
        return Reply(200, self.archived.get(key) or content_of(library, key))

    def _json(
        self,
        value: object,
        version: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        told = dict(headers or {})
        if version is not None:
            told["Last-Modified-Version"] = str(version)
        return self._with_program(Reply(200, json.dumps(value).encode(), told))

    def _with_program(self, reply: Reply) -> Reply:
        reply.headers |= {"Zotero-API-Version": "3", "Zotero-Schema-Version": "41"}
        if not self.is_web:
            reply.headers["X-Zotero-Version"] = PROGRAMS[self.dialect]
        if self.dialect in LOCAL_VERSIONS:
            reply.headers["Zotero-Server-ID"] = self.server_id
        return reply

    port = 0


@asynccontextmanager
async def serving_api(api: ZoteroApi) -> AsyncIterator[str]:
    """The server's address while it answers."""
    config = uvicorn.Config(
        api, host="127.0.0.1", port=0, lifespan="off", log_config=None, access_log=False
    )
    server = uvicorn.Server(config)
    # The tests' own signal handlers stay as they are.
    server.capture_signals = _no_signals  # type: ignore[method-assign]
    serving = asyncio.create_task(server.serve())
    try:
        async with asyncio.timeout(10):
            while not server.started:  # noqa: ASYNC110 (the server tells it by this only)
                await asyncio.sleep(0.01)
        api.port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{api.port}"
    finally:
        server.should_exit = True
        server.force_exit = True
        await serving


def _no_signals() -> Any:
    from contextlib import nullcontext

    return nullcontext()
