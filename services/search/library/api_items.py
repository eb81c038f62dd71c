"""Objects of Zotero's web API, which its local API speaks too, as records."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from services.search.library.attachment_paths import Location
from services.search.library.item_uris import MERGED, merged_keys
from services.search.library.records import (
    Annotation,
    Attachment,
    Collection,
    Condition,
    Creator,
    Item,
    LinkMode,
    Note,
    RemoteFile,
    SavedSearch,
    Tag,
)
from services.search.library.zotero_children import page_of_position
from services.search.library.zotero_items import ANY_YEAR, extra_citation_key
from services.search.text.notes import read_note

# Replies are JSON whose members differ by type of object.
Json = Mapping[str, Any]

LINK_MODES = {
    "imported_file": LinkMode.IMPORTED_FILE,
    "imported_url": LinkMode.IMPORTED_URL,
    "linked_file": LinkMode.LINKED_FILE,
    "linked_url": LinkMode.LINKED_URL,
    "embedded_image": LinkMode.EMBEDDED_IMAGE,
}
# What has a place of its own in a record, or says nothing about the work.
NOT_FIELDS = frozenset(
    {
        "key", "version", "itemType", "title", "date", "abstractNote", "citationKey", "creators",
        "tags", "collections", "relations", "dateAdded", "dateModified", "deleted", "parentItem",
        "inPublications",
    }
)  # fmt: skip
# The fields that stand for a title or a date in types that have no field of that name.
TITLES = {"case": "caseName", "statute": "nameOfAct", "email": "subject"}
DATES = {"case": "dateDecided", "statute": "dateEnacted", "patent": "issueDate"}
NOTE_TITLE_CHARACTERS = 120
PARSED_YEAR = re.compile(r"^(\d{4})(?:-|$)")


def item_of(library: str, entry: Json, collections: frozenset[str]) -> Item:
    """A regular item."""
    data = entry["data"]
    kind = text(data.get("itemType"))
    fields = {name: text(value) for name, value in data.items() if isinstance(value, str | int)}
    date = fields.get("date") or fields.get(DATES.get(kind, ""), "")
    return Item(
        library=library,
        key=text(data["key"]),
        item_type=kind,
        title=fields.get("title") or fields.get(TITLES.get(kind, ""), ""),
        creators=tuple(_creator(one) for one in data.get("creators", ())),
        date=date,
        year=_year(text(entry.get("meta", {}).get("parsedDate")), date),
        abstract=fields.get("abstractNote", ""),
        citation_key=fields.get("citationKey") or extra_citation_key(fields.get("extra", "")),
        fields={
            name: fields[name] for name in sorted(fields.keys() - NOT_FIELDS) if fields[name] != ""
        },
        tags=tags_of(data),
        collections=_members(data, collections),
        replaces=merged_keys(library, _uris(data.get("relations"), MERGED)),
        added=text(data.get("dateAdded")),
        modified=text(data.get("dateModified")),
    )


def link_mode_of(data: Json) -> LinkMode | None:
    """How an attachment is kept; None for a way that is not known."""
    return LINK_MODES.get(text(data.get("linkMode")))


def attachment_of(
    library: str,
    data: Json,
    location: Location | RemoteFile,
    collections: frozenset[str],
) -> Attachment:
    """An attachment of a known link mode, with its file or the reason why there is none."""
    remote = location if isinstance(location, RemoteFile) else None
    local = location if isinstance(location, Location) else Location()
    return Attachment(
        library=library,
        key=text(data["key"]),
        parent_key=text(data.get("parentItem")) or None,
        title=text(data.get("title")),
        link_mode=LINK_MODES[text(data.get("linkMode"))],
        content_type=text(data.get("contentType")),
        path=local.path,
        unread=local.unread,
        detail=local.detail,
        remote=remote,
        url=text(data.get("url")),
        tags=tags_of(data),
        collections=_members(data, collections),
        added=text(data.get("dateAdded")),
        modified=text(data.get("dateModified")),
    )


def note_of(library: str, data: Json, collections: frozenset[str]) -> Note | None:
    """A note, or the note that an attachment carries itself; None for an attachment without."""
    is_own = text(data.get("itemType")) == "attachment"
    content = read_note(text(data.get("note")))
    if is_own and not content.text:
        return None
    key = text(data["key"])
    return Note(
        library=library,
        key=key,
        parent_key=key if is_own else text(data.get("parentItem")) or None,
        title=content.text.partition("\n")[0][:NOTE_TITLE_CHARACTERS],
        text=content.text,
        cited_uris=content.cited_uris,
        tags=tags_of(data),
        collections=_members(data, collections),
        added=text(data.get("dateAdded")),
        modified=text(data.get("dateModified")),
    )


def annotation_of(library: str, data: Json) -> Annotation:
    """A mark in an attachment."""
    return Annotation(
        library=library,
        key=text(data["key"]),
        attachment_key=text(data.get("parentItem")),
        kind=text(data.get("annotationType")) or "highlight",
        text=text(data.get("annotationText")),
        comment=text(data.get("annotationComment")),
        color=text(data.get("annotationColor")),
        page_label=text(data.get("annotationPageLabel")),
        page_index=page_of_position(text(data.get("annotationPosition"))),
        sort_index=text(data.get("annotationSortIndex")),
        tags=tags_of(data),
        added=text(data.get("dateAdded")),
        modified=text(data.get("dateModified")),
    )


def collection_of(library: str, data: Json, live: frozenset[str]) -> Collection:
    """A collection; one whose parent is gone stands at the top."""
    parent = text(data.get("parentCollection"))
    return Collection(
        library=library,
        key=text(data["key"]),
        name=text(data.get("name")),
        parent_key=parent if parent in live else None,
    )


def search_of(library: str, data: Json) -> SavedSearch:
    """A saved search."""
    conditions: Sequence[Json] = data.get("conditions") or ()
    return SavedSearch(
        library=library,
        key=text(data["key"]),
        name=text(data.get("name")),
        conditions=tuple(
            Condition(
                name=text(one.get("condition")),
                operator=text(one.get("operator")),
                value=text(one.get("value")),
            )
            for one in conditions
        ),
    )


def tags_of(data: Json) -> tuple[Tag, ...]:
    """The tags of an object, by name."""
    tags = [
        Tag(name=text(one.get("tag")), automatic=one.get("type") == 1)
        for one in data.get("tags") or ()
    ]
    return tuple(sorted(tags, key=lambda tag: (tag.name, tag.automatic)))


def text(value: object) -> str:
    """A member of a reply as text; what is absent, null or `false` is empty."""
    return "" if value is None or isinstance(value, bool) else str(value)


def _creator(creator: Json) -> Creator:
    name = text(creator.get("name"))
    return Creator(
        role=text(creator.get("creatorType")) or "contributor",
        given="" if name else text(creator.get("firstName")).strip(),
        family=(name or text(creator.get("lastName"))).strip(),
    )


def _year(parsed: str, date: str) -> str:
    found = PARSED_YEAR.match(parsed) or ANY_YEAR.search(date)
    return found.group(1) if found and int(found.group(1)) else ""


def _members(data: Json, live: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(key for key in map(text, data.get("collections") or ()) if key in live))


def _uris(relations: object, predicate: str) -> Iterable[str]:
    """The addresses of a relation, which is one text or a list of them."""
    found = relations.get(predicate, ()) if isinstance(relations, Mapping) else ()
    return [found] if isinstance(found, str) else [str(one) for one in found]
