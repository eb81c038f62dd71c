"""Loads what the demo library holds besides the printed papers."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.demo.content import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A folder of the library."""

    id: str
    name: str
    parent: str | None = None
    library: str = "user"
    trashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """An attachment of a record without a paper: missing, link, snapshot, or copy of a paper."""

    kind: str
    title: str
    file_name: str = ""
    url: str = ""
    html: str = ""
    paper: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note, of an item or standing alone, that may cite items."""

    id: str
    title: str
    html: str
    parent: str | None = None
    cites: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    trashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A bibliographic record and its attachments."""

    entry: Entry
    attachments: tuple[Attachment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The group library."""

    id: int
    name: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """A feed with one headline, which is nobody's library."""

    name: str
    url: str
    guid: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Everything of the demo library that is not a printed paper."""

    group: Group
    feed: Feed
    collections: tuple[Collection, ...]
    records: tuple[Record, ...]
    notes: tuple[Note, ...]
    relations: tuple[tuple[str, str], ...]


def load_catalogue(path: Path) -> Catalogue:
    """Read the catalogue's source file."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return Catalogue(
        group=Group(**table["group"]),
        feed=Feed(**table["feed"]),
        collections=tuple(Collection(**one) for one in table["collections"]),
        records=tuple(_record(one) for one in table["items"]),
        notes=tuple(_note(one) for one in table["notes"]),
        relations=tuple((one["subject"], one["object"]) for one in table["relations"]),
    )


def _record(table: dict[str, Any]) -> Record:
    attachments = tuple(Attachment(**one) for one in table.get("attachments", ()))
    return Record(entry=Entry.read(table["slug"], table), attachments=attachments)


def _note(table: dict[str, Any]) -> Note:
    lists = {name: tuple(table.get(name, ())) for name in ("cites", "collections", "tags")}
    return Note(**{**table, **lists, "html": " ".join(table["html"].split())})
