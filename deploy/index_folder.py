"""Which folder holds the index of a library: one each, so that changing libraries loses none."""

import hashlib
from pathlib import Path

from deploy.zotero_folder import Library


def index_folder(indexes: Path, library: Library) -> Path:
    """The folder for this library's index, the same at every start."""
    if library.demo:
        return indexes / "demo"
    # By whatever way it is read, a data folder's index is the same.
    named = str(library.folder) if library.folder else f"{library.source} {library.server}"
    name = hashlib.sha256(named.encode("utf-8", errors="surrogateescape"))
    return indexes / name.hexdigest()[:16]
