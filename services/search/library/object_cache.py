"""What an API told of each library, kept on disk so that later only changes are asked for."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from services.search.library.api_items import Json, text

Kind = Literal["item", "collection", "search"]

# Another number makes an older file be dropped and filled anew.
FORMAT = 1
TABLES = """
CREATE TABLE IF NOT EXISTS library (name TEXT PRIMARY KEY, origin TEXT, version INTEGER);
CREATE TABLE IF NOT EXISTS object (
    library TEXT, kind TEXT, key TEXT, body TEXT, PRIMARY KEY (library, kind, key)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Up to where a library is known."""

    origin: str
    """Whose versions these are: another origin's do not compare."""
    version: int


class ObjectCache:
    """Used by one reading at a time; its methods block."""

    def __init__(self, file: Path | None) -> None:
        """Without a file the cache lasts as long as the process."""
        self._file = file
        self._connection = self._opened()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def known(self, library: str) -> Known | None:
        """Up to where the library is known; None when nothing is."""
        query = "SELECT origin, version FROM library WHERE name = ?"
        row = self._connection.execute(query, (library,)).fetchone()
        return Known(origin=row[0], version=row[1]) if row else None

    def keys(self, library: str, kind: Kind) -> set[str]:
        """The keys of what is known."""
        query = "SELECT key FROM object WHERE library = ? AND kind = ?"
        return {row[0] for row in self._connection.execute(query, (library, kind))}

    def objects(self, library: str, kind: Kind) -> tuple[Json, ...]:
        """What is known, by key."""
        query = "SELECT body FROM object WHERE library = ? AND kind = ? ORDER BY key"
        rows = self._connection.execute(query, (library, kind))
        return tuple(json.loads(row[0]) for row in rows)

    def replace(self, library: str, known: Known, told: Mapping[Kind, Iterable[Json]]) -> None:
        """Know exactly this of a library."""
        with self._transaction():
            self._connection.execute("DELETE FROM object WHERE library = ?", (library,))
            for kind, entries in told.items():
                self._put(library, kind, entries)
            self._remember(library, known)

    def update(
        self,
        library: str,
        known: Known,
        told: Mapping[Kind, Iterable[Json]],
        gone: Mapping[Kind, Iterable[str]],
    ) -> None:
        """Add what changed and drop what is gone, both or neither."""
        with self._transaction():
            for kind, keys in gone.items():
                self._connection.executemany(
                    "DELETE FROM object WHERE library = ? AND kind = ? AND key = ?",
                    ((library, kind, key) for key in keys),
                )
            for kind, entries in told.items():
                self._put(library, kind, entries)
            self._remember(library, known)

    def _put(self, library: str, kind: Kind, entries: Iterable[Json]) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO object VALUES (?, ?, ?, ?)",
            (
                (library, kind, text(entry["data"]["key"]), json.dumps(_trimmed(entry)))
                for entry in entries
            ),
        )

    def _remember(self, library: str, known: Known) -> None:
        row = (library, known.origin, known.version)
        self._connection.execute("INSERT OR REPLACE INTO library VALUES (?, ?, ?)", row)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _opened(self) -> sqlite3.Connection:
        if self._file is None:
            return _prepared(":memory:")
        self._file.parent.mkdir(parents=True, exist_ok=True)
        try:
            return _prepared(self._file)
        except sqlite3.DatabaseError:
            # It only saves requests: a damaged one is filled anew.
            self._file.unlink(missing_ok=True)
            return _prepared(self._file)


def _prepared(file: Path | str) -> sqlite3.Connection:
    """An open cache with its tables; raises DatabaseError when the file is none of ours."""
    # Used from whichever thread the reading in hand has.
    connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    try:
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if found != FORMAT:
            connection.executescript("DROP TABLE IF EXISTS object; DROP TABLE IF EXISTS library")
        connection.executescript(TABLES)
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


def _trimmed(entry: Json) -> Json:
    """What records are made of; the rest of an object is addresses."""
    links = entry.get("links") or {}
    meta = entry.get("meta") or {}
    return {
        "data": entry["data"],
        "meta": {"parsedDate": meta["parsedDate"]} if "parsedDate" in meta else {},
        "links": {"enclosure": links["enclosure"]} if "enclosure" in links else {},
    }
