"""Which source the library is read from: what the settings name, or what a person chose since."""

import asyncio
import hashlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from services.search.library.database_copy import DATABASE
from services.search.library.local_api import LocalApi
from services.search.library.object_cache import ObjectCache
from services.search.library.source import InvalidSource, LibrarySource, NoSource, SourceFixed
from services.search.library.sqlite_snapshot import SqliteSnapshot
from services.search.library.web_api import WEB_SERVER, WebApi
from services.search.library.web_files import WebFiles
from services.search.library_state import LibraryState, SourceChoice

LOCAL_SERVER = "http://127.0.0.1:23119"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
KINDS = ("sqlite", "local_api", "web_api")
# Nobody looks at a server of others every minute.
WEB_RECHECK_S = 300.0
NOT_NAMED = (
    "No Zotero library is set: SEARCH_LIBRARY_DIR names its data folder, and "
    "`zocrates library --data-dir FOLDER` sets it while Zocrates runs."
)
NO_PLACE_FOR_FILES = "Files of the web API need a folder of this machine: set SEARCH_CACHE_DIR."


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Opens sources by choice."""

    configured: SourceChoice | None
    """What the settings name; None when they name nothing."""
    cache_dir: Path | None = None
    """Where replies and files of APIs are kept; without it replies are kept in memory, and files
    cannot be fetched."""
    web_key: str = ""
    is_demo_library: bool = False
    """Whether the configured library is the invented one."""
    is_changeable: bool = False
    """Whether a person may choose another one."""

    def none(self) -> LibrarySource:
        """The source before there is one."""
        return NoSource(NOT_NAMED)

    def opened_at_start(self, state: LibraryState) -> LibrarySource:
        """The source that was chosen while the settings named what they name now, else theirs."""
        if state.chosen is not None and state.chosen_over == self.configured:
            return self._opened(state.chosen)
        return self._opened(self.configured) if self.configured is not None else self.none()

    async def opened_for_person(self, choice: SourceChoice) -> LibrarySource:
        """The source that a person chose; raises InvalidSource, SourceFixed."""
        if not self.is_changeable:
            raise SourceFixed(
                "Where the library is read from is set by whoever runs this server, "
                "with SEARCH_SOURCE and SEARCH_LIBRARY_DIR."
            )
        await asyncio.to_thread(self._require_valid, choice)
        return self._opened(choice)

    def is_demo(self, location: str) -> bool:
        """Whether the library at this place is the invented one."""
        configured = self.configured
        return self.is_demo_library and configured is not None and location == configured.data_dir

    def recheck_s(self, kind: str) -> float:
        """How long at least a source of this kind is left alone."""
        return WEB_RECHECK_S if kind == WebApi.kind else 0.0

    def _opened(self, choice: SourceChoice) -> LibrarySource:
        folder = Path(choice.data_dir) if choice.data_dir else None
        base = Path(choice.base_folder) if choice.base_folder else None
        match choice.kind:
            case "local_api":
                server = choice.server or LOCAL_SERVER
                cache = self._cache("local_api", server)
                return LocalApi(server, data_dir=folder, base_folder=base, cache=cache)
            case "web_api":
                server = choice.server or WEB_SERVER
                if self.cache_dir is None:
                    return NoSource(NO_PLACE_FOR_FILES)
                return WebApi(
                    server,
                    key=self.web_key,
                    cache=self._cache("web_api", server, self.web_key),
                    files=WebFiles(self.cache_dir / "files"),
                )
            case _:
                return SqliteSnapshot(Path(choice.data_dir), base)

    def _cache(self, *names: str) -> ObjectCache:
        """Another key may read other things, so each has a cache of its own."""
        if self.cache_dir is None:
            return ObjectCache(None)
        name = hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
        return ObjectCache(self.cache_dir / f"{names[0]}-{name}.sqlite")

    def _require_valid(self, choice: SourceChoice) -> None:
        """Raise InvalidSource with what is wrong; looks at the disk, blocks."""
        if choice.kind not in KINDS:
            raise InvalidSource(
                f"{choice.kind!r} is no kind of source; the kinds are {', '.join(KINDS)}."
            )
        if choice.kind == SqliteSnapshot.kind and not choice.data_dir:
            raise InvalidSource("Name Zotero's data folder, the one with zotero.sqlite.")
        if choice.data_dir:
            _require_data_folder(choice.data_dir)
        if choice.base_folder and not _is_folder(choice.base_folder):
            raise InvalidSource(f"There is no folder {choice.base_folder!r} for linked files.")
        if choice.kind == LocalApi.kind:
            _require_loopback(choice.server or LOCAL_SERVER)
        if choice.kind == WebApi.kind:
            self._require_own_server(choice.server)

    def _require_own_server(self, server: str) -> None:
        if not self.web_key:
            raise InvalidSource("Zotero's server needs a key: set SEARCH_WEB_KEY and start again.")
        configured = self.configured.server if self.configured is not None else ""
        # The key must not be sent to wherever a request says.
        if server not in ("", WEB_SERVER) and server != configured:
            raise InvalidSource("Another server for the web API is named by SEARCH_SERVER only.")


def _require_data_folder(name: str) -> None:
    try:
        is_library = Path(name).is_absolute() and (Path(name) / DATABASE).is_file()
    except (OSError, ValueError) as error:
        raise InvalidSource(f"The folder {name!r} cannot be looked up ({error}).") from error
    if not is_library:
        raise InvalidSource(
            f"There is no {DATABASE} in {name!r}; name the whole path of the data folder that "
            "Zotero shows under Settings > Advanced > Files and Folders."
        )


def _require_loopback(server: str) -> None:
    try:
        parts = urlsplit(server)
        is_local = parts.scheme == "http" and parts.hostname in LOOPBACK and parts.port != 0
    except ValueError:
        is_local = False
    if not is_local:
        raise InvalidSource(
            f"{server!r} is not this machine: Zotero's local interface is at {LOCAL_SERVER!r}, or "
            "at another port of 127.0.0.1."
        )


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_absolute() and Path(name).is_dir()
    except (OSError, ValueError):
        return False
