"""Where Zotero keeps files, learned from the addresses in its replies."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit
from urllib.request import url2pathname

from services.search.library.api_items import Json, link_mode_of, text
from services.search.library.attachment_paths import RELATIVE, STORED, Folders
from services.search.library.records import LinkMode

STORAGE = "storage"


def folders_of(attachments: Iterable[Json], base_folder: Path | None) -> Folders | None:
    """The data folder and the base folder that most addresses agree on; None without any."""
    data_dirs: Counter[Path] = Counter()
    bases: Counter[Path] = Counter()
    for entry in attachments:
        path = path_of(entry)
        if path is None:
            continue
        data = entry["data"]
        if link_mode_of(data) is LinkMode.LINKED_FILE:
            if (base := _base_of(path, text(data.get("path")))) is not None:
                bases[base] += 1
        elif path.parent.name == text(data["key"]) and path.parent.parent.name == STORAGE:
            data_dirs[path.parent.parent.parent] += 1
    if not data_dirs:
        return None
    told_base = bases.most_common(1)[0][0] if bases else None
    return Folders(data_dir=data_dirs.most_common(1)[0][0], base_folder=base_folder or told_base)


def path_of(entry: Json) -> Path | None:
    """The path in the `file:` address of an attachment, if it has one."""
    address = text(((entry.get("links") or {}).get("enclosure") or {}).get("href"))
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    if parts.scheme != "file" or not parts.path:
        return None
    # A network share stands where a host would.
    host = f"//{parts.netloc}" if parts.netloc not in ("", "localhost") else ""
    path = Path(url2pathname(host + parts.path))
    return path if path.is_absolute() else None


def stored_path_of(data: Json) -> str:
    """The path of an attachment as Zotero's database holds it."""
    if link_mode_of(data) is LinkMode.LINKED_FILE:
        return text(data.get("path"))
    name = text(data.get("filename"))
    return f"{STORED}{name}" if name else ""


def _base_of(path: Path, stored: str) -> Path | None:
    """The folder that a relative linked path starts from."""
    if not stored.startswith(RELATIVE):
        return None
    relative = PurePosixPath(stored.removeprefix(RELATIVE))
    depth = len(relative.parts)
    if not depth or path.parts[-depth:] != relative.parts:
        return None
    return Path(*path.parts[:-depth])
