"""The manifest of what was read: for each document what its text came from, and by which reader.

A file's fingerprint is `<version>/<size>/<time>/<hash>`: size and time tell at a glance that
nothing changed, the hash that a file which was only touched or fetched again is the same. The
hash is taken when the file is read, so that comparing a library opens no file.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from services.search.library.planned import TEXT_VERSION, Planned

CHUNK = 1024 * 1024
GONE = "gone"
# Without it a fingerprint says that the hash is still to be taken.
HASH_CHARACTERS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Print:
    """A document's fingerprint as of now."""

    value: str
    same_text: bool
    """Whether the text is still the one that was read."""


def compared(planned: Planned, known: str) -> Print:
    """The fingerprint beside the one of the last reading; looks at the file, blocks."""
    value = _fingerprint(planned)
    if planned.path is None:
        return Print(value=value, same_text=value == known)
    if known.startswith(f"{value}/"):
        return Print(value=known, same_text=True)
    ours, theirs = value.split("/"), known.split("/")
    # The same version and size, another time: the content decides.
    if len(theirs) == 4 and ours[:2] == theirs[:2]:
        value = with_hash(value, planned.path)
        return Print(value=value, same_text=value.rpartition("/")[2] == theirs[3] != "")
    return Print(value=value, same_text=False)


def with_hash(fingerprint: str, path: Path) -> str:
    """The fingerprint of a file with the hash of its content; blocks."""
    if fingerprint.count("/") != 2:
        return fingerprint
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
    except OSError:
        # The reader will say why; without a hash the next sync looks again.
        return fingerprint
    return f"{fingerprint}/{digest.hexdigest()[:HASH_CHARACTERS]}"


def same_file(one: Path, other: Path) -> bool:
    """Whether two files have the same content; blocks."""
    try:
        if one.stat().st_size != other.stat().st_size:
            return False
        with one.open("rb") as ours, other.open("rb") as theirs:
            while chunk := ours.read(CHUNK):
                if chunk != theirs.read(CHUNK):
                    return False
    except OSError:
        return False
    return True


def _fingerprint(planned: Planned) -> str:
    if planned.remote is not None:
        return f"{TEXT_VERSION}/{planned.remote.md5}"
    if planned.path is None:
        told = [planned.text, planned.heading, repr(planned.place), repr(planned.unread)]
        told.append(planned.detail)
        return f"{TEXT_VERSION}/{_digest(chr(0).join(told))}"
    try:
        stat = planned.path.stat()
    except OSError:
        return f"{TEXT_VERSION}/{GONE}"
    return f"{TEXT_VERSION}/{stat.st_size}/{stat.st_mtime_ns}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARACTERS]
