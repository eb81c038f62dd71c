"""A library with the records of one work folded into one, their keys kept as aliases."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from services.search.library.duplicates import ItemKey, groups_of
from services.search.library.records import (
    Annotation,
    Attachment,
    Item,
    LibraryRecords,
    Note,
    Tag,
)

SameFile = Callable[[Path, Path], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """The records with each work once."""

    records: LibraryRecords
    aliases: dict[ItemKey, str]
    """From the library and key of an item that was folded or merged away to the key that stays."""


def fold(records: LibraryRecords, same_file: SameFile) -> Folded:
    """Fold duplicate items; what belonged to any of them belongs to the one that stays.

    Of a file that several of them hold one copy stays. `same_file` tells whether two files have
    the same content; it is asked only about files of folded items.
    """
    groups = groups_of(records.items)
    aliases = {(item.library, item.key): group[0].key for group in groups for item in group[1:]}
    aliases |= _merged(records.items, aliases)
    if not groups:
        return Folded(records=records, aliases=aliases)
    whole = {(group[0].library, group[0].key): _united(group) for group in groups}
    attachments, copies = _attachments(records.attachments, aliases, set(whole), same_file)
    return Folded(
        records=replace(
            records,
            items=tuple(
                whole.get((item.library, item.key), item)
                for item in records.items
                if (item.library, item.key) not in aliases
            ),
            attachments=attachments,
            notes=tuple(_moved(note, {**aliases, **copies}) for note in records.notes),
            annotations=tuple(_of_copy(mark, copies) for mark in records.annotations),
        ),
        aliases=aliases,
    )


def _merged(items: Iterable[Item], aliases: dict[ItemKey, str]) -> dict[ItemKey, str]:
    """The keys of items that were merged in Zotero, which are gone but may be cited somewhere."""
    present = {(item.library, item.key) for item in items}
    return {
        (item.library, key): aliases.get((item.library, item.key), item.key)
        for item in items
        for key in item.replaces
        if (item.library, key) not in present
    }


def _united(group: Sequence[Item]) -> Item:
    """The first record, with what only the others know added."""
    first = group[0]
    fields = {name: value for item in reversed(group) for name, value in item.fields.items()}
    tags: dict[str, Tag] = {}
    for tag in (tag for item in group for tag in item.tags):
        # Set by hand in one of them is set by hand.
        known = tags.get(tag.name)
        tags[tag.name] = tag if known is None or known.automatic else known
    return replace(
        first,
        abstract=first.abstract or next((item.abstract for item in group if item.abstract), ""),
        citation_key=first.citation_key
        or next((item.citation_key for item in group if item.citation_key), ""),
        fields=fields,
        tags=tuple(tags[name] for name in sorted(tags)),
        collections=tuple(sorted({key for item in group for key in item.collections})),
        added=max(item.added for item in group),
        modified=max(item.modified for item in group),
    )


def _attachments(
    attachments: Sequence[Attachment],
    aliases: dict[ItemKey, str],
    folded: set[ItemKey],
    same_file: SameFile,
) -> tuple[tuple[Attachment, ...], dict[ItemKey, str]]:
    """The attachments under the items that stay, and which copies were left out for which."""
    kept: list[Attachment] = []
    copies: dict[ItemKey, str] = {}
    by_item: dict[ItemKey, list[Attachment]] = defaultdict(list)
    # Of several copies the one of the record that stays is kept.
    for one in sorted(attachments, key=lambda one: (one.library, one.parent_key) in aliases):
        moved = _moved(one, aliases)
        item = moved.library, moved.parent_key or ""
        if item in folded:
            original = next(
                (other for other in by_item[item] if _is_copy(moved, other, same_file)), None
            )
            if original is not None:
                copies[moved.library, moved.key] = original.key
                continue
            by_item[item].append(moved)
        kept.append(moved)
    return tuple(sorted(kept, key=lambda one: (one.library, one.key))), copies


def _is_copy(one: Attachment, other: Attachment, same_file: SameFile) -> bool:
    if one.remote is not None and other.remote is not None:
        return one.remote.md5 == other.remote.md5
    return (
        one.path is not None
        and other.path is not None
        and one.content_type == other.content_type
        and same_file(one.path, other.path)
    )


Child = TypeVar("Child", Attachment, Note)


def _moved(one: Child, aliases: dict[ItemKey, str]) -> Child:
    if one.parent_key is None or (one.library, one.parent_key) not in aliases:
        return one
    return replace(one, parent_key=aliases[one.library, one.parent_key])


def _of_copy(mark: Annotation, copies: dict[ItemKey, str]) -> Annotation:
    """A mark in a left-out copy is one in the copy that stays: the pages are the same."""
    original = copies.get((mark.library, mark.attachment_key))
    return mark if original is None else replace(mark, attachment_key=original)
