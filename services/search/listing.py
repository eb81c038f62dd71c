"""What a person can choose as a scope, with exact counts; pure."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from services.search.errors import InvalidCursor
from services.search.index_rows import IndexedDocument
from services.search.library_state import KnownCollection, KnownSearch, LibraryState
from services.search.scopes import ItemKey, item_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How much a search within some part of the library sees."""

    items: int = 0
    documents: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Everything that a scope can name, each with its count, by name."""

    libraries: tuple[tuple[str, str, Count], ...]
    """Name, title and count."""
    collections: tuple[tuple[KnownCollection, Count], ...]
    searches: tuple[tuple[KnownSearch, Count], ...]
    tags: tuple[tuple[str, str, bool, Count], ...]
    """Library, tag, whether it is automatic, and count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPage:
    """Some documents of a list, by title."""

    documents: tuple[IndexedDocument, ...]
    count: Count
    """Of the whole list."""
    next_cursor: str


def choices(
    documents: Iterable[IndexedDocument], state: LibraryState, libraries: frozenset[str] | None
) -> Choices:
    """What can be chosen within some libraries; None is all of them."""

    def is_open(library: str) -> bool:
        return libraries is None or library in libraries

    visible = [one for one in documents if one.passages and is_open(one.library)]
    by_library = _counts(visible, lambda one: (one.library,))
    by_collection = _counts(visible, lambda one: one.collections)
    by_tag = _counts(visible, lambda one: [(one.library, tag) for tag in one.tags])
    by_item = _counts(visible, lambda one: (one.item,))
    tree = [one for one in state.tree if is_open(item_of(one.path)[0])]
    searches = [one for one in state.searches if is_open(item_of(one.path)[0])]
    return Choices(
        libraries=tuple(
            (name, state.titles.get(name, name), by_library.get(name, Count()))
            for name in state.libraries
            if is_open(name)
        ),
        collections=tuple(
            (one, by_collection.get(one.path, Count()))
            for one in sorted(tree, key=lambda one: (one.name.casefold(), one.path))
        ),
        searches=tuple(
            (one, _sum(by_item, map(item_of, one.items)))
            for one in sorted(searches, key=lambda one: (one.name.casefold(), one.path))
        ),
        tags=tuple(
            (library, tag, f"{library}/{tag}" in state.automatic_tags, count)
            for (library, tag), count in sorted(by_tag.items(), key=_tag_order)
        ),
    )


def page_of(
    documents: Iterable[IndexedDocument], *, query: str, limit: int, cursor: str
) -> DocumentPage:
    """A page of the documents whose title or creators hold every word; raises InvalidCursor."""
    words = query.casefold().split()
    found = sorted(
        (one for one in documents if _holds(one, words)),
        key=lambda one: (one.title.casefold(), one.document_id),
    )
    start = _start_of(found, cursor)
    page = found[start : start + limit]
    has_more = start + limit < len(found)
    return DocumentPage(
        documents=tuple(page),
        count=Count(items=len({one.item for one in found}), documents=len(found)),
        next_cursor=page[-1].document_id if has_more else "",
    )


def _start_of(documents: Sequence[IndexedDocument], cursor: str) -> int:
    if not cursor:
        return 0
    places = (n for n, one in enumerate(documents) if one.document_id == cursor)
    place = next(places, None)
    if place is None:
        raise InvalidCursor("The list has changed since its last page; begin it again.")
    return place + 1


def _holds(document: IndexedDocument, words: Sequence[str]) -> bool:
    text = " ".join([document.title, *document.creators, document.year]).casefold()
    return all(word in text for word in words)


Name = TypeVar("Name", bound=Hashable)


def _counts(
    documents: Iterable[IndexedDocument], names_of: Callable[[IndexedDocument], Iterable[Name]]
) -> Mapping[Name, Count]:
    items: dict[Name, set[ItemKey]] = defaultdict(set)
    totals: dict[Name, int] = defaultdict(int)
    for document in documents:
        for name in names_of(document):
            items[name].add(document.item)
            totals[name] += 1
    return {name: Count(items=len(items[name]), documents=totals[name]) for name in totals}


def _sum(by_item: Mapping[ItemKey, Count], items: Iterable[ItemKey]) -> Count:
    counts = [by_item[item] for item in items if item in by_item]
    return Count(items=len(counts), documents=sum(one.documents for one in counts))


def _tag_order(entry: tuple[tuple[str, str], Count]) -> tuple[str, str, str]:
    (library, tag), _ = entry
    return tag.casefold(), tag, library
