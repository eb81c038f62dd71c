"""Regular items of a Zotero database: their fields, creators, dates and citation keys."""

import re
from collections import defaultdict
from dataclasses import dataclass

from services.search.library.records import Creator, Item, Tag
from services.search.library.zotero_rows import (
    NOT_REGULAR,
    Collections,
    Entry,
    Tables,
    number,
    text,
    timestamp,
)

# A date is stored as a sortable date, a space and what the person typed: "2021-03-00 3/2021".
STORED_DATE = re.compile(r"^(\d{4})-(\d{2})-(\d{2})(?: (.*))?$", re.DOTALL)
ANY_YEAR = re.compile(r"(?<!\d)(\d{4})(?!\d)")
EXTRA_KEY = re.compile(r"^\s*citation[ -]?key\s*:\s*(\S+)\s*$", re.IGNORECASE | re.MULTILINE)
# These are kept apart in the record; `accessDate` is a time stamp, not a typed date.
NAMED = frozenset({"title", "date", "abstractNote", "citationKey"})
SINGLE_FIELD = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDetails:
    """What the side tables say about every object, by local id."""

    fields: dict[int, dict[str, str]]
    creators: dict[int, tuple[Creator, ...]]
    tags: dict[int, tuple[Tag, ...]]
    collections: Collections
    typed_names: dict[tuple[str, str], str]
    """(item type, field) to the field it specialises, such as (`case`, `caseName`) to `title`."""
    replaced: dict[int, tuple[str, ...]]
    """The keys of the items that were merged into an item."""


def read_fields(tables: Tables) -> dict[int, dict[str, str]]:
    """The metadata fields of each object, by Zotero's field names."""
    names = tables.names("fieldsCombined", "fieldID", "fieldName")
    names = names or tables.names("fields", "fieldID", "fieldName")
    values = {
        number(row[0]): text(row[1]) for row in tables.rows("itemDataValues", "valueID", "value")
    }
    found: dict[int, dict[str, str]] = defaultdict(dict)
    for item_id, field_id, value_id in tables.rows("itemData", "itemID", "fieldID", "valueID"):
        name, value = names.get(number(field_id)), values.get(number(value_id))
        if name and value:
            found[number(item_id)][name] = value
    return found


def read_typed_names(tables: Tables) -> dict[tuple[str, str], str]:
    """Which fields of a type stand for a general one."""
    types = tables.names("itemTypesCombined", "itemTypeID", "typeName")
    fields = tables.names("fieldsCombined", "fieldID", "fieldName")
    columns = ("itemTypeID", "baseFieldID", "fieldID")
    return {
        (types.get(number(kind), ""), fields.get(number(special), "")): fields.get(
            number(general), ""
        )
        for kind, general, special in tables.rows("baseFieldMappingsCombined", *columns)
    }


def read_creators(tables: Tables) -> dict[int, tuple[Creator, ...]]:
    """The creators of each item of every role, in their order."""
    roles = tables.names("creatorTypes", "creatorTypeID", "creatorType")
    people = {
        number(creator_id): (text(first), text(last), number(mode))
        for creator_id, first, last, mode in tables.rows(
            "creators", "creatorID", "firstName", "lastName", "fieldMode"
        )
    }
    found: dict[int, list[tuple[int, Creator]]] = defaultdict(list)
    columns = ("itemID", "creatorID", "creatorTypeID", "orderIndex")
    for item_id, creator_id, role_id, order in tables.rows("itemCreators", *columns):
        if (person := people.get(number(creator_id))) is None:
            continue
        first, last, mode = person
        creator = Creator(
            role=roles.get(number(role_id), "contributor"),
            given="" if mode == SINGLE_FIELD else first.strip(),
            family=last.strip(),
        )
        found[number(item_id)].append((number(order), creator))
    return {
        item_id: tuple(creator for _, creator in sorted(rows, key=lambda row: row[0]))
        for item_id, rows in found.items()
    }


def read_items(entries: list[Entry], details: ItemDetails) -> tuple[Item, ...]:
    """The regular items among the live objects."""
    items = (_item(entry, details) for entry in entries if entry.type_name not in NOT_REGULAR)
    return tuple(sorted(items, key=lambda item: (item.library, item.key)))


def _item(entry: Entry, details: ItemDetails) -> Item:
    fields = dict(details.fields.get(entry.item_id, {}))
    named = _named(entry.type_name, fields, details.typed_names)
    date, year = read_date(named.get("date", ""))
    return Item(
        library=entry.library,
        key=entry.key,
        item_type=entry.type_name,
        title=named.get("title", ""),
        creators=details.creators.get(entry.item_id, ()),
        date=date,
        year=year,
        abstract=fields.get("abstractNote", ""),
        citation_key=fields.get("citationKey") or extra_citation_key(fields.get("extra", "")),
        fields=_other_fields(fields),
        tags=details.tags.get(entry.item_id, ()),
        collections=details.collections.keys_by_item.get(entry.item_id, ()),
        replaces=details.replaced.get(entry.item_id, ()),
        added=entry.added,
        modified=entry.modified,
    )


def _named(
    type_name: str, fields: dict[str, str], typed_names: dict[tuple[str, str], str]
) -> dict[str, str]:
    """The fields under general names where the type has its own: a case's name is its title."""
    general = {typed_names.get((type_name, name), name): value for name, value in fields.items()}
    return general | {name: fields[name] for name in NAMED if name in fields}


def _other_fields(fields: dict[str, str]) -> dict[str, str]:
    others: dict[str, str] = {}
    for name in sorted(fields.keys() - NAMED):
        if name == "accessDate":
            others[name] = timestamp(fields[name])
        else:
            is_typed_date = "date" in name.lower()
            others[name] = read_date(fields[name])[0] if is_typed_date else fields[name]
    return others


def read_date(stored: str) -> tuple[str, str]:
    """The text that the person typed and the year, each empty if unknown."""
    if (parts := STORED_DATE.match(stored)) is None:
        year = ANY_YEAR.search(stored)
        return stored, year.group(1) if year else ""
    year_digits, month, day, typed = parts.groups()
    known = [part for part in (year_digits, month, day) if int(part)]
    return typed or "-".join(known), year_digits if int(year_digits) else ""


def extra_citation_key(extra: str) -> str:
    """The citation key that the Extra field holds in a line of its own, or nothing."""
    line = EXTRA_KEY.search(extra)
    return line.group(1) if line else ""
