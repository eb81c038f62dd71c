"""How the serving process and the PDF reader write to each other: a length, then JSON."""

import json
from dataclasses import asdict
from typing import Any

from services.search.library.records import Unread
from services.search.text.document_text import Block, BlockKind, OutlineEntry, Page, PagedText

HEADER_BYTES = 8


def frame(body: bytes) -> bytes:
    """The body with its length before it."""
    return len(body).to_bytes(HEADER_BYTES, "big") + body


def body_length(header: bytes) -> int:
    """The length of the body that follows the header."""
    return int.from_bytes(header, "big")


def encode_text(text: PagedText) -> bytes:
    """A text as JSON."""
    return json.dumps(asdict(text), default=_enum_value).encode()


def _enum_value(value: Any) -> str:
    if isinstance(value, Unread | BlockKind):
        return str(value.value)
    raise TypeError(f"{value!r} has no place in a text")


def decode_text(body: bytes) -> PagedText:
    """The text that `encode_text` wrote."""
    raw = json.loads(body)
    return PagedText(
        pages=tuple(_page(page) for page in raw["pages"]),
        outline=tuple(OutlineEntry(**entry) for entry in raw["outline"]),
        page_count=raw["page_count"],
        unread=Unread(raw["unread"]) if raw["unread"] else None,
        detail=raw["detail"],
    )


def _page(raw: dict[str, Any]) -> Page:
    blocks = tuple(Block(**(block | {"kind": BlockKind(block["kind"])})) for block in raw["blocks"])
    return Page(index=raw["index"], label=raw["label"], text=raw["text"], blocks=blocks)
