"""Saved searches and merged items of a Zotero database."""

from collections import defaultdict

from services.search.library.item_uris import MERGED, merged_keys
from services.search.library.records import Condition, SavedSearch
from services.search.library.zotero_rows import Entry, Libraries, Tables, number, text


def read_searches(tables: Tables, libraries: Libraries) -> tuple[SavedSearch, ...]:
    """The saved searches outside the trash, with their conditions in order."""
    conditions: dict[int, list[tuple[int, Condition]]] = defaultdict(list)
    columns = ("savedSearchID", "searchConditionID", "condition", "operator", "value")
    for search_id, order, name, operator, value in tables.rows("savedSearchConditions", *columns):
        condition = Condition(name=text(name), operator=text(operator), value=text(value))
        conditions[number(search_id)].append((number(order), condition))
    trashed = {number(row[0]) for row in tables.rows("deletedSearches", "savedSearchID")}
    found = []
    for search_id, library_id, key, name in tables.rows(
        "savedSearches", "savedSearchID", "libraryID", "key", "savedSearchName"
    ):
        library = libraries.name_by_id.get(number(library_id))
        if library is None or number(search_id) in trashed:
            continue
        ordered = sorted(conditions[number(search_id)], key=lambda pair: pair[0])
        search = SavedSearch(
            library=library,
            key=text(key),
            name=text(name),
            conditions=tuple(condition for _, condition in ordered),
        )
        found.append(search)
    return tuple(sorted(found, key=lambda search: (search.library, search.key)))


def read_merged(tables: Tables, live: dict[int, Entry]) -> dict[int, tuple[str, ...]]:
    """For each item the keys of those that were merged into it."""
    predicates = tables.names("relationPredicates", "predicateID", "predicate")
    uris: dict[int, list[str]] = defaultdict(list)
    for item_id, predicate_id, uri in tables.rows(
        "itemRelations", "itemID", "predicateID", "object"
    ):
        if predicates.get(number(predicate_id)) == MERGED and number(item_id) in live:
            uris[number(item_id)].append(text(uri))
    return {item_id: merged_keys(live[item_id].library, found) for item_id, found in uris.items()}
