"""Object keys in Zotero's form that are the same in every generation."""

import hashlib

_ALPHABET = "23456789ABCDEFGHIJKLMNPQRSTUVWXYZ"
_LENGTH = 8


def key_of(kind: str, name: str) -> str:
    """Return the key of an object of the demo library."""
    number = int.from_bytes(hashlib.sha256(f"zocrates-demo/{kind}/{name}".encode()).digest())
    letters = []
    for _ in range(_LENGTH):
        number, rest = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[rest])
    return "".join(letters)
