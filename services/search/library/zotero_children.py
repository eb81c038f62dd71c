"""What belongs to items in a Zotero database: attachments, notes and annotations."""

import json
from collections.abc import Mapping

from services.search.library.attachment_paths import Folders
from services.search.library.records import Annotation, Attachment, LinkMode, Note
from services.search.library.zotero_items import ItemDetails
from services.search.library.zotero_rows import Entry, Tables, number, text
from services.search.text.notes import read_note

ANNOTATION_KINDS = {1: "highlight", 2: "note", 3: "image", 4: "ink", 5: "underline", 6: "text"}
LINK_MODES = {mode.value: mode for mode in LinkMode}


def read_attachments(
    tables: Tables, live: Mapping[int, Entry], details: ItemDetails, folders: Folders
) -> tuple[Attachment, ...]:
    """The attachments, but for pictures embedded in notes."""
    columns = ("itemID", "parentItemID", "linkMode", "contentType", "path")
    found = []
    for item_id, parent, mode, content_type, path in tables.rows("itemAttachments", *columns):
        entry = live.get(number(item_id))
        link_mode = LINK_MODES.get(number(mode))
        if entry is None or link_mode in (None, LinkMode.EMBEDDED_IMAGE):
            continue
        fields = details.fields.get(entry.item_id, {})
        location = folders.locate(
            library=entry.library, key=entry.key, link_mode=link_mode, stored_path=text(path)
        )
        attachment = Attachment(
            library=entry.library,
            key=entry.key,
            parent_key=_key(parent, live),
            title=fields.get("title", ""),
            link_mode=link_mode,
            content_type=text(content_type),
            path=location.path,
            unread=location.unread,
            detail=location.detail,
            url=fields.get("url", ""),
            tags=details.tags.get(entry.item_id, ()),
            collections=details.collections.keys_by_item.get(entry.item_id, ()),
            added=entry.added,
            modified=entry.modified,
        )
        found.append(attachment)
    return tuple(sorted(found, key=lambda attachment: (attachment.library, attachment.key)))


def read_notes(tables: Tables, live: Mapping[int, Entry], details: ItemDetails) -> tuple[Note, ...]:
    """Notes of items, notes that stand alone, and the notes that attachments carry themselves.

    An attachment's own note has the attachment's key and names the attachment as its parent.
    """
    found = []
    for item_id, parent, html, title in tables.rows(
        "itemNotes", "itemID", "parentItemID", "note", "title"
    ):
        entry = live.get(number(item_id))
        if entry is None:
            continue
        content = read_note(text(html))
        if entry.type_name == "attachment" and not content.text:
            continue  # every attachment has such a row, nearly always empty
        note = Note(
            library=entry.library,
            key=entry.key,
            parent_key=entry.key if entry.type_name == "attachment" else _key(parent, live),
            title=text(title) or content.text.partition("\n")[0][:120],
            text=content.text,
            cited_uris=content.cited_uris,
            tags=details.tags.get(entry.item_id, ()),
            collections=details.collections.keys_by_item.get(entry.item_id, ()),
            added=entry.added,
            modified=entry.modified,
        )
        found.append(note)
    return tuple(sorted(found, key=lambda note: (note.library, note.key)))


def read_annotations(
    tables: Tables, live: Mapping[int, Entry], details: ItemDetails
) -> tuple[Annotation, ...]:
    """The marks in attachments, in reading order within each."""
    columns = (
        "itemID",
        "parentItemID",
        "type",
        "text",
        "comment",
        "color",
        "pageLabel",
        "sortIndex",
        "position",
    )
    found = []
    for item_id, parent, kind, marked, comment, color, label, order, position in tables.rows(
        "itemAnnotations", *columns
    ):
        entry, attachment = live.get(number(item_id)), live.get(number(parent))
        if entry is None or attachment is None:
            continue
        annotation = Annotation(
            library=entry.library,
            key=entry.key,
            attachment_key=attachment.key,
            kind=ANNOTATION_KINDS.get(number(kind), "highlight"),
            text=text(marked),
            comment=text(comment),
            color=text(color),
            page_label=text(label),
            page_index=page_of_position(text(position)),
            sort_index=text(order),
            tags=details.tags.get(entry.item_id, ()),
            added=entry.added,
            modified=entry.modified,
        )
        found.append(annotation)
    return tuple(sorted(found, key=_place))


def _place(annotation: Annotation) -> tuple[str, str, str, str]:
    return annotation.library, annotation.attachment_key, annotation.sort_index, annotation.key


def page_of_position(position: str) -> int | None:
    """The physical page, 0-based, of an annotation; positions in EPUB and HTML name none."""
    try:
        parsed = json.loads(position)
    except (ValueError, RecursionError):
        return None
    page = parsed.get("pageIndex") if isinstance(parsed, dict) else None
    return page if isinstance(page, int) and not isinstance(page, bool) and page >= 0 else None


def _key(item_id: object, live: Mapping[int, Entry]) -> str | None:
    entry = live.get(number(item_id)) if item_id is not None else None
    return entry.key if entry else None
