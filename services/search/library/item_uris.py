"""Zotero's addresses of items, as relations between items name them."""

import re
from collections.abc import Iterable

from services.search.library.records import USER_LIBRARY

ITEM_URI = re.compile(r"/(?:(?P<user>users)/[^?#]+?|groups/(?P<group>\d+))/items/(?P<key>[^/?#]+)$")
MERGED = "dc:replaces"


def item_of_uri(uri: str) -> tuple[str, str] | None:
    """The library and key of an item's address; every user's library is taken for this one's."""
    found = ITEM_URI.search(uri)
    if found is None:
        return None
    library = USER_LIBRARY if found["user"] else f"groups/{found['group']}"
    return library, found["key"]


def merged_keys(library: str, uris: Iterable[str]) -> tuple[str, ...]:
    """The keys of this library among the addresses of the items that were merged into one."""
    items = (item_of_uri(uri) for uri in uris)
    return tuple(sorted({item[1] for item in items if item is not None and item[0] == library}))
