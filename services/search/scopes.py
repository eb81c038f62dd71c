"""The scope of a request in the terms of the index: known names, one key for each work."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from services.search.errors import UnknownScope, UnsupportedSearch
from services.search.index import Index
from services.search.library_state import LibraryState
from services.search.scope import Scope

ItemKey = tuple[str, str]


class Scopes:
    """Resolves scopes by what the last sync found out about the library."""

    def __init__(self, index: Index) -> None:
        self._index = index

    async def resolved(self, scope: Scope) -> Scope:
        """The scope without aliases and saved searches; raises UnknownScope, UnsupportedSearch."""
        return resolved(scope, await self._index.state())


def resolved(scope: Scope, state: LibraryState) -> Scope:
    """The scope with the items of saved searches in place of these, and no key of a duplicate."""
    searches = {one.path: one for one in state.searches}
    _require("library", scope.libraries, state.libraries)
    _require("collection", scope.collections, state.collections)
    _require("saved search", scope.searches, searches)
    items = None if scope.items is None else unaliased(scope.items, state.aliases)
    if scope.searches is not None:
        held: set[ItemKey] = set()
        for path in scope.searches:
            search = searches[path]
            if search.unsupported:
                raise UnsupportedSearch(
                    f"The saved search {search.name!r} has conditions that only Zotero can "
                    f"evaluate ({', '.join(search.unsupported)}); choose a collection or tags.",
                    saved_search=path,
                )
            held.update(map(item_of, search.items))
        items = frozenset(held) if items is None else items & held
    return replace(scope, items=items, searches=None)


def unaliased(items: Iterable[ItemKey], aliases: Mapping[str, str]) -> frozenset[ItemKey]:
    """The items with the key of the record that stands for each."""
    return frozenset((library, aliases.get(f"{library}/{key}", key)) for library, key in items)


def item_of(path: str) -> ItemKey:
    """The library and key of a path; group libraries have a slash in their name."""
    library, _, key = path.rpartition("/")
    return library, key


def _require(kind: str, wanted: Iterable[str] | None, known: Iterable[str]) -> None:
    unknown = sorted(frozenset(wanted or ()).difference(known))
    if unknown:
        raise UnknownScope(f"The index knows no {kind} {unknown[0]!r}.", unknown=unknown[0])
