"""A Zotero library read from a snapshot of its database, whether Zotero runs or not."""

import sqlite3
from pathlib import Path

from services.search.library.attachment_paths import Folders
from services.search.library.database_copy import DATABASE, open_copy
from services.search.library.records import LibraryRecords
from services.search.library.source import LibraryCorrupt
from services.search.library.zotero_children import read_annotations, read_attachments, read_notes
from services.search.library.zotero_items import (
    ItemDetails,
    read_creators,
    read_fields,
    read_items,
    read_typed_names,
)
from services.search.library.zotero_rows import (
    Tables,
    number,
    read_collections,
    read_entries,
    read_libraries,
    read_tags,
    read_trash,
)


class SqliteSnapshot:
    """Zotero's data folder as a source; the folder itself is never written to or locked."""

    kind = "sqlite"

    def __init__(self, data_dir: Path, base_folder: Path | None = None) -> None:
        """`base_folder` is Zotero's base directory for linked files, which its profile names."""
        self._data_dir = data_dir
        self._folders = Folders(data_dir=data_dir, base_folder=base_folder)

    @property
    def location(self) -> str:
        """The data folder."""
        return str(self._data_dir)

    def read(self) -> LibraryRecords:
        """Everything outside the trash, as of the last change that Zotero has committed."""
        with open_copy(self._data_dir) as connection:
            try:
                return read_records(connection, self._folders)
            except sqlite3.DatabaseError as error:
                raise LibraryCorrupt(
                    f"The database {str(self._data_dir / DATABASE)!r} is not one that this version "
                    f"understands ({error}); start Zotero once to bring it up to date.",
                    path=self._data_dir / DATABASE,
                ) from error


def read_records(connection: sqlite3.Connection, folders: Folders) -> LibraryRecords:
    """The records of an open database."""
    tables = Tables(connection)
    libraries = read_libraries(tables)
    trash = read_trash(tables)
    live = {key: row for key, row in read_entries(tables, libraries).items() if key not in trash}
    collections = read_collections(tables, libraries)
    details = ItemDetails(
        fields=read_fields(tables),
        creators=read_creators(tables),
        tags=read_tags(tables),
        collections=collections,
        typed_names=read_typed_names(tables),
    )
    versions = {row[0]: number(row[1]) for row in tables.rows("version", "schema", "version")}
    return LibraryRecords(
        libraries=libraries.records,
        items=read_items(list(live.values()), details),
        attachments=read_attachments(tables, live, details, folders),
        notes=read_notes(tables, live, details),
        annotations=read_annotations(tables, live, details),
        collections=collections.records,
        schema_version=versions.get("userdata", 0),
    )
