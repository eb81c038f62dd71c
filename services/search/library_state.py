"""What the index keeps about the library as a whole, beside its documents."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChoice:
    """Where a library is to be read from."""

    kind: str
    """`sqlite`, `local_api` or `web_api`."""
    data_dir: str = ""
    """Zotero's data folder; may be empty for an API."""
    server: str = ""
    """Where an API answers; empty for its usual place."""
    base_folder: str = ""
    """Zotero's base directory for linked files; may be empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCollection:
    """A collection, with its place in the tree."""

    path: str
    """`<library>/<key>`."""
    name: str
    parent: str = ""
    """The path of the collection around it; empty at the top."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSearch:
    """A saved search and what it held at the last sync."""

    path: str
    """`<library>/<key>`."""
    name: str
    items: tuple[str, ...] = ()
    """`<library>/<key>` of top-level items."""
    unsupported: tuple[str, ...] = ()
    """Conditions that cannot be evaluated here; then the search cannot be a scope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """A sync that has begun and not ended: where the next one goes on."""

    done: int
    total: int
    current: str = ""
    reread_before: str = ""
    """Documents of an earlier generation were still to be read again; empty if none were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryState:
    """What the syncs so far found out about the library as a whole."""

    source_kind: str = ""
    source_location: str = ""
    source_program: str = ""
    demo: bool = False
    chosen: SourceChoice | None = None
    """The source that a person chose while the process ran."""
    chosen_over: SourceChoice | None = None
    """What the settings named then: once they name something else, they count again."""
    synced_at_ms: int = 0
    """Milliseconds since 1970; 0 before the first complete sync."""
    libraries: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    """The libraries' names for people."""
    tree: tuple[KnownCollection, ...] = ()
    """All collections, also the empty ones."""
    searches: tuple[KnownSearch, ...] = ()
    automatic_tags: frozenset[str] = frozenset()
    """`<library>/<tag>` of tags that nobody has set by hand anywhere in the library."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """From `<library>/<key>` of a duplicate or merged item to the key of the one that stays."""
    notices: tuple[str, ...] = ()
    """What the source cannot give."""
    unfinished: Unfinished | None = None
    last_error: str = ""

    @property
    def collections(self) -> frozenset[str]:
        """The paths of all collections."""
        return frozenset(one.path for one in self.tree)


def state_json(state: LibraryState) -> str:
    """The state as the manifest keeps it."""
    kept = asdict(state)
    kept["automatic_tags"] = sorted(state.automatic_tags)
    return json.dumps(kept, ensure_ascii=False)


def state_of(text: str) -> LibraryState:
    """The state that the manifest keeps; what an earlier version did not write is as at first."""
    kept: dict[str, Any] = json.loads(text)
    names = {one.name for one in fields(LibraryState)}
    values = {name: value for name, value in kept.items() if name in names}
    for name in ("chosen", "chosen_over"):
        if values.get(name):
            values[name] = SourceChoice(**values[name])
    if values.get("unfinished"):
        values["unfinished"] = Unfinished(**values["unfinished"])
    values["libraries"] = tuple(values.get("libraries", ()))
    values["notices"] = tuple(values.get("notices", ()))
    values["automatic_tags"] = frozenset(values.get("automatic_tags", ()))
    values["tree"] = tuple(KnownCollection(**one) for one in values.get("tree", ()))
    values["searches"] = tuple(_search(one) for one in values.get("searches", ()))
    return LibraryState(**values)


def _search(kept: Mapping[str, Any]) -> KnownSearch:
    lists = {name: tuple(kept[name]) for name in ("items", "unsupported")}
    return KnownSearch(**{**kept, **lists})
