"""Noticing that Zotero changed its database, without reading it."""

from pathlib import Path

DATABASE_FILES = ("zotero.sqlite", "zotero.sqlite-wal", "zotero.sqlite-journal")

Signature = tuple[tuple[str, int, int], ...]


def library_signature(data_dir: Path) -> Signature:
    """Names, sizes and times of the database's files: another signature means a change."""
    found = []
    for name in DATABASE_FILES:
        try:
            stat = (data_dir / name).stat()
        except OSError:
            continue
        found.append((name, stat.st_size, stat.st_mtime_ns))
    return tuple(found)
