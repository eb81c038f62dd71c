"""What Zotero's profile says about a data folder: the base directory of linked files."""

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

DATA_DIR = "extensions.zotero.dataDir"
USE_DATA_DIR = "extensions.zotero.useDataDir"
BASE_FOLDER = "extensions.zotero.baseAttachmentPath"
# user_pref("name", value); the value is a JavaScript literal: JSON, but for escapes such as \x20.
PREFERENCE = re.compile(r'^user_pref\("(?P<name>[^"]+)",\s*(?P<value>.+)\);\s*$', re.MULTILINE)
HEX_ESCAPE = re.compile(r"\\x([0-9A-Fa-f]{2})")

Preference = str | int | bool


def profile_folders(home: Path) -> tuple[Path, ...]:
    """The profiles of Zotero under a home folder, wherever one of the three systems keeps them."""
    roaming = os.environ.get("APPDATA")
    parents = [
        home / ".zotero" / "zotero",
        home / "Library" / "Application Support" / "Zotero" / "Profiles",
        (Path(roaming) if roaming else home / "AppData" / "Roaming")
        / "Zotero"
        / "Zotero"
        / "Profiles",
    ]
    return tuple(
        sorted(
            prefs.parent
            for parent in parents
            if parent.is_dir()
            for prefs in parent.glob("*/prefs.js")
        )
    )


def base_folder_of(data_dir: Path, profiles: Iterable[Path], home: Path) -> Path | None:
    """The base directory that the profile which uses this data folder has set, if it has."""
    for profile in profiles:
        preferences = read_preferences(profile / "prefs.js")
        base = preferences.get(BASE_FOLDER)
        if isinstance(base, str) and base and _same(_data_dir(preferences, home), data_dir):
            return Path(base)
    return None


def read_preferences(prefs: Path) -> dict[str, Preference]:
    """The preferences of a prefs.js; empty if there is none to read."""
    try:
        text = prefs.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    found: dict[str, Preference] = {}
    for line in PREFERENCE.finditer(text):
        literal = HEX_ESCAPE.sub(r"\\u00\1", line["value"])
        try:
            value = json.loads(literal)
        except json.JSONDecodeError:
            continue  # a literal that we do not understand is not one of ours
        if isinstance(value, str | int):
            found[line["name"]] = value
    return found


def _data_dir(preferences: dict[str, Preference], home: Path) -> Path:
    chosen = preferences.get(DATA_DIR)
    if isinstance(chosen, str) and chosen and preferences.get(USE_DATA_DIR, True):
        return Path(chosen)
    return home / "Zotero"


def _same(left: Path, right: Path) -> bool:
    return left.resolve() == right.resolve()
