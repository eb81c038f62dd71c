"""What the tables of Zotero's database have in common: objects, types, fields, tags, collections.

Ids are local to a database and even those of types and fields differ between databases, so
everything is joined by name or by (library, key). Every query reads a whole table: a library of
many thousand items costs some dozen queries, whatever its size.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from services.search.library.records import (
    USER_LIBRARY,
    Collection,
    Library,
    Tag,
    group_library,
)

NOT_REGULAR = frozenset({"attachment", "note", "annotation"})
USER_TITLE = "My Library"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row of `items`: any object that has a key, in a library that is read."""

    item_id: int
    library: str
    key: str
    type_name: str
    added: str
    modified: str
    """Both ISO 8601 with a final Z."""


class Tables:
    """Reads whole tables, tolerant of columns and tables that this database's version lacks."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._tables = {
            row[0]
            for row in connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
            )
        }

    def has(self, table: str) -> bool:
        """Whether the database has the table."""
        return table in self._tables

    def rows(self, table: str, *columns: str) -> Iterator[tuple[object, ...]]:
        """All rows of a table, with None for a column it lacks; no rows if the table is missing."""
        if not self.has(table):
            return iter(())
        present = {row[1] for row in self._connection.execute(f'PRAGMA table_info("{table}")')}
        wanted = ", ".join(f'"{name}"' if name in present else "NULL" for name in columns)
        rows: Iterator[tuple[object, ...]] = self._connection.execute(
            f'SELECT {wanted} FROM "{table}"'
        )
        return rows

    def names(self, table: str, id_column: str, name_column: str) -> dict[int, str]:
        """A look-up table such as the item types: id to name."""
        return {number(row[0]): text(row[1]) for row in self.rows(table, id_column, name_column)}


def text(value: object) -> str:
    """A stored value as text: SQLite may keep digits as numbers, and blobs happen."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


def number(value: object) -> int:
    """A stored value as a number; 0 when it is none."""
    if isinstance(value, int):
        return value
    digits = text(value)
    return int(digits) if digits.isdecimal() else 0


def timestamp(value: object) -> str:
    """SQLite's `YYYY-MM-DD HH:MM:SS` (always UTC) as Zotero's interfaces write it."""
    stored = text(value)
    return stored.replace(" ", "T") + "Z" if " " in stored else stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Libraries:
    """The personal library and the groups; feeds and other kinds are never read."""

    records: tuple[Library, ...]
    name_by_id: dict[int, str]


def read_libraries(tables: Tables) -> Libraries:
    """The libraries, the personal one first."""
    groups = {
        number(library_id): (number(group_id), text(name))
        for group_id, library_id, name in tables.rows("groups", "groupID", "libraryID", "name")
    }
    found: dict[int, Library] = {}
    for raw_id, kind in tables.rows("libraries", "libraryID", "type"):
        library_id = number(raw_id)
        if kind == "user":
            found[library_id] = Library(name=USER_LIBRARY, title=USER_TITLE)
        elif kind == "group" and library_id in groups:
            group_id, title = groups[library_id]
            found[library_id] = Library(name=group_library(group_id), title=title)
    records = sorted(
        found.values(), key=lambda library: (library.name != USER_LIBRARY, library.name)
    )
    return Libraries(
        records=tuple(records), name_by_id={key: library.name for key, library in found.items()}
    )


def read_entries(tables: Tables, libraries: Libraries) -> dict[int, Entry]:
    """Every object with a key by its local id, the trash included."""
    types = tables.names("itemTypesCombined", "itemTypeID", "typeName")
    types = types or tables.names("itemTypes", "itemTypeID", "typeName")
    columns = ("itemID", "libraryID", "key", "itemTypeID", "dateAdded", "dateModified")
    return {
        number(item_id): Entry(
            item_id=number(item_id),
            library=libraries.name_by_id[number(library_id)],
            key=text(key),
            type_name=types.get(number(type_id), ""),
            added=timestamp(added),
            modified=timestamp(modified),
        )
        for item_id, library_id, key, type_id, added, modified in tables.rows("items", *columns)
        if number(library_id) in libraries.name_by_id
    }


def read_trash(tables: Tables) -> set[int]:
    """The ids of objects in the trash, by themselves or through the object they belong to."""
    parents = {
        number(child): number(parent)
        for table in ("itemAttachments", "itemNotes", "itemAnnotations")
        for child, parent in tables.rows(table, "itemID", "parentItemID")
        if parent is not None
    }
    trashed = {number(row[0]) for row in tables.rows("deletedItems", "itemID")}
    # Two rounds reach an annotation by way of its attachment from the item.
    for _ in range(2):
        trashed |= {child for child, parent in parents.items() if parent in trashed}
    return trashed


def read_tags(tables: Tables) -> dict[int, tuple[Tag, ...]]:
    """The tags of each object, by name."""
    names = tables.names("tags", "tagID", "name")
    found: dict[int, list[Tag]] = defaultdict(list)
    for item_id, tag_id, kind in tables.rows("itemTags", "itemID", "tagID", "type"):
        if number(tag_id) in names:
            tag = Tag(name=names[number(tag_id)], automatic=number(kind) == 1)
            found[number(item_id)].append(tag)
    return {
        item_id: tuple(sorted(tags, key=lambda tag: (tag.name, tag.automatic)))
        for item_id, tags in found.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Collections:
    """The collections outside the trash and which of them hold an object directly."""

    records: tuple[Collection, ...]
    keys_by_item: dict[int, tuple[str, ...]]


def read_collections(tables: Tables, libraries: Libraries) -> Collections:
    """The collections; one below a collection in the trash is in the trash too."""
    columns = ("collectionID", "libraryID", "key", "collectionName", "parentCollectionID")
    rows = {
        number(row[0]): row
        for row in tables.rows("collections", *columns)
        if number(row[1]) in libraries.name_by_id
    }
    trashed = {number(row[0]) for row in tables.rows("deletedCollections", "collectionID")}
    live = {key for key in rows if not _below(key, rows, trashed)}
    records = []
    for collection_id in live:
        _, library_id, key, name, parent = rows[collection_id]
        record = Collection(
            library=libraries.name_by_id[number(library_id)],
            key=text(key),
            name=text(name),
            parent_key=text(rows[number(parent)][2]) if number(parent) in live else None,
        )
        records.append(record)
    members: dict[int, list[str]] = defaultdict(list)
    for member_of, item_id in tables.rows("collectionItems", "collectionID", "itemID"):
        if number(member_of) in live:
            members[number(item_id)].append(text(rows[number(member_of)][2]))
    return Collections(
        records=tuple(sorted(records, key=lambda record: (record.library, record.key))),
        keys_by_item={item_id: tuple(sorted(keys)) for item_id, keys in members.items()},
    )


def _below(collection_id: int, rows: dict[int, tuple[object, ...]], trashed: set[int]) -> bool:
    """Whether the collection or one that it is in is trashed; a ring of parents ends the walk."""
    seen: set[int] = set()
    current = collection_id
    while current in rows and current not in seen:
        if current in trashed:
            return True
        seen.add(current)
        current = number(rows[current][4])
    return False
