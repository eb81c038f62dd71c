"""What the conditions of saved searches are asked of: the facts of each object; pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from services.search.library.records import (
    Annotation,
    Attachment,
    Creator,
    Item,
    LibraryRecords,
    Note,
    Tag,
)

ItemKey = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """An object of a library as conditions see it."""

    item: ItemKey
    """The top-level item that the object belongs to, or is."""
    is_top: bool
    kind: str
    """Zotero's item type."""
    fields: Mapping[str, str]
    creators: tuple[Creator, ...] = ()
    tags: frozenset[str] = frozenset()
    collections: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    """The object's own text if it is a note."""
    child_notes: tuple[str, ...] = ()


def facts_of(records: LibraryRecords) -> Mapping[str, list[Facts]]:
    """The objects of each library."""
    attached: dict[ItemKey, list[str]] = defaultdict(list)
    for note in records.notes:
        if note.parent_key is not None:
            attached[note.library, note.parent_key].append(note.text)
    tops = {(one.library, one.key): one.parent_key for one in records.attachments}
    found: dict[str, list[Facts]] = defaultdict(list)
    for item in records.items:
        found[item.library].append(_item(item, attached[item.library, item.key]))
    for attachment in records.attachments:
        found[attachment.library].append(_attachment(attachment))
    for note in records.notes:
        parent = note.parent_key
        if parent is not None and (note.library, parent) in tops:
            # The note of an attachment belongs to the attachment's item.
            parent = tops[note.library, parent] or parent
        found[note.library].append(_note(note, parent))
    for mark in records.annotations:
        parent = tops.get((mark.library, mark.attachment_key)) or mark.attachment_key
        found[mark.library].append(_annotation(mark, parent))
    return found


def _item(item: Item, notes: Iterable[str]) -> Facts:
    fields = {
        **item.fields,
        "title": item.title,
        "date": item.date,
        "year": item.year,
        "abstractNote": item.abstract,
        "citationKey": item.citation_key,
        "dateAdded": item.added,
        "dateModified": item.modified,
    }
    return Facts(
        item=(item.library, item.key),
        is_top=True,
        kind=item.item_type,
        fields=fields,
        creators=item.creators,
        tags=_names(item.tags),
        collections=frozenset(item.collections),
        child_notes=tuple(notes),
    )


def _attachment(one: Attachment) -> Facts:
    return Facts(
        item=(one.library, one.parent_key or one.key),
        is_top=one.parent_key is None,
        kind="attachment",
        fields={
            "title": one.title,
            "url": one.url,
            "dateAdded": one.added,
            "dateModified": one.modified,
        },
        tags=_names(one.tags),
        collections=frozenset(one.collections),
    )


def _note(note: Note, parent: str | None) -> Facts:
    return Facts(
        item=(note.library, parent or note.key),
        is_top=note.parent_key is None,
        kind="note",
        fields={
            "title": note.title,
            "dateAdded": note.added,
            "dateModified": note.modified,
        },
        tags=_names(note.tags),
        collections=frozenset(note.collections),
        notes=(note.text,),
    )


def _annotation(mark: Annotation, parent: str) -> Facts:
    return Facts(
        item=(mark.library, parent),
        is_top=False,
        kind="annotation",
        fields={
            "annotationText": mark.text,
            "annotationComment": mark.comment,
            "dateAdded": mark.added,
            "dateModified": mark.modified,
        },
        tags=_names(mark.tags),
    )


def _names(tags: Iterable[Tag]) -> frozenset[str]:
    return frozenset(tag.name for tag in tags)
