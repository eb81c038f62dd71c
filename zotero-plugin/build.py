"""Pack the plugin: the same bytes from the same files, and the manifest that tells of updates."""

import hashlib
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
PAGE = ROOT.parent / "gateway" / "page"
XPI = "zocrates.xpi"
UPDATES = "updates.json"
# The first moment that a zip can tell.
THE_DAY = (1980, 1, 1, 0, 0, 0)
FILE_MODE = 0o100644 << 16
# Zotero before 11 leaves labels blank in a language that a plugin does not have: each gets English.
LANGUAGES = (
    *("af-ZA", "ar", "bg-BG", "br", "ca-AD", "cs-CZ", "da-DK", "de", "el-GR", "en-CA", "en-GB"),
    *("en-NZ", "en-US", "es-ES", "et-EE", "eu-ES", "fa", "fi-FI", "fr-FR", "gl-ES", "he-IL"),
    *("hr-HR", "hu-HU", "id-ID", "is-IS", "it-IT", "ja-JP", "km", "ko-KR", "lt-LT", "mn-MN"),
    *("nb-NO", "nl-NL", "nn-NO", "pl-PL", "pt-BR", "pt-PT", "ro-RO", "ru-RU", "sk-SK", "sl-SI"),
    *("sr-RS", "sv-SE", "ta", "th-TH", "tr-TR", "uk-UA", "vi-VN", "zh-CN", "zh-TW"),
)
ENGLISH = "en-US"


def plugin_files() -> dict[str, bytes]:
    """Every file of the plugin by its name inside."""
    files = {
        name: (ROOT / name).read_bytes() for name in ("manifest.json", "bootstrap.js", "prefs.js")
    }
    files |= {
        f"content/{path.name}": path.read_bytes()
        for path in (ROOT / "content").iterdir()
        if path.is_file()
    }
    for path in sorted(PAGE.rglob("*")):
        # The page itself is the gateway's; the sidebar is both of theirs.
        if path.suffix in {".mjs", ".css", ".ftl"} and path.name not in {
            "main.mjs",
            "browser_host.mjs",
        }:
            files[f"content/page/{path.relative_to(PAGE).as_posix()}"] = path.read_bytes()
    for language in LANGUAGES:
        own = ROOT / "locale" / language
        for path in (own if own.exists() else ROOT / "locale" / ENGLISH).iterdir():
            files[f"locale/{language}/{path.name}"] = path.read_bytes()
    return files


def pack(target: Path) -> str:
    """Write the plugin; returns its SHA-256."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(plugin_files().items()):
            entry = zipfile.ZipInfo(name, THE_DAY)
            entry.create_system = 3
            entry.external_attr = FILE_MODE
            archive.writestr(entry, content)
    return hashlib.sha256(target.read_bytes()).hexdigest()


def update_manifest(sha256: str) -> dict[str, Any]:
    """What Zotero asks for at the plugin's update address."""
    manifest = json.loads((ROOT / "manifest.json").read_text(encoding="utf-8"))
    zotero = manifest["applications"]["zotero"]
    folder = zotero["update_url"].rsplit("/", 1)[0]
    update = {
        "version": manifest["version"],
        "update_link": f"{folder}/{XPI}",
        "update_hash": f"sha256:{sha256}",
        "applications": {
            "zotero": {
                "strict_min_version": zotero["strict_min_version"],
                "strict_max_version": zotero["strict_max_version"],
            }
        },
    }
    return {"addons": {zotero["id"]: {"updates": [update]}}}


def main(folder: Path) -> None:
    """Write both files into a folder and print where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    sha256 = pack(folder / XPI)
    updates = json.dumps(update_manifest(sha256), indent=2) + "\n"
    (folder / UPDATES).write_text(updates, encoding="utf-8")
    print(folder / XPI)
    print(folder / UPDATES)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "dist")
