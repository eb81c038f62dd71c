"""A Zotero library read from a snapshot of its database, whether Zotero runs or not."""

import asyncio
import sqlite3
from pathlib import Path

from services.search.library.attachment_paths import Folders, Location, missing
from services.search.library.database_copy import DATABASE, open_copy
from services.search.library.records import LibraryRecords, RemoteFile
from services.search.library.source import LibraryCorrupt
from services.search.library.watch import Signature, library_signature
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
from services.search.library.zotero_searches import read_merged, read_searches


class SqliteSnapshot:
    """Zotero's data folder as a source; the folder itself is never written to or locked."""

    kind = "sqlite"
    # The database names its own format, not the program that wrote it.
    program = ""

    def __init__(self, data_dir: Path, base_folder: Path | None = None) -> None:
        """`base_folder` is Zotero's base directory for linked files, which its profile names."""
        self._data_dir = data_dir
        self._folders = Folders(data_dir=data_dir, base_folder=base_folder)

    @property
    def location(self) -> str:
        """The data folder."""
        return str(self._data_dir)

    async def read(self) -> LibraryRecords:
        """Everything outside the trash, as of the last change that Zotero has committed."""
        return await asyncio.to_thread(read_database, self._folders)

    async def signature(self) -> Signature:
        """Sizes and times of the database's files."""
        return await asyncio.to_thread(library_signature, self._data_dir)

    async def fetch(self, file: RemoteFile) -> Location:
        """Every file of this source is on this machine, or is missing."""
        return missing(f"The file {file.name!r} is not on this machine.")

    async def aclose(self) -> None:
        """Nothing is held open between readings."""


def read_database(folders: Folders) -> LibraryRecords:
    """The records of a data folder; blocks, so that it is called in a thread."""
    with open_copy(folders.data_dir) as connection:
        try:
            return read_records(connection, folders)
        except sqlite3.DatabaseError as error:
            path = folders.data_dir / DATABASE
            raise LibraryCorrupt(
                f"The database {str(path)!r} is not one that this version "
                f"understands ({error}); start Zotero once to bring it up to date.",
                path=path,
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
        replaced=read_merged(tables, live),
    )
    versions = {row[0]: number(row[1]) for row in tables.rows("version", "schema", "version")}
    return LibraryRecords(
        libraries=libraries.records,
        items=read_items(list(live.values()), details),
        attachments=read_attachments(tables, live, details, folders),
        notes=read_notes(tables, live, details),
        annotations=read_annotations(tables, live, details),
        collections=collections.records,
        searches=read_searches(tables, libraries),
        schema_version=versions.get("userdata", 0),
    )
