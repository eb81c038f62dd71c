"""Where an attachment's file is on this machine, or why it cannot be used."""

import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from services.search.library.records import USER_LIBRARY, LinkMode, Unread

STORED = "storage:"
RELATIVE = "attachments:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A file that exists, or the reason why there is none to read."""

    path: Path | None = None
    unread: Unread | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """The folders that stored and linked paths start from."""

    data_dir: Path
    base_folder: Path | None = None

    def locate(self, *, library: str, key: str, link_mode: LinkMode, stored_path: str) -> Location:
        """Find the file of an attachment by the path text that Zotero keeps."""
        match link_mode:
            case LinkMode.LINKED_URL | LinkMode.EMBEDDED_IMAGE:
                return Location()
            case LinkMode.IMPORTED_FILE | LinkMode.IMPORTED_URL:
                return self._stored(key, stored_path)
            case LinkMode.LINKED_FILE:
                return self._linked(library, stored_path)

    def _stored(self, key: str, stored_path: str) -> Location:
        name = stored_path.removeprefix(STORED)
        if not name:
            return missing("Zotero has not recorded a file name for this attachment.")
        if not _stays_inside(key):
            return _outside(key)
        return _inside(self.data_dir / "storage", key, name, "Zotero's storage folder")

    def _linked(self, library: str, stored_path: str) -> Location:
        if library != USER_LIBRARY:
            return linked_in_group()
        if not stored_path:
            return missing("Zotero has not recorded a path for this linked file.")
        if stored_path.startswith(RELATIVE):
            return self._under_base(stored_path.removeprefix(RELATIVE))
        path = Path(stored_path)
        if not path.is_absolute():
            return missing(
                f"The linked path {stored_path!r} belongs to another computer or operating system."
            )
        return _existing(path) or missing(f"The linked file {stored_path!r} does not exist.")

    def _under_base(self, relative: str) -> Location:
        if self.base_folder is None:
            return Location(
                unread=Unread.BASE_FOLDER_UNKNOWN,
                detail=f"The file {relative!r} is kept under Zotero's base directory for linked "
                "files, which is not known here.",
            )
        return _inside(self.base_folder, "", relative, "the base directory for linked files")


def _inside(root: Path, key: str, relative: str, root_name: str) -> Location:
    """The file below the root, refusing every way to leave it: `..`, an absolute path, a link.

    The root itself may be a link: a person keeps a folder where there is room.
    """
    if not _stays_inside(relative):
        return _outside(relative)
    found = _existing(root / key / relative)
    if found is None or found.path is None:
        return found or missing(
            f"The file {relative!r} is not in {root_name}; it may not be downloaded."
        )
    if _has_link(root, found.path) and not found.path.resolve().is_relative_to(root.resolve()):
        return _outside(relative)
    return found


def _has_link(root: Path, path: Path) -> bool:
    """Whether anything below the root on the way to the path is a link."""
    while path != root:
        if os.path.islink(path):
            return True
        path = path.parent
    return False


def _stays_inside(relative: str) -> bool:
    """Whether the path text cannot lead out of its folder, read as any system reads it."""
    if relative.isalnum():
        # Keys are, and there are as many as files.
        return True
    windows = PureWindowsPath(relative)
    return not (
        "\0" in relative
        or PurePosixPath(relative).is_absolute()
        or windows.root
        or windows.drive
        or ".." in PurePosixPath(relative).parts
        or ".." in windows.parts
    )


def _existing(path: Path) -> Location | None:
    """The path in the form the file system has: names made on a Mac may be decomposed."""
    name = str(path)
    try:
        if os.path.isfile(name):
            return Location(path=path)
        for form in (unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)):
            if os.path.isfile(form):
                return Location(path=Path(form))
        # That file answers "no" to whatever goes wrong; this says what did.
        os.stat(name)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # a name too long, a folder without permission
        return missing(f"The file {name!r} cannot be looked up ({error}).")
    return None


def missing(detail: str) -> Location:
    """A file that is not here."""
    return Location(unread=Unread.FILE_MISSING, detail=detail)


def linked_in_group() -> Location:
    """Zotero has no linked files in groups: somebody else's program put such a path there."""
    return Location(
        unread=Unread.OUTSIDE_LIBRARY,
        detail="Linked files are read from the personal library only, not from a group.",
    )


def _outside(path_text: str) -> Location:
    return Location(
        unread=Unread.OUTSIDE_LIBRARY,
        detail=f"The path {path_text!r} leads out of the library's folder, so it is not followed.",
    )
