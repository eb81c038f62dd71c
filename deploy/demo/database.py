"""Writes the rows of a Zotero-shaped database, one kind of object a method."""

import json
import sqlite3
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from deploy.demo.content import ContentError, Entry
from deploy.demo.schema import CREATOR_TYPES, FIELDS, ITEM_TYPES

USER_LIBRARY, GROUP_LIBRARY, FEED_LIBRARY = 1, 2, 3
LIBRARY_IDS = {"user": USER_LIBRARY, "group": GROUP_LIBRARY, "feed": FEED_LIBRARY}
MANUAL_TAG, AUTOMATIC_TAG = 0, 1
ANNOTATION_TYPES = {"highlight": 1, "note": 2, "underline": 5}
_FIRST_DAY = datetime(2026, 9, 1, 8, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentRow:
    """The columns of an attachment; a file in storage has a hash."""

    link_mode: int
    content_type: str | None = None
    path: str | None = None
    storage_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationRow:
    """The columns of an annotation; rectangles are in points from the lower left of the page."""

    kind: str
    text: str | None
    comment: str
    color: str
    page_index: int
    page_label: str
    sort_index: str
    rectangles: list[tuple[float, float, float, float]]


def normalized(text: str | None) -> str | None:
    """Return text without accents in lower case, where SQLite could not make it so itself."""
    if text is None:
        return None
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    ascii_lower = "".join(c.lower() if c.isascii() else c for c in text)
    return bare.lower() if bare.lower() != ascii_lower else None


def _number(names: tuple[str, ...], name: str) -> int:
    if name not in names:
        raise ContentError(f"{name!r} is not one of {names!r}")
    return names.index(name) + 1


class Database:
    """An open database whose object ids and times depend only on the order of calls."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._clock = _FIRST_DAY

    def _now(self) -> str:
        return self._clock.strftime("%Y-%m-%d %H:%M:%S")

    def insert(self, table: str, **columns: object) -> int:
        """Insert one row and return its id."""
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"
        row = self._connection.execute(statement, tuple(columns.values())).lastrowid
        if row is None:
            raise ContentError(f"a row of {table!r} got no id")
        return row

    def add_item(self, item_type: str, library: str, key: str) -> int:
        """Add an item of a type."""
        self._clock += timedelta(minutes=1)
        now = self._now()
        library_id = LIBRARY_IDS[library]
        item = self.insert(
            "items",
            itemTypeID=_number(ITEM_TYPES, item_type),
            dateAdded=now,
            dateModified=now,
            clientDateModified=now,
            libraryID=library_id,
            key=key,
            clientVersion=self._next_client_version(library_id),
        )
        if library == "group":
            self.insert("groupItems", itemID=item)
        return item

    def _next_client_version(self, library_id: int) -> int:
        row = self._connection.execute(
            "UPDATE libraries SET clientVersion = clientVersion + 1 WHERE libraryID = ? "
            "RETURNING clientVersion",
            (library_id,),
        ).fetchone()
        return int(row[0])

    def add_entry(self, entry: Entry, key: str) -> int:
        """Add a bibliographic item with its fields, creators and tags."""
        item = self.add_item(entry.item_type, entry.library, key)
        self.set_fields(item, entry.fields)
        for order, creator in enumerate(entry.creators):
            creator_id = self._creator(creator.first, creator.last, creator.is_institution)
            role = _number(CREATOR_TYPES, creator.role)
            self.insert(
                "itemCreators",
                itemID=item,
                creatorID=creator_id,
                creatorTypeID=role,
                orderIndex=order,
            )
        self.add_tags(item, entry.tags, MANUAL_TAG)
        self.add_tags(item, entry.automatic_tags, AUTOMATIC_TAG)
        return item

    def set_fields(self, item: int, fields: dict[str, str]) -> None:
        """Store the fields of an item; equal values are stored once."""
        for name, value in fields.items():
            value_id = self._known("itemDataValues", "valueID", value=value) or self.insert(
                "itemDataValues", value=value, valueNormalized=normalized(value)
            )
            self.insert("itemData", itemID=item, fieldID=_number(FIELDS, name), valueID=value_id)

    def _creator(self, first: str, last: str, is_institution: bool) -> int:
        name = {"firstName": first, "lastName": last, "fieldMode": int(is_institution)}
        return self._known("creators", "creatorID", **name) or self.insert(
            "creators",
            **name,
            firstNameNormalized=normalized(first),
            lastNameNormalized=normalized(last),
        )

    def add_tags(self, item: int, names: Iterable[str], kind: int) -> None:
        """Tag an item by hand or automatically."""
        for name in names:
            tag = self._known("tags", "tagID", name=name) or self.insert(
                "tags", name=name, nameNormalized=normalized(name)
            )
            self.insert("itemTags", itemID=item, tagID=tag, type=kind)

    def _known(self, table: str, id_column: str, **columns: object) -> int | None:
        where = " AND ".join(f"{name} = ?" for name in columns)
        statement = f"SELECT {id_column} FROM {table} WHERE {where}"
        row = self._connection.execute(statement, tuple(columns.values())).fetchone()
        return int(row[0]) if row else None

    def add_attachment(
        self, library: str, key: str, parent: int | None, fields: dict[str, str], row: AttachmentRow
    ) -> int:
        """Add an attachment; the file itself is not written here."""
        item = self.add_item("attachment", library, key)
        self.set_fields(item, fields)
        modified = int(_FIRST_DAY.timestamp() * 1000) if row.storage_hash else None
        self.insert(
            "itemAttachments",
            itemID=item,
            parentItemID=parent,
            linkMode=row.link_mode,
            contentType=row.content_type,
            path=row.path,
            storageModTime=modified,
            storageHash=row.storage_hash,
        )
        return item

    def add_note(self, key: str, parent: int | None, title: str, html: str) -> int:
        """Add a note, below an item or standing alone."""
        item = self.add_item("note", "user", key)
        note = (
            '<div class="zotero-note znv1"><div data-schema-version="9">'
            f"<h1>{title}</h1>{html}</div></div>"
        )
        self.insert("itemNotes", itemID=item, parentItemID=parent, note=note, title=title)
        return item

    def add_annotation(self, library: str, key: str, attachment: int, row: AnnotationRow) -> int:
        """Add an annotation to an attachment."""
        item = self.add_item("annotation", library, key)
        position = {"pageIndex": row.page_index, "rects": row.rectangles}
        self.insert(
            "itemAnnotations",
            itemID=item,
            parentItemID=attachment,
            type=ANNOTATION_TYPES[row.kind],
            text=row.text,
            textNormalized=normalized(row.text),
            comment=row.comment or None,
            commentNormalized=normalized(row.comment or None),
            color=row.color,
            pageLabel=row.page_label,
            sortIndex=row.sort_index,
            position=json.dumps(position, separators=(",", ":")),
            isExternal=0,
        )
        return item

    def trash_item(self, item: int) -> None:
        """Put an item into the trash."""
        self.insert("deletedItems", itemID=item, dateDeleted=self._now())

    def add_collection(self, library: str, key: str, name: str, parent: int | None) -> int:
        """Add a collection."""
        return self.insert(
            "collections",
            collectionName=name,
            parentCollectionID=parent,
            clientDateModified=self._now(),
            libraryID=LIBRARY_IDS[library],
            key=key,
        )

    def trash_collection(self, collection: int) -> None:
        """Put a collection into the trash; its items stay where they are."""
        now = self._now()
        self.insert("deletedCollections", collectionID=collection, dateDeleted=now)
