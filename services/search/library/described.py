"""What the index keeps of a library beside its documents, made from its records."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime

from services.search.library.folding import Folded
from services.search.library.records import Collection, LibraryRecords, Tag
from services.search.library.saved_searches import SearchHolds, evaluate_all
from services.search.library_state import KnownCollection, KnownSearch, LibraryState


def describe(folded: Folded, now: datetime) -> Callable[[LibraryState], LibraryState]:
    """The state with what these records say, saved searches evaluated by the time given."""
    records = folded.records
    libraries = tuple(library.name for library in records.libraries)
    titles = {library.name: library.title for library in records.libraries}
    tree = tuple(_collection(one) for one in records.collections)
    searches = tuple(_search(held) for held in evaluate_all(records, now))
    automatic = _automatic_tags(records)
    aliases = {f"{library}/{key}": kept for (library, key), kept in folded.aliases.items()}

    def described(state: LibraryState) -> LibraryState:
        return replace(
            state,
            libraries=libraries,
            titles=titles,
            tree=tree,
            searches=searches,
            automatic_tags=automatic,
            aliases=aliases,
            notices=records.notices,
        )

    return described


def _collection(one: Collection) -> KnownCollection:
    return KnownCollection(
        path=f"{one.library}/{one.key}",
        name=one.name,
        parent=f"{one.library}/{one.parent_key}" if one.parent_key else "",
    )


def _search(held: SearchHolds) -> KnownSearch:
    return KnownSearch(
        path=f"{held.search.library}/{held.search.key}",
        name=held.search.name,
        items=tuple(sorted(f"{library}/{key}" for library, key in held.items)),
        unsupported=held.unsupported,
    )


def _automatic_tags(records: LibraryRecords) -> frozenset[str]:
    automatic: set[str] = set()
    by_hand: set[str] = set()
    for library, tag in _tags(records):
        (automatic if tag.automatic else by_hand).add(f"{library}/{tag.name}")
    return frozenset(automatic - by_hand)


def _tags(records: LibraryRecords) -> Iterator[tuple[str, Tag]]:
    for objects in (records.items, records.attachments, records.notes, records.annotations):
        for one in objects:
            for tag in one.tags:
                yield one.library, tag
