"""Finding the Zotero data folder of this user."""

import configparser
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from deploy.demo.location import DEMO_LIBRARY
from deploy.failure import CannotStart

LIBRARY_VARIABLE = "ZOCRATES_LIBRARY"
WEB_KEY_VARIABLE = "SEARCH_WEB_KEY"
SQLITE, LOCAL_API, WEB_API = SOURCES = ("sqlite", "local_api", "web_api")
DATABASE = "zotero.sqlite"
PREFERENCE = re.compile(
    r'^\s*user_pref\(\s*"(?P<name>(?:[^"\\]|\\.)*)"\s*,\s*(?P<value>"(?:[^"\\]|\\.)*"|[^)]*?)\s*\)',
    re.MULTILINE,
)
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\}|(.))", re.DOTALL)
LETTER_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """The library that a stack searches, and how it was found."""

    folder: Path | None
    """Zotero's data folder; None where an API is asked and no folder was found."""
    found: str
    demo: bool = False
    source: str = SQLITE
    """How it is read: `sqlite`, `local_api` or `web_api`."""
    server: str = ""
    """Where the API answers; empty for its usual place."""
    base_folder: Path | None = None
    """Zotero's base directory for linked files, if the library's profile sets one."""

    @property
    def place(self) -> str:
        """Where it is, for a person."""
        match self.source:
            case "local_api":
                return f"Zotero at {self.server or 'its usual address'}"
            case "web_api":
                return f"Zotero's server{f' at {self.server}' if self.server else ''}"
        return str(self.folder)


def choose_library(
    *,
    named: Path | None,
    demo: bool,
    environ: Mapping[str, str],
    home: Path,
    source: str = SQLITE,
    server: str = "",
) -> Library:
    """The library asked for, else this user's Zotero, else the demo; raises CannotStart."""
    if source == WEB_API:
        if not environ.get(WEB_KEY_VARIABLE):
            raise CannotStart(
                f"Zotero's server needs a key: make one in the settings of your Zotero account "
                f"and set {WEB_KEY_VARIABLE} to it."
            )
        return Library(folder=None, found="asked for", source=source, server=server)
    library = _choose(named=named, demo=demo, environ=environ, home=home)
    if library.demo and source == SQLITE:
        return library
    if library.demo:
        # Zotero itself says where its files are; the demo is no stand-in for what was asked for.
        return Library(folder=None, found="asked for", source=source, server=server)
    assert library.folder is not None
    base = base_folder_of(library.folder, home, environ)
    return replace(library, base_folder=base, source=source, server=server)


def _choose(*, named: Path | None, demo: bool, environ: Mapping[str, str], home: Path) -> Library:
    if demo:
        return Library(folder=DEMO_LIBRARY, found="asked for", demo=True)
    if named is not None:
        return Library(folder=_data_folder(named), found="named by --library")
    if value := environ.get(LIBRARY_VARIABLE):
        return Library(folder=_data_folder(Path(value)), found=f"named by {LIBRARY_VARIABLE}")
    for library in zotero_libraries(home, environ):
        return library
    return Library(folder=DEMO_LIBRARY, found="no Zotero data folder was found", demo=True)


def zotero_libraries(home: Path, environ: Mapping[str, str]) -> Iterator[Library]:
    """The Zotero data folders of this user that exist, the default profile's first."""
    for profile in profiles(profiles_base(home, environ)):
        folder = data_folder_of(profile)
        if folder is not None and (folder / DATABASE).is_file():
            yield Library(folder=folder, found=f"Zotero profile {profile.name!r}")
    if ((folder := home / "Zotero") / DATABASE).is_file():
        yield Library(folder=folder, found="Zotero's usual folder")


def profiles_base(home: Path, environ: Mapping[str, str]) -> Path:
    """The folder of this system that holds Zotero's `profiles.ini`."""
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "Zotero"
    if sys.platform == "win32":
        return Path(environ.get("APPDATA", home / "AppData" / "Roaming")) / "Zotero" / "Zotero"
    return home / ".zotero" / "zotero"


def profiles(base: Path) -> list[Path]:
    """The profile folders that hold preferences, the default one first, then by name."""
    places = (*base.glob("*/prefs.js"), *base.glob("Profiles/*/prefs.js"))
    default = _default_profiles(base)
    return sorted(
        {path.parent for path in places}, key=lambda path: (path not in default, path.name)
    )


def _default_profiles(base: Path) -> set[Path]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read(base / "profiles.ini", encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        # A damaged list only loses the order; the folders are found without it.
        return set()
    sections = (parser[name] for name in parser.sections())
    return {
        base / section["Path"]
        for section in sections
        if section.get("Default") == "1" and "Path" in section
    }


def data_folder_of(profile: Path) -> Path | None:
    """The data folder that a profile's preferences name, or None when it uses the usual one."""
    values = preferences((profile / "prefs.js").read_text(encoding="utf-8", errors="replace"))
    folder = values.get("extensions.zotero.dataDir")
    if values.get("extensions.zotero.useDataDir") is not True or not isinstance(folder, str):
        return None
    return Path(folder) if folder else None


def base_folder_of(folder: Path, home: Path, environ: Mapping[str, str]) -> Path | None:
    """The base directory for linked files in the profile that uses the data folder."""
    for profile in profiles(profiles_base(home, environ)):
        used = data_folder_of(profile) or home / "Zotero"
        values = preferences((profile / "prefs.js").read_text(encoding="utf-8", errors="replace"))
        base = values.get("extensions.zotero.baseAttachmentPath")
        if isinstance(base, str) and base and used.resolve() == folder.resolve():
            return Path(base)
    return None


def preferences(text: str) -> dict[str, str | bool | int]:
    """The preferences of a `prefs.js`; the last of a name wins, as in Zotero."""
    return {
        unescaped(match["name"]): value
        for match in PREFERENCE.finditer(text)
        if (value := _value(match["value"])) is not None
    }


def unescaped(text: str) -> str:
    """The text that the inside of a JavaScript string literal stands for."""

    def replaced(match: re.Match[str]) -> str:
        byte, unit, point, letter = match.groups()
        if digits := byte or unit or point:
            return chr(int(digits, 16))
        return LETTER_ESCAPES.get(letter, letter)

    # Characters beyond the first plane are written as two units, which belong together.
    return ESCAPE.sub(replaced, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _value(literal: str) -> str | bool | int | None:
    match literal:
        case "true" | "false":
            return literal == "true"
        case _ if literal.startswith('"'):
            return unescaped(literal[1:-1])
        case _ if re.fullmatch(r"-?\d+", literal):
            return int(literal)
    return None


def _data_folder(named: Path) -> Path:
    folder = named.expanduser()
    if folder.name == DATABASE:
        folder = folder.parent
    if not (folder / DATABASE).is_file():
        raise CannotStart(
            f"There is no {DATABASE} in {str(folder)!r}; name the data folder that Zotero shows "
            "under Settings, Advanced, Files and Folders."
        )
    if not os.access(folder / DATABASE, os.R_OK):
        raise CannotStart(
            f"{str(folder / DATABASE)!r} may not be read by this user; "
            "start Zocrates as the user that Zotero runs as."
        )
    return folder.resolve()
